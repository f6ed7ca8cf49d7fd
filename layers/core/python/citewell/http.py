"""The HTTP contract: requests in, responses and RFC 9457 problem documents out. Shapes stand in the README."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from citewell.core.values import Answer, Document, DocumentStatus, Passage, Question
from citewell.errors import (
    CitewellError,
    ConfigurationError,
    DatabaseUnavailable,
    EmbedderMismatch,
    EmbedderUnavailable,
    GeneratorUnavailable,
    InvalidRequest,
    NoTenant,
    RequestTooLarge,
    Unavailable,
    log_fields,
)

MAX_BODY_BYTES = 16_384
MAX_QUESTION_CHARACTERS = 500
MAX_TOP_K = 20
MAX_FILTERS = 50
MAX_FILTER_CHARACTERS = 1024
DEFAULT_PAGE = 50
MAX_PAGE = 100
MAX_OFFSET = 10_000_000
RETRY_AFTER_SECONDS = 5

Response = dict[str, Any]
"""An API Gateway HTTP API (payload 2.0) response."""

SECURITY_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000",
    "x-content-type-options": "nosniff",
}
"""On every response: what is answered is for this caller, is data, and is no page."""

_METHODS = {"/ask": "POST", "/search": "POST", "/health": "GET", "/documents": "GET"}
_DOCUMENTS = "/documents/"

# The most specific class first. The detail is what a caller may know; the log has the error itself.
_PROBLEMS: tuple[tuple[type[CitewellError], int, str, str | None], ...] = (
    (RequestTooLarge, 413, "Request too large", None),
    (NoTenant, 403, "Forbidden", None),
    (InvalidRequest, 400, "Invalid request", None),
    (
        EmbedderMismatch,
        500,
        "Embedder does not match the index",
        "The configured embedder is not the one that built the live index. An operator must either restore the "
        "embedder setting, or deploy with replaceIndex=true and then run `make reindex`.",
    ),
    (
        ConfigurationError,
        500,
        "Deployment misconfigured",
        "A setting is missing or wrong; the function's log says which.",
    ),
    (EmbedderUnavailable, 502, "Embedder unavailable", "The embedding model did not answer. Try again."),
    (GeneratorUnavailable, 502, "Model unavailable", "The language model did not answer. Try again."),
    (DatabaseUnavailable, 503, "Database unavailable", "The index can't be reached right now. Try again."),
    (Unavailable, 503, "Temporarily unavailable", "Something that answering needs is away right now. Try again."),
)


class Log(Protocol):
    """The part of a logger that is used here."""

    def info(self, message: str, /, *, extra: Mapping[str, object]) -> None: ...
    def error(self, message: str, /, *, extra: Mapping[str, object]) -> None: ...


Handler = Callable[[dict[str, Any], Any], Response]


def with_problems(log: Log, *, count: Callable[[], None]) -> Callable[[Handler], Handler]:
    """A decorator that turns whatever a handler raises into a problem document, logs what may be logged, and counts."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def wrapped(event: dict[str, Any], context: Any) -> Response:
            try:
                return handler(event, context)
            except InvalidRequest as error:
                count()
                # Without the message: it names unknown fields, and a question may have been sent as one.
                log.info("invalid request", extra={"problem": type(error).__name__, "request_id": request_id(event)})
                return problem(error, request_id=request_id(event))
            except Exception as error:
                count()
                log.error("request failed", extra={**log_fields(error), "request_id": request_id(event)})
                return problem(error, request_id=request_id(event))

        return wrapped

    return decorate


def request_id(event: Mapping[str, Any]) -> str:
    return str(event.get("requestContext", {}).get("requestId", ""))


def parse_question(event: Mapping[str, Any], *, top_k: int) -> Question:
    """The validated request of an API Gateway event. ``top_k`` is the default. Raises InvalidRequest."""
    fields = _json_object(_body(event))
    unknown = sorted(fields.keys() - {"question", "collections", "sources", "top_k"})
    if unknown:
        raise InvalidRequest(f"unknown field {', '.join(map(repr, unknown))}")
    return Question(
        text=_question_text(fields.get("question")),
        collections=_filters(fields.get("collections"), "collections"),
        sources=_filters(fields.get("sources"), "sources"),
        top_k=_top_k(fields.get("top_k", top_k)),
    )


