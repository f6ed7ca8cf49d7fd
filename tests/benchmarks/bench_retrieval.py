"""Shows what hybrid retrieval costs beside the HNSW query alone, and what it misses, among 100,000 chunks.

    .venv/bin/python -m tests.benchmarks.bench_retrieval [--chunks 100000] [--questions 200]

Two databases of the same vectors and texts, one after the other. In the first a single tenant holds all, which is what
"no filter" means here: it gives the times and the recall. In the second the rows are spread over tenants of 50%, 48.4%,
1%, 0.5% (whose content lies far from every question) and 0.1%.

Times are a client's, with the round trip, on warm data. HNSW alone is the least that a client could ask: ids by the
index, no tenant, no text, one statement in no transaction, with the store's ef_search. Hybrid is the whole of
``PostgresChunkStore.candidates``. "Vectors alone" is the same asked without a word, so that its keyword arm finds
nothing: what checking who asks and bringing the texts take. They take turns, question by question, so that a busy
machine slows all of them; seconds depend on the machine, so read the ratios. Recall@10 is the vector arm's against
numpy's exact answer. The keyword arm finds other chunks than the vector arm, since vectors and texts have nothing to do
with each other: the worst case.

Exits with 1 when a bound isn't kept. Takes some 10 minutes on two cores, most of them for building the two databases.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg.sql import SQL, Identifier, Literal

from citewell.core.values import Audience, Passage, Question
from citewell.edges import postgres
from citewell.edges.postgres_chunk_store import EF_SEARCH, PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.ports import IndexGeneration
from citewell.usecases.migrate import ensure_generation, migrate
from infra.local.throwaway_postgres import Server, choose, ways
from tests.benchmarks import loading, real_texts, shared_data
from tests.benchmarks.corpus import as_text
from tests.benchmarks.loading import Matrix, Row
from tests.benchmarks.real_texts import Text

Search = Callable[[int], Sequence[Any]]
"""Asks the question of that number."""

ALONE = "HNSW alone"
VECTORS = "vectors alone"
NO_WORD = "?"
LIMIT = 30
NEAREST = 10
CHUNKS_OF_A_DOCUMENT = 10
EVERYTHING = "default"

P50_BOUND, P95_BOUND = 2.0, 4.0
BOUND_KINDS = ("rare words", "common words")
RECALL_BOUND = 0.98
MIGRATIONS = Path(__file__).parents[2] / "migrations"


@dataclass(frozen=True, slots=True)
class Material:
    """What both databases are made of, row by row, and what is asked: a vector and a text of each kind a question."""

    tenants: list[str]
    vectors: Matrix
    texts: list[Text]
    asked: Matrix

    def rows(self, tenants: Sequence[str]) -> list[Row]:
        """The rows in the order of their documents, each of them one tenant's."""
        numbers: dict[str, Iterator[int]] = {tenant: count() for tenant in set(tenants)}
        rows = []
        for tenant, vector, text in zip(tenants, self.vectors, self.texts, strict=True):
            document, ordinal = divmod(next(numbers[tenant]), CHUNKS_OF_A_DOCUMENT)
            source = f"folder-{document % 10}/document-{document:06}.md"
            rows.append(Row(tenant, source, ordinal, text.header, text.text, vector))
        return rows


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the vector arm found of one tenant's rows, on average over the questions; ``fewest`` rows in one answer."""

    tenant: str
    rows: int
    recall: float
    worst: float
    fewest: int
    milliseconds: list[float]

    @property
    def is_good(self) -> bool:
        return self.recall >= RECALL_BOUND and self.fewest == min(LIMIT, self.rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    material = prepare(arguments.chunks, arguments.questions)
    choice = choose(ways())
    print(choice)
    try:
        good = bench_one_tenant(choice.server, material)
        good &= bench_tenants(choice.server, material)
    finally:
        choice.server.stop()
    return 0 if good else 1


def prepare(chunks: int, questions: int) -> Material:
    source = shared_data.vectors()
    tenants, vectors = source.rows(chunks)
    texts = real_texts.multiplied(real_texts.cut(shared_data.markdown()), chunks)
    return Material(tenants, vectors, texts, source.queries(questions))


@contextmanager
def filled(server: Server, database: str, rows: Sequence[Row]) -> Iterator[tuple[str, IndexGeneration]]:
    """A database with ``rows`` and its index, gone at the end of the block."""
    started = time.perf_counter()
    name = Identifier(database)
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        admin.execute(SQL("CREATE DATABASE {}").format(name))
        url = server.url_of(database)
        schema = PostgresSchema(url)
        migrate(schema, MIGRATIONS)
        dimensions = len(rows[0].vector)
        generation = ensure_generation(schema, model_id="made-up", dimensions=dimensions, replace=False)
        loading.load(url, rows)
        print(f"\n{database}: {len(rows)} chunks, built in {time.perf_counter() - started:.0f} s", flush=True)
        yield url, generation
        admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(name))


