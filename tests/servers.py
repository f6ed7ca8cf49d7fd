"""Real HTTP servers on this machine that speak a provider's wire format and follow a script.

    with messages_server([fails(429, "rate_limit_error", retry_after="0"), says("60 EUR [1].")]) as server:
        ...  # server.url is the base URL; server.requests holds what was asked

Each request takes the script's next reply; the last one is repeated. Another script may take over while the server
runs. Leaving the block ends replies that still wait.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """``body`` is the parsed JSON, None where there is none; header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any
    method: str = "POST"


@dataclass(frozen=True)
class Reply:
    """``body`` may be made from the request. The seconds pass before the first byte, and between bytes."""

    status: int = 200
    body: bytes | Callable[[Request], bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds_before: float = 0.0
    seconds_between_bytes: float = 0.0


def late(reply: Reply, *, seconds: float) -> Reply:
    """``reply``, its first byte after ``seconds``."""
    return replace(reply, seconds_before=seconds)


def dripping(reply: Reply, *, seconds: float) -> Reply:
    """``reply``, its body byte by byte with ``seconds`` between them."""
    return replace(reply, seconds_between_bytes=seconds)


@dataclass
class ScriptedServer:
    """``requests`` are in order of arrival."""

    url: str
    requests: list[Request] = field(default_factory=list)
    _script: list[Reply] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def follow(self, *script: Reply) -> None:
        """Forget what was asked, and answer from now on with ``script``."""
        with self._lock:
            self.requests.clear()
            self._script[:] = script

    def reply_to(self, request: Request) -> Reply:
        """Note ``request``; the script's next reply."""
        with self._lock:
            self.requests.append(request)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]


def _bytes_of(body: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in body]


def _handler(server: ScriptedServer, leaving: threading.Event) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            request = Request(path=self.path, headers=headers, body=body, method=self.command)
            with contextlib.suppress(ConnectionError):  # the client has given up
                self._send(server.reply_to(request), request)

        def do_GET(self) -> None:
            self.do_POST()

        def do_HEAD(self) -> None:
            self.do_POST()

        def _send(self, reply: Reply, request: Request) -> None:
            if leaving.wait(reply.seconds_before):
                return
            body = reply.body(request) if callable(reply.body) else reply.body
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            for piece in [body] if not reply.seconds_between_bytes else _bytes_of(body):
                if leaving.wait(reply.seconds_between_bytes):
                    return
                self.wfile.write(piece)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Tests read ``requests`` instead."""

    return Handler


@contextlib.contextmanager
def scripted_server(script: Sequence[Reply], *, base_path: str = "") -> Iterator[ScriptedServer]:
    """A server on a free loopback port. ``base_path`` is appended to the ``url`` that is handed out."""
    leaving = threading.Event()
    server = ScriptedServer(url="", _script=list(script))

    with ThreadingHTTPServer((HOST, 0), _handler(server, leaving)) as listener:
        server.url = f"http://{HOST}:{listener.server_port}{base_path}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            leaving.set()
            listener.shutdown()
            thread.join()


# --- Anthropic's Messages API ---


def messages_server(script: Sequence[Reply]) -> contextlib.AbstractContextManager[ScriptedServer]:
    """``POST {url}/v1/messages``."""
    return scripted_server(script)


def says(
    *texts: str,
    stop_reason: str | None = "end_turn",
    usage: Mapping[str, int | None] | None = None,
    model: str = "claude-haiku-4-5-20251001",
) -> Reply:
    """A message with one text block for each of ``texts``, as Anthropic's own API and Bedrock answer it."""
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text} for text in texts],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1120, "output_tokens": 64} if usage is None else dict(usage),
    }
    return Reply(body=json.dumps(message).encode())


def fails(status: int, kind: str = "api_error", *, message: str = "no", retry_after: str | None = None) -> Reply:
    """An error object, as Anthropic and OpenAI both write it well enough to be read."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(
        status=status,
        body=json.dumps(body).encode(),
        headers={} if retry_after is None else {"retry-after": retry_after},
    )


# --- embeddings ---


def text_vector(text: str, dimensions: int = 8) -> list[float]:
    """A vector that follows from the text alone, exact in 32 bits."""
    digest = hashlib.shake_256(text.encode()).digest(dimensions)
    return [(byte - 128) / 128 + 1 / 256 for byte in digest]


def letter_counts(text: str, dimensions: int) -> list[float]:
    """Vectors that count a text's letters: similar texts have similar ones."""
    vector = [0.01] * dimensions
    for letter in text.lower():
        vector[ord(letter) % dimensions] += 1.0
    return vector


