"""How Postgres carries the searches out: by the indexes, as it says itself. The benchmark does the same at 50,000."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from citewell.core.values import Audience, Question
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.usecases.migrate import ensure_generation
from infra.local.throwaway_postgres import Server
from tests.benchmarks import corpus
from tests.integration.conftest import RUN, new_database
from tests.plans import Plans, recorded_plans

DIMENSIONS = 32
VECTOR = corpus.vectors(1, DIMENSIONS, seed=5)[0].tolist()
KEYWORD_SCAN = "Index Only Scan using posting_by_impact on posting"
RARE = " ".join(corpus.word(rank) for rank in (900, 5000, 9000))
COMMON = " ".join(corpus.word(rank) for rank in (0, 1, 2, 5))


@pytest.fixture(scope="module")
def filled(database_server: Server, template: str) -> Iterator[str]:
    """2,000 chunks of one tenant beside 100 of another."""
    with new_database(database_server, f"{RUN}_plans", template=template) as url:
        ensure_generation(PostgresSchema(url), model_id="m", dimensions=DIMENSIONS, replace=False)
        corpus.load(url, tenants={"large": 2000, "small": 100}, dimensions=DIMENSIONS)
        yield url


@pytest.fixture
def explain(filled: str) -> Iterator[Callable[..., Plans]]:
    with recorded_plans() as plans:

        def search(question: Question, *, tenant: str = "large", exact_chunks: int = 1000) -> Plans:
            with closing(PostgresChunkStore(filled, exact_chunks=exact_chunks)) as store:
                found = store.candidates(Audience(tenant), store.live_generation(), question, VECTOR, limit=30)
            assert len([passage for passage in found if passage.vector_rank]) == 30
            return plans

        yield search


@pytest.mark.parametrize("words", [RARE, COMMON], ids=["rare", "common"])
def test_a_search_among_many_chunks_uses_the_hnsw_index_and_the_postings_and_reads_no_table_through(
    explain: Callable[..., Plans], words: str
) -> None:
    plans = explain(Question(words))
    [vector], [keyword] = plans.vector, plans.keyword
    assert "Index Scan using chunk_vector_hnsw_1 on chunk_vector" in vector.scans
    assert KEYWORD_SCAN in keyword.scans
    for plan in [vector, keyword, *plans.other]:
        assert not [scan for scan in plan.scans if scan.startswith("Seq Scan") and "index_generation" not in scan]


@pytest.mark.parametrize(
    "filters",
    [Question(COMMON, sources=("folder-1/", "folder-2/")), Question(COMMON, collections=("", "other"))],
    ids=["sources", "collections"],
)
def test_a_filtered_search_among_many_chunks_uses_the_indexes_too(
    explain: Callable[..., Plans], filters: Question
) -> None:
    plans = explain(filters, exact_chunks=0)
    assert "Index Scan using chunk_vector_hnsw_1 on chunk_vector" in plans.vector[-1].scans
    assert KEYWORD_SCAN in plans.keyword[-1].scans


def test_a_search_among_few_chunks_compares_each_of_them_without_the_hnsw_index(explain: Callable[..., Plans]) -> None:
    plans = explain(Question(RARE), tenant="small")
    assert not [scan for scan in plans.vector[0].scans if "hnsw" in scan]
    assert not [scan for scan in plans.vector[0].scans if scan.startswith("Seq Scan")]


def test_a_filter_that_leaves_few_of_many_chunks_makes_the_search_exact(explain: Callable[..., Plans]) -> None:
    plans = explain(Question(RARE, sources=("folder-3/",)), exact_chunks=500)
    assert not [scan for scan in plans.vector[0].scans if "hnsw" in scan]
