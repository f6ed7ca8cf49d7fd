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
import resource
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from infra.bundling import build
from infra.local.throwaway_postgres import choose, ways
from infra.options import Target
from tests.benchmarks.function_processes import (
    ASKED,
    CONTEXT,
    DIMENSIONS,
    FAR_AWAY,
    MODEL,
    environment_of,
    providers,
    python_path,
    run,
    searchable,
)

DATABASE = "citewell_bench_import"
CHUNKS = 500

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
REFUSED = f"""{CONTEXT}{ASKED}
assert "below threshold" in answer["reason"], answer
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
    path = python_path(build(Target.LOCAL, local_embedder=True), "ask")
    choice = choose(ways())
    print(choice)
    try:
        with (
            searchable(choice.server.url, choice.server.url_of(DATABASE), chunks=CHUNKS) as database,
            providers(FAR_AWAY) as endpoint,
        ):
            good = report(measure(environment_of(path, database=database, endpoint=endpoint), runs))
    finally:
        choice.server.stop()
    return 0 if good else 1


def measure(environment: Mapping[str, str], runs: int) -> dict[str, list[float]]:
    """CPU seconds of each program's processes, by the program. The first of each isn't counted."""
    programs = [program for each in COMPARISONS for program in (each.ours, each.floor)]
    seconds: dict[str, list[float]] = {program: [] for program in programs}
    for turn in range(runs + 1):
        for program in programs:
            spent = cpu_seconds(program, environment)
            if turn:
                seconds[program].append(spent)
    return seconds


def cpu_seconds(program: str, environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(program, environment)
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
