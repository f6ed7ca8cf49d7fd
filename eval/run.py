"""Run a retrieval set through the product's own ingest and search, in a database of its own, and score it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.sql import SQL, Identifier
from tqdm import tqdm

from citewell.core.keys import SINGLE_TENANT, Tenancy
from citewell.core.ranking import fuse
from citewell.core.values import Audience, ObjectHead, Passage, Question, TextKind
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.ports import ChunkStore, Embedder
from citewell.settings import Settings
from citewell.usecases.ingest_object import Attempt, IngestObject
from citewell.usecases.migrate import ensure_generation, migrate
from eval.dataset import CorpusDocument, Dataset, EvalQuestion, Gold
from eval.metrics import first_rank, mean, ndcg_at_k, recall_at_k, reciprocal_rank
from infra.local.throwaway_postgres import choose, ways

MIGRATIONS = Path(__file__).parents[1] / "migrations"

_Item = TypeVar("_Item")

DEPTH = 30
"""How far down a ranking is looked at."""


class CorpusObjects:
    """A corpus as :class:`citewell.ports.ObjectStore`: each document under its id, in one version."""

    def __init__(self, documents: Sequence[CorpusDocument]) -> None:
        self._documents = {document.source: document for document in documents}

    def head(self, key: str) -> ObjectHead | None:
        document = self._documents.get(key)
        if document is None:
            return None
        return ObjectHead(key, "1", len(document.data), "text/markdown", tuple(sorted(document.metadata.items())))

    def read(self, head: ObjectHead) -> bytes:
        return self._documents[head.key].data

    def keeps_versions(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Scored:
    """One question's outcome. Rankings are of names: see :func:`passage_names`. ``best_score`` is a cosine."""

    question: EvalQuestion
    fused: list[str]
    vector: list[str]
    keyword: list[str]
    best_score: float | None


