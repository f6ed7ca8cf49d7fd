"""Shows what a cold start and a refused question cost the ask function's own process, against floors.

    .venv/bin/python -m tests.benchmarks.bench_import [--runs 25]

Processes are those of Lambda: the built bundles, with their compiled modules and without this environment's packages.
Measured is CPU time, user and system, of whole processes, which take turns; seconds depend on the machine, so read the
ratios of the medians. Exits with 1 when one is over its budget:

- ``ask, imported and wired``: the handler's module, and everything that is wired before the first question, against
  importing psycopg, httpx, anthropic and Powertools' Logger. Budget 1.2.
- ``a question refused``: a call of the handler over a real Postgres, logged in to with an IAM token, which is all that
  has to be signed when the embedder is in the process and costs nothing; against importing psycopg, httpx and Logger
  and signing such a token in the same way. Budget 1.5.
- ``a question refused, embedded by the function``: the same, but embedding is a call of Lambda, signed and sent by
  boto3 to a server here that answers at once; against psycopg, httpx, Logger and such a call. Budget 1.5.

Both floors leave out what a refusal can't do without: the connection to the database and the search.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from citewell.core.refusing import PROVISIONAL_MIN_SCORES
from citewell.edges.postgres_login import FixedLogin
from citewell.edges.postgres_schema import PostgresSchema
from citewell.usecases.migrate import ensure_generation, migrate
from infra.bundling import build
from infra.local.throwaway_postgres import choose, ways
from infra.options import Target
from tests.benchmarks import corpus

MIGRATIONS = Path(__file__).parents[2] / "migrations"
DATABASE = "citewell_bench_import"
DIMENSIONS = 384
CHUNKS = 500
[MODEL] = PROVISIONAL_MIN_SCORES

FLOOR = "import psycopg, httpx; from aws_lambda_powertools import Logger"
MODEL_FLOOR = "import psycopg, httpx, anthropic; from aws_lambda_powertools import Logger"
SIGNED_TOKEN = """
import os
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
credentials = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
request = AWSRequest(method="GET", url="https://database.example.com:5432/?Action=connect&DBUser=reader")
SigV4QueryAuth(credentials, "rds-db", "us-east-1", expires=900).add_auth(request)
assert "X-Amz-Signature" in request.url
"""
SIGNED_CALL = """
import boto3
answer = boto3.client("lambda").invoke(FunctionName="embed", Payload=b'{"texts": ["a question"], "input": "query"}')
assert b"vectors" in answer["Payload"].read()
"""
WIRED = """
import functions.ask.handler
from citewell.wiring import wiring
wiring().ask_question
"""
FREE_EMBEDDER = f"""
import functions.ask.handler
from citewell.wiring import wiring
class Free:
    model_id, dimensions = {MODEL!r}, {DIMENSIONS}
    def embed(self, texts, kind):
        return [[-1.0] * {DIMENSIONS}]
wiring().__dict__["embedder"] = Free()
"""
REFUSED = """
import json
import functions.ask.handler
class Context:
    function_name, memory_limit_in_mb, aws_request_id = "ask", 1024, "r"
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:ask"
    def get_remaining_time_in_millis(self):
        return 29_000
event = {
    "routeKey": "POST /ask",
    "body": json.dumps({"question": "What does nobody know?"}),
    "requestContext": {"requestId": "r"},
}
response = functions.ask.handler.handler(event, Context())
assert "below threshold" in json.loads(response["body"])["reason"], response
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    ours: str
    floor: str
    budget: float


COMPARISONS = (
    Comparison("ask, imported and wired", WIRED, MODEL_FLOOR, budget=1.2),
    Comparison("a question refused", FREE_EMBEDDER + REFUSED, FLOOR + SIGNED_TOKEN, budget=1.5),
    Comparison("a question refused, embedded by the function", REFUSED, FLOOR + SIGNED_CALL, budget=1.5),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=25, help="processes of each kind")
    runs = parser.parse_args().runs
    path = bundle_path()
    choice = choose(ways())
    print(choice)
    try:
        with searchable(choice.server.url, choice.server.url_of(DATABASE)) as url, lambda_api() as endpoint:
            environment = environment_of_ask(url, endpoint, path)
            good = report(measure(environment, runs))
    finally:
        choice.server.stop()
    return 0 if good else 1


