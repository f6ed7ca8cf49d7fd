"""Shows how Postgres carries a search out among 50,000 chunks, and how long each part takes.

    .venv/bin/python -m tests.benchmarks.bench_search_plans [--chunks 50000] [--searches 50]

Times are the server's own, by auto_explain, without planning. Seconds depend on the machine, so read the ratios: each
is against the HNSW index scan alone, run in between. Exits with 1 when a search doesn't use its index.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg

from citewell.core.values import Audience, Question
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.ports import IndexGeneration
from citewell.usecases.migrate import ensure_generation, migrate
from infra.local.throwaway_postgres import choose, ways
from tests.benchmarks import corpus
from tests.plans import Plan, Plans, recorded_plans

DIMENSIONS = 384
LIMIT = 30
MIGRATIONS = Path(__file__).parents[2] / "migrations"
DATABASE = "citewell_bench"

# By their place in the vocabulary: at 50,000 chunks the first stand in most of them, the last in a few dozen.
QUESTIONS = {
    "rare words": (2_000, 5_000, 9_000, 20_000),
    "a question's mix": (0, 3, 50, 300, 5_000),
    "common words": (0, 1, 2, 5, 8, 11),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The searches for one kind of question, and the bare index scans in between (milliseconds)."""

    plans: Plans
    index_alone: list[float]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--searches", type=int, default=50, help="searches for each kind of question")
    arguments = parser.parse_args()
    choice = choose(ways())
    print(choice)
    url = choice.server.url_of(DATABASE)
    try:
        with psycopg.connect(choice.server.url, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {DATABASE}")
            generation = fill(url, arguments.chunks)
            good = report(url, generation, arguments.searches)
            admin.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
    finally:
        choice.server.stop()
    return 0 if good else 1


def fill(url: str, chunks: int) -> IndexGeneration:
    schema = PostgresSchema(url)
    migrate(schema, MIGRATIONS)
    generation = ensure_generation(schema, model_id="made-up", dimensions=DIMENSIONS, replace=False)
    print(f"loading {chunks} chunks and building their index ...", flush=True)
    corpus.load(url, tenants={"default": chunks}, dimensions=DIMENSIONS)
    return generation


def report(url: str, generation: IndexGeneration, searches: int) -> bool:
    """Prints plans and times. Whether every search used its index and no table was read through."""
    good = True
    for name, ranks in QUESTIONS.items():
        measured = measure(url, generation, ranks, searches)
        print(f"\n{name}")
        base = print_times("  HNSW index alone", measured.index_alone, base=None)
        for arm, plans in [("  vector arm", measured.plans.vector), ("  keyword arm", measured.plans.keyword)]:
            print_times(arm, [plan.milliseconds for plan in plans], base=base)
            good &= uses_indexes(plans)
    print("\nThe last vector search:", shown(measured.plans.vector[-1]), sep="\n")
    print("\nThe last keyword search:", shown(measured.plans.keyword[-1]), sep="\n")
    print("\nEvery search used its index, and no table was read through." if good else "\nAN INDEX WAS NOT USED.")
    return good


def measure(url: str, generation: IndexGeneration, ranks: Sequence[int], searches: int) -> Measured:
    question = Question(" ".join(map(corpus.word, ranks)))
    alone = f"""
        SELECT chunk_id FROM chunk_vector WHERE generation = {generation.generation}
        ORDER BY embedding::vector({DIMENSIONS}) <=> %s::vector({DIMENSIONS}) LIMIT {LIMIT}
    """  # noqa: S608 - numbers of our own
    index_alone = []
    with recorded_plans() as plans, closing(PostgresChunkStore(url)) as store, psycopg.connect(url) as bare:
        bare.execute("SET hnsw.ef_search = 100")  # as the store does
        for vector in corpus.vectors(searches, DIMENSIONS, seed=9):
            store.candidates(Audience("default"), generation, question, vector.tolist(), limit=LIMIT)
            index_alone.append(time_alone(bare, alone.encode(), corpus.as_text(vector)))
    return Measured(plans, index_alone)


def time_alone(connection: psycopg.Connection, query: bytes, vector: str) -> float:
    """The server's milliseconds for the bare index scan."""
    [(plan,)] = connection.execute(b"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + query, [vector]).fetchall()
    return float(plan[0]["Execution Time"])


def print_times(name: str, milliseconds: Sequence[float], *, base: tuple[float, float] | None) -> tuple[float, float]:
    p50, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
    against = f"   {p50 / base[0]:5.1f}x {p95 / base[1]:5.1f}x" if base else ""
    print(f"{name:<20} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms{against}")
    return p50, p95


def uses_indexes(plans: Sequence[Plan]) -> bool:
    wanted = ("chunk_vector_hnsw_", "posting_by_impact")
    return all(
        any(index in scan for scan in plan.scans for index in wanted)
        and not any(scan.startswith("Seq Scan") for scan in plan.scans)
        for plan in plans
    )


def shown(plan: Plan) -> str:
    """The plan's tree alone, without the statement and with long values cut."""
    lines = plan.text.splitlines()
    start = next(number for number, line in enumerate(lines) if "(cost=" in line)
    return "\n".join(line if len(line) < 160 else f"{line[:160]} ..." for line in lines[start:])


if __name__ == "__main__":
    sys.exit(main())