def _body(event: Mapping[str, Any]) -> bytes:
    body = event.get("body") or ""
    if len(body) > MAX_BODY_BYTES * 4 // 3 + 4:
        raise RequestTooLarge(f"the body is larger than {MAX_BODY_BYTES} bytes")
    try:
        raw = base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode()
    except (binascii.Error, UnicodeEncodeError) as error:
        raise InvalidRequest("the body is not valid") from error
    if len(raw) > MAX_BODY_BYTES:
        raise RequestTooLarge(f"the body is larger than {MAX_BODY_BYTES} bytes")
    return raw


def _json_object(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise InvalidRequest("the body is not valid JSON in UTF-8") from error
    if not isinstance(value, dict):
        raise InvalidRequest("the body must be a JSON object")
    return value


def _question_text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidRequest("'question' must be a string")
    text = _printable(value, "question").strip()
    if not any(character.isprintable() and character != " " for character in text):  # nothing that can be seen
        raise InvalidRequest("'question' is empty")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise InvalidRequest(f"'question' is longer than {MAX_QUESTION_CHARACTERS} characters")
    return text


def _printable(value: str, field: str) -> str:
    """``value`` with control characters as spaces: neither Postgres nor a prompt has a use for them."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidRequest(f"'{field}' is not valid Unicode")
    return "".join(" " if character < " " or character == "\x7f" else character for character in value)


def _filters(value: object, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise InvalidRequest(f"'{field}' must be a list of non-empty strings")
    if len(value) > MAX_FILTERS or any(len(each) > MAX_FILTER_CHARACTERS for each in value):
        raise InvalidRequest(
            f"'{field}' holds more than {MAX_FILTERS} values or one over {MAX_FILTER_CHARACTERS} characters"
        )
    return tuple(dict.fromkeys(_printable(each, field) for each in value))


def _top_k(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_TOP_K:
        raise InvalidRequest(f"'top_k' must be a whole number from 1 to {MAX_TOP_K}")
    return value


@dataclass(frozen=True, slots=True)
class Listing:
    """Which documents are asked for: a page behind the source ``after``."""

    status: DocumentStatus | None
    prefix: str
    after: str
    limit: int


def parse_listing(event: Mapping[str, Any]) -> Listing:
    """Of ``GET /documents``. Raises InvalidRequest."""
    given = _parameters(event, {"status", "prefix", "after", "limit"})
    status = given.get("status")
    if status is not None and status not in set(DocumentStatus):
        raise InvalidRequest(f"'status' must be one of {', '.join(DocumentStatus)}")
    return Listing(
        status=None if status is None else DocumentStatus(status),
        prefix=_name(given, "prefix"),
        after=_name(given, "after"),
        limit=_whole_number(given.get("limit", str(DEFAULT_PAGE)), "limit", low=1, high=MAX_PAGE),
    )


def _name(given: Mapping[str, str], field: str) -> str:
    """A source or the beginning of one, as S3 allows it."""
    name = given.get(field, "")
    if len(name.encode(errors="surrogatepass")) > MAX_FILTER_CHARACTERS:
        raise InvalidRequest(f"'{field}' is longer than {MAX_FILTER_CHARACTERS} bytes")
    if "\0" in name or any("\ud800" <= character <= "\udfff" for character in name):
        raise InvalidRequest(f"'{field}' is not valid Unicode")
    return name


def _parameters(event: Mapping[str, Any], known: set[str]) -> Mapping[str, str]:
    given: Mapping[str, str] = event.get("queryStringParameters") or {}
    if unknown := sorted(given.keys() - known):
        raise InvalidRequest(f"unknown parameter {', '.join(map(repr, unknown))}")
    return given


def parse_page(event: Mapping[str, Any]) -> tuple[int, int]:
    """``offset`` and ``limit`` of a paged listing. Raises InvalidRequest."""
    given = _parameters(event, {"offset", "limit"})
    return (
        _whole_number(given.get("offset", "0"), "offset", low=0, high=MAX_OFFSET),
        _whole_number(given.get("limit", str(DEFAULT_PAGE)), "limit", low=1, high=MAX_PAGE),
    )


def _whole_number(text: str, name: str, *, low: int, high: int) -> int:
    # isascii: isdecimal alone takes other scripts' digits.
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and low <= int(text) <= high):
        raise InvalidRequest(f"'{name}' must be a whole number from {low} to {high}")
    return int(text)


def respond(body: Mapping[str, Any], *, status: int = 200) -> Response:
    return {
        "statusCode": status,
        "headers": {"content-type": "application/json", **SECURITY_HEADERS},
        "body": json.dumps(body, ensure_ascii=False),
    }


def problem(error: Exception, *, request_id: str) -> Response:
    """The RFC 9457 problem document of ``error``; what isn't in the table is a plain 500."""
    for kind, status, title, detail in _PROBLEMS:
        if isinstance(error, kind):
            return _problem(status, title, detail or str(error), request_id=request_id)
    return _problem(500, "Internal error", "Something went wrong; the function's log says what.", request_id=request_id)


def not_found(*, request_id: str) -> Response:
    return _problem(404, "Not found", "There is no such document for you.", request_id=request_id)


def unrouted(event: Mapping[str, Any]) -> Response:
    """What a request is told that fits no route: 405 with ``allow`` where only its method is wrong, else 404."""
    path = str(event.get("rawPath", ""))
    method = "GET" if len(path) > len(_DOCUMENTS) and path.startswith(_DOCUMENTS) else _METHODS.get(path)
    if method is None:
        return _problem(404, "Not found", "There is nothing at this address.", request_id=request_id(event))
    detail = f"This address takes {method} requests only."
    response = _problem(405, "Method not allowed", detail, request_id=request_id(event))
    response["headers"]["allow"] = method
    return response


def _problem(status: int, title: str, detail: str, *, request_id: str) -> Response:
    response = respond(
        {"type": "about:blank", "title": title, "status": status, "detail": detail, "requestId": request_id},
        status=status,
    )
    response["headers"]["content-type"] = "application/problem+json"
    if status == 503:
        response["headers"]["retry-after"] = str(RETRY_AFTER_SECONDS)
    return response


def answer_body(answer: Answer, *, request_id: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "answer": answer.text,
        "citations": [{"n": each.n, **_citation(each.passage)} for each in answer.citations],
        "usage": {"inputTokens": answer.usage.input_tokens, "outputTokens": answer.usage.output_tokens},
        "model": answer.model,
        "requestId": request_id,
    }
    return body if answer.reason is None else {**body, "reason": answer.reason}


def _citation(passage: Passage) -> dict[str, Any]:
    return {
        "source": passage.source,
        "title": passage.title,
        "section": " > ".join(passage.section),
        "page": passage.page,
        "chunk": passage.ordinal,
        "score": round(passage.score, 4),
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
    }


def search_body(passages: Sequence[Passage], *, request_id: str) -> dict[str, Any]:
    return {
        "passages": [
            {
                "rank": rank,
                **_citation(each),
                "vectorRank": each.vector_rank,
                "keywordRank": each.keyword_rank,
                "keywordScore": None if each.keyword_score is None else round(each.keyword_score, 4),
                "coverage": round(each.coverage, 4),
                "fusedScore": round(each.fused_score, 6),
                "rerankScore": None if each.rerank_score is None else round(each.rerank_score, 4),
            }
            for rank, each in enumerate(passages, start=1)
        ],
        "requestId": request_id,
    }


def document_body(document: Document) -> dict[str, Any]:
    error = document.error
    return {
        "source": document.key.source,
        "title": document.title,
        "status": document.status,
        "result": document.result,
        "chunks": document.chunks,
        "embedded": document.embedded,
        "pages": document.pages,
        "unreadPages": list(document.unread_pages),
        "version": document.version,
        "updatedAt": document.updated_at,
        "error": None
        if error is None
        else {"code": error.code, "detail": error.detail, "stage": error.stage, "attempts": error.attempts},
    }


def listing_body(documents: Sequence[Document], *, next_after: str | None) -> dict[str, Any]:
    return {"documents": [document_body(each) for each in documents], "next": next_after}


def chunks_body(source: str, chunks: Sequence[Passage], *, next_offset: int | None) -> dict[str, Any]:
    return {
        "source": source,
        "chunks": [
            {
                "chunk": each.ordinal,
                "id": each.chunk_id,
                "section": " > ".join(each.section),
                "page": each.page,
                "text": each.text,
                "start": each.start,
                "end": each.end,
            }
            for each in chunks
        ],
        "next": next_offset,
    }