# --- times ----------------------------------------------------------------------------------------------------


def bench_one_tenant(server: Server, material: Material) -> bool:
    rows = material.rows([EVERYTHING] * len(material.texts))
    with filled(server, "citewell_bench_one_tenant", rows) as (url, generation):
        questions = ask_about(url, material)
        times = measure(url, generation, questions, material.asked)
        good = report_times(times)
        recalled = recall(url, generation, EVERYTHING, material, material.vectors)
        return report_recall([recalled]) and good


def ask_about(url: str, material: Material) -> dict[str, list[str]]:
    with psycopg.connect(url) as connection:

        def stem_of(words: Sequence[str]) -> dict[str, str]:
            stemmed = "SELECT word, (ts_lexize('english_stem', word))[1] FROM unnest(%s::text[]) AS word"
            return {word: stem for word, stem in connection.execute(stemmed, [list(words)]) if stem}

        frequencies = real_texts.document_frequencies(material.texts, stem_of)
    asked = real_texts.questions(material.texts, frequencies, len(material.asked))
    return {"rare words": asked.rare, "common words": asked.common, "mixed": asked.mixed}


def measure(
    url: str, generation: IndexGeneration, questions: Mapping[str, Sequence[str]], vectors: Matrix
) -> dict[str, list[float]]:
    """Milliseconds of the bare query and of each kind of question, one a vector. The first round only warms up."""
    with closing(PostgresChunkStore(url)) as store, closing(postgres.connect(url)) as bare:
        bare.autocommit = True
        bare.execute(f"SET hnsw.ef_search = {EF_SEARCH}".encode())
        searches: dict[str, Search] = {ALONE: alone(bare, generation, vectors)}
        for kind, texts in {VECTORS: [NO_WORD] * len(vectors), **questions}.items():
            searches[kind] = hybrid(store, EVERYTHING, generation, texts, vectors)
        take_turns(searches, len(vectors))
        return take_turns(searches, len(vectors))


def alone(connection: postgres.Connection, generation: IndexGeneration, vectors: Matrix) -> Search:
    query = SQL("""
        SELECT chunk_id FROM chunk_vector WHERE generation = {generation}
        ORDER BY embedding::vector({dimensions}) <=> %s::vector({dimensions}) LIMIT {nearest}
    """).format(
        generation=Literal(generation.generation), dimensions=Literal(generation.dimensions), nearest=Literal(NEAREST)
    )
    values = [[as_text(vector)] for vector in vectors]
    return lambda number: connection.execute(query, values[number]).fetchall()


def hybrid(
    store: PostgresChunkStore, tenant: str, generation: IndexGeneration, texts: Sequence[str], vectors: Matrix
) -> Search:
    audience, asked, values = Audience(tenant), [Question(text) for text in texts], vectors.tolist()
    return lambda number: store.candidates(audience, generation, asked[number], values[number], limit=LIMIT)