# --- embeddings as OpenAI and Voyage have them ---


def embeddings_server(script: Sequence[Reply] | None = None) -> contextlib.AbstractContextManager[ScriptedServer]:
    """``POST {url}/embeddings``; without a script it embeds whatever comes."""
    return scripted_server([embeds()] if script is None else script, base_path="/v1")


def embeds(
    *, dimensions: int = 8, shuffled: bool = False, vector: Callable[[str, int], list[float]] = text_vector
) -> Reply:
    """Vectors as ``vector`` gives them, as OpenAI and Voyage write them; ``shuffled``: in another order than asked."""

    def body(request: Request) -> bytes:
        length = request.body.get("dimensions", request.body.get("output_dimension", dimensions))
        data = [
            {"object": "embedding", "index": index, "embedding": vector(text, length)}
            for index, text in enumerate(request.body["input"])
        ]
        if shuffled:
            data.reverse()
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        response = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
        return json.dumps(response).encode()

    return Reply(body=body)


# --- Amazon Bedrock's runtime ---


def titan_embeds() -> Reply:
    """The vector of one text, as Titan Text Embeddings v2 answers it."""

    def body(request: Request) -> bytes:
        embedding = text_vector(request.body["inputText"], request.body["dimensions"])
        response = {"embedding": embedding, "inputTextTokenCount": 3, "embeddingsByType": {"float": embedding}}
        return json.dumps(response).encode()

    return Reply(body=body)


def cohere_embeds(*, dimensions: int = 1024) -> Reply:
    """The vectors of the texts, as Cohere Embed v3 and v4 answer them when asked for floats by name."""

    def body(request: Request) -> bytes:
        length = request.body.get("output_dimension", dimensions)
        texts = request.body["texts"]
        embeddings = {"float": [text_vector(text, length) for text in texts]}
        response = {"id": "1", "texts": texts, "embeddings": embeddings, "response_type": "embeddings_by_type"}
        return json.dumps(response).encode()

    return Reply(body=body)


def bedrock_fails(status: int, kind: str, *, message: str = "no", retry_after: str | None = None) -> Reply:
    """An error as AWS's JSON protocols write it: its type stands in a header."""
    headers = {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
    if retry_after is not None:
        headers["retry-after"] = retry_after
    return Reply(status=status, body=json.dumps({"message": message}).encode(), headers=headers)


# --- rerankers: Cohere's and Jina's results, Text Embeddings Inference's ranks ---


def length_score(text: str) -> float:
    """A score that follows from the text alone, and isn't in the texts' order."""
    return round(len(text) / 7 % 1, 4)


def cohere_reranks() -> Reply:
    """``POST /v2/rerank``, best first."""

    def body(request: Request) -> bytes:
        results = [{"index": index, "relevance_score": score} for index, score in _ranked(request.body["documents"])]
        return json.dumps({"results": results, "id": "1", "meta": {"api_version": {"version": "2"}}}).encode()

    return Reply(body=body)


def jina_reranks() -> Reply:
    """``POST /v1/rerank``, best first; with the documents unless they are declined."""

    def body(request: Request) -> bytes:
        documents = request.body["documents"]
        results: list[dict[str, Any]] = [
            {"index": index, "relevance_score": score} for index, score in _ranked(documents)
        ]
        if request.body.get("return_documents", True):
            results = [{**each, "document": {"text": documents[each["index"]]}} for each in results]
        response = {"model": request.body["model"], "usage": {"total_tokens": 1}, "results": results}
        return json.dumps(response).encode()

    return Reply(body=body)


def tei_reranks() -> Reply:
    """``POST /rerank``, best first; a text that is too long is refused unless it may be cut."""

    def body(request: Request) -> bytes:
        assert request.body["truncate"] is True
        return json.dumps(
            [{"index": index, "score": score} for index, score in _ranked(request.body["texts"])]
        ).encode()

    return Reply(body=body)


def _ranked(texts: Sequence[str]) -> list[tuple[int, float]]:
    return sorted(enumerate(map(length_score, texts)), key=lambda pair: -pair[1])
