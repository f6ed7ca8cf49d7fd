"""Shows how much memory each function's process holds at most, beside what the stack gives it.

    .venv/bin/python -m tests.benchmarks.bench_memory [--megabytes 5]

Processes are those of Lambda: the built bundles, without this environment's packages. Lambda's own runtime adds about
35 MB. What they held is Linux's own account, so it takes a Linux. Exits with 1 when a process needs more than two
thirds of what its function has.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from citewell.events import object_event
from infra import memory
from infra.bundling import MODEL_PATH, RERANKER_PATH, Bundles, build
from infra.local.throwaway_postgres import choose, ways
from infra.options import Target
from tests.benchmarks import corpus
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

DATABASE = "citewell_bench_memory"
CHUNKS = 500
HANDBOOK = Path(__file__).parents[2] / "eval/handbook"
RUNTIME_MIB = 35
NEAR = [1.0] * DIMENSIONS

PEAK = """
import re, resource
own = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
print(own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
REFUSED = f"{CONTEXT}{ASKED}\nassert answer['model'] is None, answer"
ANSWERED = f"{CONTEXT}{ASKED}\nassert answer['model'] == 'claude', answer"
READ = f"""{CONTEXT}
import functions.documents.handler
event = {{"routeKey": "GET /health", "requestContext": {{"requestId": "r"}}}}
assert functions.documents.handler.handler(event, Context())["statusCode"] == 200
"""
INGESTED = f"""{CONTEXT}
import json, pathlib, sys
import boto3
import functions.ingest.handler
from citewell.core.values import ObjectHead
from citewell.wiring import wiring
class Bucket:
    s3 = boto3.client("s3")  # what talks to the real one is loaded, too
    def head(self, key):
        size = pathlib.Path(key).stat().st_size
        return ObjectHead(key, "1", size, "text/markdown", (("title", pathlib.Path(key).name),))
    def read(self, head):
        return pathlib.Path(head.key).read_bytes()
wiring().__dict__["objects"] = Bucket()
for message in json.loads(sys.stdin.read()):
    record = {{
        "messageId": "m",
        "receiptHandle": "h",
        "body": message,
        "eventSource": "aws:sqs",
        "attributes": {{"ApproximateReceiveCount": "1"}},
    }}
    assert functions.ingest.handler.handler({{"Records": [record]}}, Context()) == {{"batchItemFailures": []}}
wiring().extractor.close()
"""
EMBEDDED = """
import functions.embed.handler
event = {"texts": ["meal " * 500] * 64, "input": "passage"}
assert len(functions.embed.handler.handler(event, None)["vectors"]) == 64
"""
RERANKED = """
import functions.rerank.handler
event = {"question": "What is the meal limit?", "texts": ["meal " * 500] * 5}
assert len(functions.rerank.handler.handler(event, None)["scores"]) == 5
"""
MIGRATED = f"""{CONTEXT}
import functions.migrate.handler
wanted = {{"EmbedderModel": {MODEL!r}, "EmbedderDimensions": "{DIMENSIONS}"}}
functions.migrate.handler.handler({{"RequestType": "Update", "ResourceProperties": wanted}}, Context())
"""
VERIFYING = """
import boto3
import functions.verify.handler
boto3.client("lambda")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=5, help="size of the large document")
    megabytes = parser.parse_args().megabytes
    bundles = build(Target.LOCAL, local_embedder=True, local_reranker=True)
    choice = choose(ways())
    print(choice)
    try:
        with (
            searchable(choice.server.url, choice.server.url_of(DATABASE), chunks=CHUNKS) as database,
            tempfile.TemporaryDirectory() as folder,
        ):
            large = Path(folder) / "large.md"
            write_large_document(large, round(megabytes * 1_000_000))
            good = report(peaks(bundles, database, large))
    finally:
        choice.server.stop()
    return 0 if good else 1


def write_large_document(path: Path, size: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(corpus.texts(size // 1000)):
            file.write(f"## Section {number}\n\n{text}\n\n")
            if file.tell() > size:
                return


def peaks(bundles: Bundles, database: str, large: Path) -> Iterator[tuple[str, int, float]]:
    """(what was done, the function's MiB, the most that its process held)."""
    model_path = MODEL_PATH.removeprefix("/opt/")
    reranker_model = bundles.layers["reranker"].path / RERANKER_PATH.removeprefix("/opt/")

    def peak(function: str, program: str, *, vector: list[float] = FAR_AWAY, given: str = "", **settings: str) -> float:
        folder = bundles.layers["embedder" if function == "embed" else "tokenizer"].path / model_path
        with providers(vector) as endpoint:
            path = python_path(bundles, function)
            environment = environment_of(path, database=database, endpoint=endpoint, model_dir=folder)
            return float(run(program + PEAK, environment | settings, given=given).splitlines()[-1]) / 1024

    handbook = [str(path) for path in sorted(HANDBOOK.glob("*.md"))]
    size = large.stat().st_size / 1_000_000
    yield "ask: refused", memory.ASK, peak("ask", REFUSED)
    yield "ask: answered by Claude", memory.ASK, peak("ask", ANSWERED, vector=NEAR, CITEWELL_MIN_SCORE="-1")
    yield "documents", memory.DOCUMENTS, peak("documents", READ)
    yield f"ingest: handbook, {len(handbook)} files", memory.INGEST, peak("ingest", INGESTED, given=messages(handbook))
    yield f"ingest: one document, {size:.1f} MB", memory.INGEST, peak("ingest", INGESTED, given=messages([str(large)]))
    yield "embed: 64 texts", memory.EMBED, peak("embed", EMBEDDED, CITEWELL_EMBEDDER="local")
    yield (
        "rerank: 5 texts",  # read one by one
        memory.RERANK,
        peak(
            "rerank",
            RERANKED,
            CITEWELL_RERANKER="local",
            CITEWELL_RERANKER_MODEL_DIR=str(reranker_model),
            CITEWELL_RERANK_SECONDS="10",
        ),
    )
    yield "migrate", memory.MIGRATE, peak("migrate", MIGRATED)
    yield "verify, when it has a client", memory.VERIFY, peak("verify", VERIFYING)


def messages(paths: list[str]) -> str:
    return json.dumps([object_event("docs", path) for path in paths])


def report(measured: Iterator[tuple[str, int, float]]) -> bool:
    """Prints each as it comes. Whether all of them left a third of their memory free."""
    good = True
    print(f"\n{'MiB':<36} {'at most':>8} {'function':>9}")
    for name, has, held in measured:
        enough = held + RUNTIME_MIB <= has * 2 / 3
        good &= enough
        print(f"{name:<36} {held:8.0f} {has:9}{'' if enough else '   TOO LITTLE'}", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
