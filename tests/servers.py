"""Real HTTP servers on this machine that speak a provider's wire format and follow a script.

    with messages_server([fails(429, "rate_limit_error", retry_after="0"), says("60 EUR [1].")]) as server:
        ...  # server.url is the base URL; server.requests holds what was asked

Each request takes the script's next reply; the last one is repeated. Leaving the block ends replies that still wait.
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
    """``body`` is the parsed JSON; header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Any


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


@contextlib.contextmanager
def scripted_server(script: Sequence[Reply], *, base_path: str = "") -> Iterator[ScriptedServer]:
    """A server on a free loopback port. ``base_path`` is appended to the ``url`` that is handed out."""
    replies = list(script)
    lock = threading.Lock()
    leaving = threading.Event()
    recorded = ScriptedServer(url="")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(path=self.path, headers=headers, body=json.loads(raw))
            with lock:
                recorded.requests.append(request)
                reply = replies.pop(0) if len(replies) > 1 else replies[0]
            with contextlib.suppress(ConnectionError):  # the client has given up
                self._send(reply, request)

        def _send(self, reply: Reply, request: Request) -> None:
            if leaving.wait(reply.seconds_before):
                return
            body = reply.body(request) if callable(reply.body) else reply.body
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if not reply.seconds_between_bytes:
                self.wfile.write(body)
                return
            for byte in body:
                if leaving.wait(reply.seconds_between_bytes):
                    return
                self.wfile.write(bytes([byte]))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Tests read ``requests`` instead."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        recorded.url = f"http://{HOST}:{server.server_port}{base_path}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield recorded
        finally:
            leaving.set()
            server.shutdown()
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
    """A message with one text block for each of ``texts``."""
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


# --- OpenAI's embeddings API ---


def embeddings_server(script: Sequence[Reply] | None = None) -> contextlib.AbstractContextManager[ScriptedServer]:
    """``POST {url}/embeddings``; without a script it embeds whatever comes."""
    return scripted_server([embeds()] if script is None else script, base_path="/v1")


def embeds(*, dimensions: int = 8, shuffled: bool = False) -> Reply:
    """Vectors as :func:`text_vector` gives them; ``shuffled``: their order is not that of the texts."""

    def body(request: Request) -> bytes:
        length = request.body.get("dimensions", dimensions)
        data = [
            {"object": "embedding", "index": index, "embedding": text_vector(text, length)}
            for index, text in enumerate(request.body["input"])
        ]
        if shuffled:
            data.reverse()
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        response = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
        return json.dumps(response).encode()

    return Reply(body=body)


def text_vector(text: str, dimensions: int = 8) -> list[float]:
    """A vector that follows from the text alone, exact in 32 bits."""
    digest = hashlib.shake_256(text.encode()).digest(dimensions)
    return [(byte - 128) / 128 + 1 / 256 for byte in digest]
