"""Processes as Lambda starts them: a function's built bundle and layers, and nothing of this environment's packages."""

from __future__ import annotations

import base64
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from citewell.core.refusing import KNOWN_FITS
from citewell.edges.postgres_login import FixedLogin
from citewell.edges.postgres_schema import PostgresSchema
from citewell.usecases.migrate import ensure_generation, migrate
from infra.bundling import LAYERS_OF, Bundles
from tests.benchmarks import corpus

MIGRATIONS = Path(__file__).parents[2] / "migrations"
DIMENSIONS = 384
FAR_AWAY = [-1.0] * DIMENSIONS
"""A vector that is unlike every passage's."""

MODEL = KNOWN_FITS[0].model_id


def run(program: str, environment: Mapping[str, str], *, given: str = "") -> str:
    """What ``program``, which may read ``given``, writes in a process of its own.

    Raises CalledProcessError when it fails.
    """
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],  # -S: Lambda has no site-packages of this environment
        env=dict(environment),
        cwd="/",  # Python looks for modules where it is started, too
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def python_path(bundles: Bundles, function: str) -> str:
    """PYTHONPATH as Lambda sets it."""
    layers = (bundles.layers[name].path / "python" for name in LAYERS_OF[function])
    return os.pathsep.join(map(str, [bundles.functions[function].path, *layers]))


@contextmanager
def searchable(server: str, url: str, *, chunks: int) -> Iterator[str]:
    """A database of its own, with as many passages."""
    name = urlsplit(url).path.removeprefix("/")
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        admin.execute(f"CREATE DATABASE {name}".encode())
        schema = PostgresSchema(FixedLogin(url))
        migrate(schema, MIGRATIONS)
        ensure_generation(schema, model_id=MODEL, dimensions=DIMENSIONS, replace=False)
        corpus.load(url, tenants={"default": chunks}, dimensions=DIMENSIONS)
        yield url
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def providers(vector: list[float]) -> Iterator[str]:
    """The address of everything that functions call: Lambda's API with an embed function whose every vector is
    ``vector``, Secrets Manager, and the Messages API. It answers at once."""
    encoded = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector)).decode()

    def embedded(event: Any) -> Any:
        return {"model": MODEL, "dimensions": DIMENSIONS, "vectors": [encoded] * len(event["texts"])}

    def message(_: Any) -> Any:
        return {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": "So it is written [1]."}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 10},
        }

    def secret(_: Any) -> Any:
        return {"SecretString": "a key"}

    answers: Mapping[str, Callable[[Any], Any]] = {
        "/2015-03-31/functions/embed/invocations": embedded,
        "/v1/messages": message,
        "/": secret,
    }

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            result = json.dumps(answers[self.path](body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(result)))
            self.end_headers()
            self.wfile.write(result)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def environment_of(path: str, *, database: str, endpoint: str, model_dir: Path | str = "/nowhere") -> dict[str, str]:
    """A function's, with the settings that the stack makes for the local embedder and Claude."""
    server = urlsplit(database)
    settings = {
        "database_host": server.hostname,
        "database_port": server.port,
        "database_name": server.path.removeprefix("/"),
        "database_user": server.username,
        "database_auth": "iam",
        "database_region": "us-east-1",
        "bucket": "docs",
        "embedder": "function",
        "embed_function": "embed",
        "embedder_model": MODEL,
        "embedder_dimensions": DIMENSIONS,
        "model_dir": model_dir,
        "generator": "claude",
        "anthropic_base_url": endpoint,
        "anthropic_api_key_secret_arn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:key",
    }
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": path,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        **{f"CITEWELL_{name.upper()}": str(value) for name, value in settings.items()},
    }


CONTEXT = """
class Context:
    function_name, memory_limit_in_mb, aws_request_id = "function", 1024, "r"
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:function"
    def get_remaining_time_in_millis(self):
        return 300_000
"""
ASKED = """
import json
import functions.ask.handler
event = {
    "routeKey": "POST /ask",
    "body": json.dumps({"question": "What does nobody know?"}),
    "requestContext": {"requestId": "r"},
}
response = functions.ask.handler.handler(event, Context())
answer = json.loads(response["body"])
"""