def take_turns(searches: Mapping[str, Search], questions: int) -> dict[str, list[float]]:
    """Each question is put to every search, and every time another one comes first."""
    names = list(searches)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(questions):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            started = time.perf_counter()
            searches[name](number)
            times[name].append(1000 * (time.perf_counter() - started))
    return times


def report_times(times: Mapping[str, Sequence[float]]) -> bool:
    print("\n                        p50 ms    p95 ms   against HNSW alone    against vectors alone (no bound)")
    base, vectors = p50_and_p95(times[ALONE]), p50_and_p95(times[VECTORS])
    good = True
    for name, milliseconds in times.items():
        p50, p95 = p50_and_p95(milliseconds)
        ratios = p50 / base[0], p95 / base[1]
        kept = ratios[0] <= P50_BOUND and ratios[1] <= P95_BOUND
        verdict = (
            f"{ratios[0]:5.2f}x {ratios[1]:5.2f}x  {passed(kept) if name in BOUND_KINDS else '':4}"
            f"  {p50 / vectors[0]:5.2f}x {p95 / vectors[1]:5.2f}x"
        )
        print(f"{name:<20} {p50:9.2f} {p95:9.2f}   {'' if name == ALONE else verdict}")
        good &= kept or name not in BOUND_KINDS
    print(f"bounds: p50 {P50_BOUND:g}x, p95 {P95_BOUND:g}x")
    return good


def p50_and_p95(milliseconds: Sequence[float]) -> tuple[float, float]:
    return statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]


def passed(good: bool) -> str:
    return "PASS" if good else "FAIL"


# --- recall ---------------------------------------------------------------------------------------------------


def bench_tenants(server: Server, material: Material) -> bool:
    held = np.array(material.tenants)
    with filled(server, "citewell_bench_tenants", material.rows(material.tenants)) as (url, generation):
        shares = sorted(set(material.tenants), key=material.tenants.count, reverse=True)
        return report_recall(
            [recall(url, generation, tenant, material, material.vectors[held == tenant]) for tenant in shares]
        )


def recall(url: str, generation: IndexGeneration, tenant: str, material: Material, vectors: Matrix) -> Recalled:
    """``vectors`` are those of the tenant's rows, in the order in which its chunks are numbered."""
    recalls, counts, times = [], [], []
    with closing(PostgresChunkStore(url)) as store:
        search = hybrid(store, tenant, generation, [material.texts[0].header] * len(material.asked), material.asked)
        for number, asked in enumerate(material.asked):
            started = time.perf_counter()
            near = sorted((p for p in search(number) if p.vector_rank), key=lambda p: p.vector_rank or 0)
            times.append(1000 * (time.perf_counter() - started))
            best = set(np.argsort(vectors @ asked)[::-1][:NEAREST].tolist())
            recalls.append(len(best & {number_of(passage) for passage in near[:NEAREST]}) / len(best))
            counts.append(len(near))
    return Recalled(tenant, len(vectors), statistics.mean(recalls), min(recalls), min(counts), times)


def number_of(passage: Passage) -> int:
    """Which of its tenant's rows a passage is."""
    document = int(passage.source.rpartition("-")[2].removesuffix(".md"))
    return document * CHUNKS_OF_A_DOCUMENT + passage.ordinal


def report_recall(found: Sequence[Recalled]) -> bool:
    print(f"\ntenant            rows   recall@{NEAREST}   worst   fewest of {LIMIT}   hybrid p50, p95 ms")
    for each in found:
        p50, p95 = p50_and_p95(each.milliseconds)
        print(
            f"{each.tenant:<12} {each.rows:9} {each.recall:11.4f} {each.worst:7.2f} {each.fewest:14} "
            f"{p50:10.2f} {p95:9.2f}   {passed(each.is_good)}"
        )
    print(f"bounds: recall {RECALL_BOUND:g}, and as many rows as there are")
    return all(each.is_good for each in found)


if __name__ == "__main__":
    sys.exit(main())
