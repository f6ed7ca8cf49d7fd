"""Every setting of a deployment: one frozen object, read once from the environment. ``os.environ`` is read here only.

A setting ``name`` is the variable ``CITEWELL_NAME``; an empty variable counts as unset. The README's table lists
the same names, defaults and meanings, and a test holds the two against each other.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from citewell.errors import ConfigurationError

PREFIX = "CITEWELL_"


def _setting(
    default: str | float | None,
    meaning: str,
    *,
    kind: type[str] | type[int] | type[float] = str,
    one_of: tuple[str, ...] = (),
    at_least: float | None = None,
    at_most: float | None = None,
) -> Any:
    return field(
        default=default,
        metadata={"meaning": meaning, "kind": kind, "one_of": one_of, "at_least": at_least, "at_most": at_most},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    database_url: str | None = _setting(None, "Postgres connection URL; for tests and the eval")
    database_host: str | None = _setting(None, "address of the Postgres server")
    database_port: int = _setting(5432, "its port", kind=int, at_least=1, at_most=65_535)
    database_name: str = _setting("citewell", "name of the database on it")
    database_user: str | None = _setting(None, "role to connect as, for `iam`")
    database_region: str | None = _setting(None, "AWS region of the server, for `iam`")
    database_auth: str = _setting(
        "secret", "`secret`: username and password stand in a secret; `iam`: RDS tokens", one_of=("secret", "iam")
    )
    database_secret_arn: str | None = _setting(None, "secret with username and password, for `secret`")
    database_ca: str | None = _setting(
        None, "file with the authorities that may vouch for the server; unset: TLS isn't demanded"
    )
    bucket: str | None = _setting(None, "the bucket the documents stand in")
    tenancy: str = _setting(
        "single", "`single`: one tenant; `prefix`: a key's first segment is its tenant", one_of=("single", "prefix")
    )
    auth: str = _setting(
        "none",
        "what the API verified of a caller: `jwt` (a token's claims), `iam` or `none`",
        one_of=("jwt", "iam", "none"),
    )
    tenant_claim: str = _setting("custom:tenant", "the claim that names the tenant, with `prefix`")
    groups_claim: str = _setting("cognito:groups", "the claim that lists the caller's groups")
    max_object_bytes: int = _setting(52_428_800, "larger objects fail as `too_large`", kind=int, at_least=1)
    queue_url: str | None = _setting(None, "the queue, to give failed messages back early; unset: they wait longer")
    max_receives: int = _setting(
        5, "the queue's maxReceiveCount: the last attempt records FAILED", kind=int, at_least=1
    )

    extract_seconds: float = _setting(
        60.0, "longest that reading one document may take; over it: `too_slow`", kind=float, at_least=1, at_most=840
    )
    extract_memory_mb: int = _setting(
        1024, "memory of the process that reads documents, in MiB; over it: `too_large`", kind=int, at_least=256
    )
    extract_max_pages: int = _setting(5_000, "documents with more pages fail as `too_large`", kind=int, at_least=1)
    extract_max_characters: int = _setting(
        20_000_000, "documents with more characters of text fail as `too_large`", kind=int, at_least=1
    )
    extract_unpacked_mb: int = _setting(
        500, "what an Office file may come to unpacked, in MB; over it: `archive_bomb`", kind=int, at_least=1
    )
    extract_ratio: int = _setting(
        200, "how many times its size a part of one may grow to; over it: `archive_bomb`", kind=int, at_least=2
    )
    ocr: str = _setting(
        "none",
        "what reads pages that hold no text but a picture of it: `none`, or `tesseract` where it is installed",
        one_of=("none", "tesseract"),
    )
    ocr_languages: str = _setting("eng", "the languages it looks for, such as `eng+deu`")

    chunk_tokens: int = _setting(
        400, "longest passage in tokens; never more than the embedder takes", kind=int, at_least=64, at_most=8000
    )
    overlap_tokens: int = _setting(
        48, "tokens a passage repeats of the one before it in the same section", kind=int, at_least=0, at_most=1000
    )

    embedder: str = _setting(
        "local",
        "`local` (in this process), `function` (the stack's embed function), `openai` (any /v1/embeddings), `voyage`, "
        "`bedrock`",
        one_of=("local", "function", "openai", "voyage", "bedrock"),
    )
    embed_function: str | None = _setting(None, "name of the embed function, for `function`")
    model_dir: str | None = _setting(None, "folder of the local model (`function`: of its tokenizer)")
    embedder_url: str | None = _setting(None, "base URL of the embedding API; unset: OpenAI's or Voyage's own")
    embedder_model: str | None = _setting(None, "model to ask of that API, such as `text-embedding-3-small`")
    embedder_dimensions: int | None = _setting(None, "dimensions of its vectors", kind=int, at_least=1, at_most=2000)
    embedder_send_dimensions: str = _setting(
        "no", "`yes`: ask that API for this many dimensions, which not every model allows", one_of=("no", "yes")
    )
    embedder_max_tokens: int = _setting(8191, "longest text that API embeds whole", kind=int, at_least=128)
    embedder_batch_size: int = _setting(32, "texts in one embedding call", kind=int, at_least=1, at_most=2048)
    embedder_api_key_secret_arn: str | None = _setting(None, "secret that holds that API's key; unset: none is sent")

    generator: str = _setting(
        "extractive",
        "`claude`, `bedrock` (Claude there), or `extractive`: sentences of the passages, no model",
        one_of=("claude", "bedrock", "extractive"),
    )
    model: str = _setting("claude-haiku-4-5", "the Claude model that writes answers")
    anthropic_base_url: str | None = _setting(None, "another address of the Messages API, such as a gateway's")
    anthropic_api_key_secret_arn: str | None = _setting(None, "secret that holds the Anthropic API key")
    max_output_tokens: int = _setting(1024, "longest answer, in the model's tokens", kind=int, at_least=64)

    top_k: int = _setting(
        5, "passages an answer is written from, when the request doesn't say", kind=int, at_least=1, at_most=20
    )
    candidates: int = _setting(30, "passages each search arm hands to the fusion", kind=int, at_least=1, at_most=200)
    fusion: str = _setting(
        "convex",
        "how the arms' findings are merged: `convex` (by their scores) or `rrf` (by their ranks)",
        one_of=("convex", "rrf"),
    )
    rrf_k: int = _setting(60, "the constant of reciprocal rank fusion", kind=int, at_least=1)
    reranker: str = _setting(
        "none",
        "what reorders the passages found: `none`, `local` (in this process), `function` (the stack's rerank "
        "function), `cohere`, `jina` or `tei` (servers that speak as these do)",
        one_of=("none", "local", "function", "cohere", "jina", "tei"),
    )
    rerank_function: str | None = _setting(None, "name of the rerank function, for `function`")
    reranker_model_dir: str | None = _setting(None, "folder of the local reranker, for `local`")
    reranker_url: str | None = _setting(None, "base URL of the reranking API; unset: Cohere's or Jina's own")
    reranker_model: str | None = _setting(None, "model to ask of that API, such as `rerank-v3.5`")
    reranker_api_key_secret_arn: str | None = _setting(None, "secret that holds that API's key; unset: none is sent")
    rerank_seconds: float = _setting(
        3.0, "longest that reranking may take; after it the order is the fusion's", kind=float, at_least=0.1, at_most=10
    )
    rerank_candidates: int = _setting(
        20, "passages that the reranker reads, from the best on", kind=int, at_least=2, at_most=100
    )
    refusal_fit: str | None = _setting(
        None, "when a question is refused, as `python -m eval calibrate` writes it; unset: as known for the embedder"
    )
    min_score: float | None = _setting(
        None,
        "instead of a fit: the best cosine under which a question is refused",
        kind=float,
        at_least=-1,
        at_most=1,
    )
    input_price: float | None = _setting(
        None, "dollars per million input tokens; unset: no dollars are estimated", kind=float, at_least=0
    )
    output_price: float | None = _setting(None, "dollars per million output tokens", kind=float, at_least=0)
    contact: str | None = _setting(None, "whom to ask instead, named when the documents don't say")

    dualstack_endpoints: str = _setting(
        "no", "`yes`: Lambda and SQS at their addresses for IPv6, the way out of the network", one_of=("no", "yes")
    )
    tracing: str = _setting("no", "`yes`: segments for X-Ray", one_of=("no", "yes"))
    log_questions: str = _setting("no", "`yes`: questions' text goes to the log", one_of=("no", "yes"))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read ``environment`` (default: the process's). Raises ConfigurationError naming the variable at fault."""
        given = os.environ if environment is None else environment
        ours = {name: value.strip() for name, value in given.items() if name.startswith(PREFIX) and value.strip()}
        known = {PREFIX + each.name.upper(): each for each in fields(cls)}
        if unknown := sorted(ours.keys() - known.keys()):
            raise ConfigurationError(f"unknown setting {', '.join(unknown)}: see the settings table in the README")
        values: dict[str, Any] = {known[name].name: _parse(name, value, known[name]) for name, value in ours.items()}
        return cls(**values)

    def require(self, name: str) -> str:
        """The text setting ``name``. Raises ConfigurationError when it is unset."""
        value = getattr(self, name)
        if value is None:
            raise ConfigurationError(f"{PREFIX}{name.upper()} is not set: {_meaning(type(self), name)}")
        return str(value)

    def require_number(self, name: str) -> int:
        """The numeric setting ``name``. Raises ConfigurationError when it is unset."""
        return int(self.require(name))