def bundle_path() -> str:
    """PYTHONPATH as Lambda sets it for the ask function."""
    bundles = build(Target.LOCAL, local_embedder=True)
    folders = [
        bundles.functions["ask"].path,
        *(bundles.layers[name].path / "python" for name in ("core", "dependencies")),
    ]
    return os.pathsep.join(map(str, folders))


@contextmanager
def searchable(server: str, url: str) -> Iterator[str]:
    """A database with some passages, all of them far from the question."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {DATABASE}")
    schema = PostgresSchema(FixedLogin(url))
    migrate(schema, MIGRATIONS)
    ensure_generation(schema, model_id=MODEL, dimensions=DIMENSIONS, replace=False)
    corpus.load(url, tenants={"default": CHUNKS}, dimensions=DIMENSIONS)
    yield url
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


@contextmanager
def lambda_api() -> Iterator[str]:
    """The address of a Lambda API whose embed function answers at once, with a vector far from every passage."""
    vector = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *[-1.0] * DIMENSIONS)).decode()
    result = json.dumps({"model": MODEL, "dimensions": DIMENSIONS, "vectors": [vector]}).encode()

    class Api(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200 if self.headers["authorization"].startswith("AWS4-HMAC-SHA256") else 403)
            self.send_header("content-length", str(len(result)))
            self.end_headers()
            self.wfile.write(result)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def environment_of_ask(url: str, lambda_endpoint: str, path: str) -> dict[str, str]:
    """The ask function's, as the stack sets it."""
    database = urlsplit(url)
    settings = {
        "database_host": database.hostname,
        "database_port": database.port,
        "database_name": database.path.removeprefix("/"),
        "database_user": database.username,
        "database_auth": "iam",
        "database_region": "us-east-1",
        "embedder": "function",
        "embed_function": "embed",
        "embedder_model": MODEL,
        "embedder_dimensions": DIMENSIONS,
        "model_dir": "/opt/model",
        "generator": "claude",
        "anthropic_api_key_secret_arn": "arn:aws:secretsmanager:us-east-1:000000000000:secret:key",
    }
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": path,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_LAMBDA": lambda_endpoint,
        **{f"CITEWELL_{name.upper()}": str(value) for name, value in settings.items()},
    }


def measure(environment: Mapping[str, str], runs: int) -> dict[str, list[float]]:
    """CPU seconds of each program's processes, by the program. The first of each isn't counted."""
    programs = [program for each in COMPARISONS for program in (each.ours, each.floor)]
    seconds: dict[str, list[float]] = {program: [] for program in programs}
    for run in range(runs + 1):
        for program in programs:
            spent = cpu_seconds(program, environment)
            if run:
                seconds[program].append(spent)
    return seconds


def cpu_seconds(program: str, environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # -S: Lambda has no site-packages of this environment.
    subprocess.run([sys.executable, "-S", "-c", program], env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(seconds: Mapping[str, list[float]]) -> bool:
    """Prints the medians. Whether each comparison is within its budget."""
    good = True
    print(f"\n{'CPU milliseconds, medians':<46} {'ours':>7} {'floor':>7} {'ratio':>7} {'budget':>7}")
    for each in COMPARISONS:
        ours, floor = statistics.median(seconds[each.ours]), statistics.median(seconds[each.floor])
        within = ours <= each.budget * floor
        good &= within
        verdict = "" if within else "   OVER"
        print(
            f"{each.name:<46} {ours * 1000:7.0f} {floor * 1000:7.0f} {ours / floor:6.2f}x {each.budget:6.1f}x{verdict}"
        )
    return good


if __name__ == "__main__":
    sys.exit(main())
