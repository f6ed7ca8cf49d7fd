"""Every error Citewell raises on purpose.

CitewellError
├── ConfigurationError           the deployment is set up wrongly; retrying can't help, an operator must act
│   └── EmbedderMismatch         the configured embedder is not the one that built the live index
├── InvalidRequest               a caller's request breaks the contract
├── DocumentRejected             a document that can never be indexed as it is; carries a documented code
├── ObjectVanished               the object version to be read is gone; looking again tells what stands there
├── Unavailable                  something this deployment depends on is away; retrying later may help
│   ├── DatabaseUnavailable
│   ├── ObjectStoreUnavailable
│   ├── EmbedderUnavailable      the embedder failed after its retries
│   └── GeneratorUnavailable     the model failed after its retries
└── VectorsMissing               kept vectors were gone when the swap needed them; processing again embeds them

Edges translate their library's errors into these with ``raise ... from``. HTTP statuses come from one table
in :mod:`citewell.http`, never from a message's text.
"""

from __future__ import annotations


class CitewellError(Exception):
    """Base of everything above."""


class ConfigurationError(CitewellError):
    """The message says which setting is wrong and what to do."""


class EmbedderMismatch(ConfigurationError):
    """The live index holds vectors of another model or dimension than the configured embedder makes."""


class InvalidRequest(CitewellError):
    """The message is meant for the caller."""


class DocumentRejected(CitewellError):
    """``code`` is one of the documented document error codes; the message holds no document text."""

    def __init__(self, code: str, message: str, *, stage: str = "extract") -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage


class ObjectVanished(CitewellError):
    """Raised by an object store when the asked-for version no longer exists."""


class Unavailable(CitewellError):
    """A dependency is away. ``retry_after`` is in seconds, when the dependency named a time."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DatabaseUnavailable(Unavailable):
    pass


class ObjectStoreUnavailable(Unavailable):
    pass


class EmbedderUnavailable(Unavailable):
    pass


class GeneratorUnavailable(Unavailable):
    pass


class VectorsMissing(CitewellError):
    """Raised by a chunk store's swap; nothing was written."""
