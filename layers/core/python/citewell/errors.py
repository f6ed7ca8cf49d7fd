"""Every error Citewell raises on purpose.

CitewellError
├── ConfigurationError           the deployment is set up wrongly; retrying can't help, an operator must act
│   ├── EmbedderMismatch         the configured embedder is not the one that built the live index
│   ├── SecretNotSet             a secret still holds what the deploy put in its place
│   └── SchemaNewer              the database was migrated by a newer release than this one
├── InvalidRequest               a caller's request breaks the contract
│   ├── NoTenant                 the caller is known, but their token names no tenant
│   └── RequestTooLarge
├── DocumentRejected             a document that can never be indexed as it is; carries a documented code
├── ObjectVanished               the object version to be read is gone; looking again tells what stands there
├── OutOfTime                    a worker stopped before Lambda would have stopped it
├── Unavailable                  something this deployment depends on is away; retrying later may help
│   ├── DatabaseUnavailable
│   │   └── DatabaseLocked       somebody else holds a lock for longer than a migration waits
│   ├── ObjectStoreUnavailable
│   ├── SecretUnavailable
│   ├── QueueUnavailable         a sweep could not put its messages on the queue
│   ├── ExtractorUnavailable     the process that reads documents doesn't start
│   ├── EmbedderUnavailable      the embedder failed after its retries
│   ├── GeneratorUnavailable     the model failed after its retries
│   ├── RerankerUnavailable      the reranker failed or took too long; what was found keeps the order that it had
│   └── FunctionBusy             Lambda had no copy of a function free to be asked
├── DeploymentBroken             a deploy's own check found what its first user would have found
└── VectorsMissing               kept vectors were gone when the swap needed them; processing again embeds them

Edges translate their library's errors into these with ``raise ... from``. HTTP statuses come from one table
in :mod:`citewell.http`, never from a message's text.
"""

from __future__ import annotations

import traceback
from typing import Any


class CitewellError(Exception):
    """Base of everything above. ``code`` and ``stage`` are what a document's status shows when it failed of this."""

    code = "internal_error"
    stage = "ingest"


class ConfigurationError(CitewellError):
    """The message says which setting is wrong and what to do."""

    code = "misconfigured"


class EmbedderMismatch(ConfigurationError):
    """The live index holds vectors of another model or dimension than the configured embedder makes."""

    code = "embedder_mismatch"


class SecretNotSet(ConfigurationError):
    """An operator has to fill the secret that the message names; until then what needs it can't work."""

    code = "secret_not_set"


class SchemaNewer(ConfigurationError):
    """The message names the first migration that this release doesn't know."""


class InvalidRequest(CitewellError):
    """The message is meant for the caller."""


class NoTenant(InvalidRequest):
    """Where tenants are told by tokens, nothing can be shown to this caller."""


class RequestTooLarge(InvalidRequest):
    """The body is larger than any valid request."""


class DocumentRejected(CitewellError):
    """``code`` is one of the documented document error codes; the message holds no document text."""

    def __init__(self, code: str, message: str, *, stage: str = "extract") -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage


class ObjectVanished(CitewellError):
    """Raised by an object store when the asked-for version no longer exists."""

    code = "object_vanished"
    stage = "read"


class OutOfTime(CitewellError):
    """The worker's time is nearly up. What was embedded so far is kept, so the next attempt goes on from there."""

    code = "too_slow"
    stage = "embed"


class Unavailable(CitewellError):
    """A dependency is away, and stayed so through its edge's retries."""


class DatabaseUnavailable(Unavailable):
    code = "database_unavailable"
    stage = "store"


class DatabaseLocked(DatabaseUnavailable):
    """The message says who holds what, and what to do."""


class ObjectStoreUnavailable(Unavailable):
    code = "bucket_unavailable"
    stage = "read"


class SecretUnavailable(Unavailable):
    code = "secret_unavailable"


class QueueUnavailable(Unavailable):
    """A sweep couldn't put its messages on the queue; no document fails of this."""


class ExtractorUnavailable(Unavailable):
    """No document is at fault: none was given to the process yet."""

    code = "extractor_unavailable"
    stage = "extract"


class EmbedderUnavailable(Unavailable):
    code = "embedder_unavailable"
    stage = "embed"


class GeneratorUnavailable(Unavailable):
    code = "generator_unavailable"
    stage = "answer"


class RerankerUnavailable(Unavailable):
    """No answer and no document fails of this."""


class FunctionBusy(Unavailable):
    """Every copy that the function or the account may have was at work."""


class DeploymentBroken(CitewellError):
    """The message says which function lacks what; it ends in CloudFormation's events."""


class VectorsMissing(CitewellError):
    """Raised by a chunk store's swap; nothing was written."""

    code = "vectors_missing"
    stage = "store"


def log_fields(error: BaseException) -> dict[str, Any]:
    """What may be logged of ``error``: its kind, where it was raised, and the message if it is one of ours.

    Other libraries' messages are left out, causes included, because they may quote a document: Postgres, for
    one, shows the row that violates a constraint.
    """
    cause = error.__cause__
    return {
        "error": type(error).__name__,
        "error_message": str(error) if isinstance(error, CitewellError) else None,
        "cause": type(cause).__name__ if cause else None,
        "trace": [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(error.__traceback__)],
    }