def index(dataset: Dataset, *, store: ChunkStore, embedder: Embedder, settings: Settings) -> None:
    """Ingest every document. Raises what ingest raises: a set that can't be indexed whole can't be scored."""
    ingest = IngestObject(
        objects=CorpusObjects(dataset.documents),
        chunks=store,
        embedder=embedder,
        tenancy=Tenancy.SINGLE,
        max_object_bytes=settings.max_object_bytes,
        chunk_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    once = Attempt(number=1, last=True, seconds_left=lambda: float("inf"))
    for document in _progress(dataset.documents, f"{dataset.name}: index"):
        ingest(document.source, once)


def search(dataset: Dataset, *, store: ChunkStore, embedder: Embedder, settings: Settings) -> list[Scored]:
    generation = store.live_generation()
    everyone = Audience(SINGLE_TENANT)
    scored = []
    for question in _progress(dataset.questions, f"{dataset.name}: search"):
        [vector] = embedder.embed([question.text], TextKind.QUERY)
        asked = Question(question.text, top_k=settings.top_k)
        found = store.candidates(everyone, generation, asked, vector, limit=max(settings.candidates, DEPTH))
        fused = fuse(found, k=settings.rrf_k)
        best = max((passage.score for passage in fused[: settings.top_k]), default=None)
        scored.append(
            Scored(
                question=question,
                fused=_ranking(fused, question),
                vector=_ranking(_by(found, lambda passage: passage.vector_rank), question),
                keyword=_ranking(_by(found, lambda passage: passage.keyword_rank), question),
                best_score=best,
            )
        )
    return scored


def _by(passages: Iterable[Passage], rank: Callable[[Passage], int | None]) -> list[Passage]:
    ranked = [(position, passage) for passage in passages if (position := rank(passage)) is not None]
    return [passage for _, passage in sorted(ranked, key=lambda pair: pair[0])]


def passage_names(question: EvalQuestion, passage: Passage) -> list[str]:
    """What a found passage counts as: the gold that it is, or else something that no gold is called.

    Where gold is a whole document, every passage counts as its document. Where gold is a quote, a passage counts as
    each quote that it holds, and as itself when it holds none.
    """
    if all(gold.quote is None for gold in question.gold):
        return [passage.source]
    held = [
        gold_name(gold)
        for gold in sorted(question.gold, key=gold_name)
        if gold.source == passage.source and (gold.quote is None or gold.quote in passage.text)
    ]
    return held or [passage.chunk_id]


def gold_name(gold: Gold) -> str:
    return gold.source if gold.quote is None else f"{gold.source}: {gold.quote}"


def _ranking(passages: Iterable[Passage], question: EvalQuestion) -> list[str]:
    return list(dict.fromkeys(name for passage in passages for name in passage_names(question, passage)))


def figures(scored: Sequence[Scored], *, min_score: float, config: dict[str, Any]) -> dict[str, Any]:
    """The contract's JSON: per arm and fused, and refusal where the set has unanswerable questions."""
    answerable = [row for row in scored if row.question.gold]
    result: dict[str, Any] = {
        "queries": len(answerable),
        **_arm([(row.fused, row) for row in answerable]),
        "arms": {
            "vector": _arm([(row.vector, row) for row in answerable]),
            "keyword": _arm([(row.keyword, row) for row in answerable]),
        },
        "config": config,
    }
    unanswerable = [row for row in scored if not row.question.gold]
    if unanswerable:
        result["refusal"] = _refusal(answerable, unanswerable, min_score=min_score)
    return result


def _arm(rows: Sequence[tuple[list[str], Scored]]) -> dict[str, float]:
    pairs = [(ranking, {gold_name(gold) for gold in row.question.gold}) for ranking, row in rows]
    recalls = {
        f"recall@{k}": round(mean([recall_at_k(ranking, gold, k=k) for ranking, gold in pairs]), 4)
        for k in (3, 5, 10, DEPTH)
    }
    return {
        **recalls,
        "mrr@10": round(mean([reciprocal_rank(ranking, gold, k=10) for ranking, gold in pairs]), 4),
        "ndcg@10": round(mean([ndcg_at_k(ranking, gold, k=10) for ranking, gold in pairs]), 4),
    }


def _refusal(answerable: Sequence[Scored], unanswerable: Sequence[Scored], *, min_score: float) -> dict[str, float]:
    """Rates at ``min_score``, and the area under the curve of the best score over all thresholds."""
    kept = [row.best_score if row.best_score is not None else -1.0 for row in answerable]
    refused = [row.best_score if row.best_score is not None else -1.0 for row in unanswerable]
    return {
        "unanswerable": len(unanswerable),
        "min_score": min_score,
        "false_refusal_rate": round(mean([float(score < min_score) for score in kept]), 4),
        "false_answer_rate": round(mean([float(score >= min_score) for score in refused]), 4),
        "auc": round(mean([(high > low) + (high == low) / 2 for high in kept for low in refused]), 4),
    }


def misses(scored: Sequence[Scored], *, k: int = 5) -> list[tuple[str, str, int | None]]:
    """(id, question, rank of the first gold) of the answerable questions whose gold isn't wholly in the first ``k``."""
    rows = []
    for row in scored:
        gold = {gold_name(each) for each in row.question.gold}
        if gold and recall_at_k(row.fused, gold, k=k) < 1:
            rows.append((row.question.id, row.question.text, first_rank(row.fused, gold)))
    return rows


@contextmanager
def database(embedder: Embedder) -> Iterator[PostgresChunkStore]:
    """The store of an empty migrated database on a Postgres that was started for it and goes with it."""
    server = choose(ways()).server
    name = f"citewell_eval_{secrets.token_hex(4)}"
    try:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
            try:
                schema = PostgresSchema(server.url_of(name))
                migrate(schema, MIGRATIONS)
                ensure_generation(schema, model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False)
                with closing(PostgresChunkStore(server.url_of(name))) as store:
                    yield store
            finally:
                admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
    finally:
        server.stop()


def _progress(items: Sequence[_Item], label: str) -> Iterator[_Item]:
    yield from tqdm(items, desc=label, unit="", leave=False, disable=None)  # None: no bar where nobody watches