XRAY_DAEMON = "127.0.0.1:2000"
"""Where X-Ray's daemon listens, unless Lambda names another address."""


def trace_header() -> str:
    """Of the current invocation, as Lambda sets it anew for each; empty where nothing is traced."""
    return os.environ.get("_X_AMZN_TRACE_ID", "")


def xray_daemon() -> str:
    """``host:port`` of the daemon that Lambda runs beside a traced function."""
    return os.environ.get("AWS_XRAY_DAEMON_ADDRESS") or XRAY_DAEMON


def child_environment() -> dict[str, str]:
    """What a Python process needs of this one's environment to find the same code, and no more: no secrets."""
    found = {"PYTHONPATH": os.pathsep.join(os.path.abspath(each) for each in sys.path)}  # noqa: PTH100 (a zip's too)
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        found["LD_LIBRARY_PATH"] = libraries
    return found


def _meaning(settings: type[Settings], name: str) -> str:
    return next(str(each.metadata["meaning"]) for each in fields(settings) if each.name == name)


def _parse(variable: str, text: str, setting: Field[Any]) -> str | int | float:
    rules = setting.metadata
    try:
        value: str | int | float = rules["kind"](text)
    except ValueError as error:
        raise ConfigurationError(f"{variable} must be a number, not {text!r}") from error
    if rules["one_of"] and value not in rules["one_of"]:
        raise ConfigurationError(f"{variable} must be one of {', '.join(rules['one_of'])}, not {text!r}")
    if isinstance(value, str):
        return value
    low, high = rules["at_least"], rules["at_most"]
    # Written so that NaN, which compares false with everything, is refused too.
    if not ((low is None or value >= low) and (high is None or value <= high)) or value != value:
        raise ConfigurationError(
            f"{variable} must be between {low} and {'any size' if high is None else high}, not {text}"
        )
    return value


def settings_table() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting, in their order."""
    return [
        (
            PREFIX + each.name.upper(),
            "" if each.default in (None, MISSING) else str(each.default),
            each.metadata["meaning"],
        )
        for each in fields(Settings)
    ]
