"""A server on this machine that speaks the wire format of the Messages API and of /v1/embeddings.

It answers what a test tells it to, and keeps what it was asked. A deployed function calls it as it would the real one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Body


@dataclass(frozen=True, slots=True)
class Reply:
    body: Body
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class ModelApi:
    """As a context manager it serves within the block. ``answer`` makes the reply to each request."""

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                outer.requests.append(request)
                reply = outer.answer(request)
                payload = json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in (("content-type", "application/json"), *reply.headers):
                    self.send_header(name, value)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def message(text: str) -> Reply:
    """A successful answer of the Messages API."""
    return Reply(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 900, "output_tokens": 30},
        }
    )


def overloaded(status: int) -> Reply:
    kind = {429: "rate_limit_error", 529: "overloaded_error"}[status]
    return Reply({"type": "error", "error": {"type": kind, "message": kind}}, status, (("retry-after", "0"),))


def embeddings(request: Request, *, dimensions: int) -> Reply:
    """Vectors that count a text's letters: the same text has the same vector, a similar text a similar one."""
    texts = request.body["input"]
    vectors = [_letters(text, dimensions) for text in ([texts] if isinstance(texts, str) else texts)]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Reply({"object": "list", "data": data, "model": request.body["model"], "usage": usage})


def _letters(text: str, dimensions: int) -> list[float]:
    vector = [0.01] * dimensions
    for letter in text.lower():
        vector[ord(letter) % dimensions] += 1.0
    return vector
