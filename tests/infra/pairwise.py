"""Choices of options in which every two values that can stand together do, for tests that can't try all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

from citewell.core.keys import Tenancy
from citewell.core.refusing import RefusalFit
from infra.options import (
    Auth,
    DatabaseClass,
    Egress,
    EmbedderChoice,
    GeneratorChoice,
    OcrChoice,
    OptionError,
    Options,
    Removal,
    RerankerChoice,
)

Values = Mapping[str, Any]
"""Options that are set together."""
Row = Mapping[str, str]
"""For each factor the name of one of its values."""
Pair = frozenset[tuple[str, str]]

OPENAI: Values = {
    "embedder": EmbedderChoice.OPENAI,
    "embedder_model": "text-embedding-3-small",
    "embedder_dimensions": 1536,
    "embedder_url": "http://embeddings.example.com:8080/v1",
    "min_score": 0.42,
}
VOYAGE: Values = {
    "embedder": EmbedderChoice.VOYAGE,
    "embedder_model": "voyage-3.5",
    "embedder_dimensions": 1024,
    "refusal_fit": RefusalFit("voyage-3.5", coverage_weight=0.2, threshold=0.42),
}
TITAN: Values = {
    "embedder": EmbedderChoice.BEDROCK,
    "embedder_model": "amazon.titan-embed-text-v2:0",
    "embedder_dimensions": 1024,
    "min_score": 0.42,
}
CLAUDE_ON_BEDROCK: Values = {
    "generator": GeneratorChoice.BEDROCK,
    "model": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
}
TEI: Values = {
    "reranker": RerankerChoice.TEI,
    "reranker_model": "bge-reranker-base",
    "reranker_url": "https://rerank.example.com:8443",
    "rerank_candidates": 30,
    "rerank_seconds": 1.5,
}
TESSERACT = "arn:aws:lambda:eu-west-1:111122223333:layer:tesseract:1"
ISSUER: Values = {"jwt_issuer": "https://login.example.com/", "jwt_audience": ("citewell",)}

CONSTRAINED: Mapping[str, Mapping[str, Values]] = {
    "embedder": {"local": {}, "openai": OPENAI, "voyage": VOYAGE, "titan": TITAN},
    "reranker": {
        "unranked": {},
        "reranked": {"reranker": RerankerChoice.LOCAL},
        "tei": TEI,
    },
    "generator": {
        "claude": {},
        "bedrock": CLAUDE_ON_BEDROCK,
        "extractive": {"generator": GeneratorChoice.EXTRACTIVE},
    },
    "egress": {"unset": {}, **{each.value: {"egress": each} for each in Egress}},
    "auth": {
        "pool": {},
        "issuer": ISSUER,
        "iam": {"auth": Auth.IAM},
        "nobody": {"auth": Auth.NONE, "allow_anonymous": True},
    },
    "tenancy": {each.value: {"tenancy": each} for each in Tenancy},
}
"""Factors whose values exclude some of each other's."""

FREE: Mapping[str, Mapping[str, Values]] = {
    "bucket": {"made": {}, "existing": {"bucket_name": "documents-of-example"}},
    "removal": {each.value: {"removal_policy": each} for each in Removal},
    "zones": {"one": {}, "two": {"database_multi_az": True}},
    "database": {"small": {}, "large": {"database_class": DatabaseClass.R7G_LARGE, "database_storage": 500}},
    "ingest": {"usual": {}, "large": {"ingest_memory": 10_240, "extract_seconds": 240}},
    "ocr": {"none": {}, "tesseract": {"ocr": OcrChoice.TESSERACT, "ocr_layer": TESSERACT}},
    "from": {"nothing": {}, "snapshot": {"database_snapshot": "before-the-upgrade"}},
    "alarms": {"shown": {}, "sent": {"alarm_email": "operations@example.com"}},
    "cors": {"none": {}, "one": {"cors_origins": ("https://people.example.com",)}},
    "tracing": {"off": {}, "on": {"tracing": True}},
    "logs": {"quiet": {}, "questions": {"log_questions": True}},
    "index": {"kept": {}, "replaced": {"replace_index": True}},
    "contact": {"nobody": {}, "people": {"contact": "people@example.com"}},
}
"""Factors whose values go with everything."""

FACTORS = {**CONSTRAINED, **FREE}


def options_of(row: Row) -> Options:
    """Raises OptionError when the row's values contradict each other."""
    chosen: dict[str, Any] = {}
    for factor, name in row.items():
        chosen |= FACTORS[factor][name]
    return Options(**chosen)


def possible_cores() -> list[Row]:
    """Every choice of the constrained factors that makes a deployment."""
    rows = [dict(zip(CONSTRAINED, names, strict=True)) for names in product(*CONSTRAINED.values())]
    return [row for row in rows if _possible(row)]


def pairs_of(row: Row) -> set[Pair]:
    return {frozenset(pair) for pair in combinations(row.items(), 2)}


def possible_pairs() -> set[Pair]:
    """Every two values of different factors that stand together in some deployment."""
    found = {pair for core in possible_cores() for pair in pairs_of(core)}
    values = [(factor, name) for factor, names in FACTORS.items() for name in names]
    return found | {
        frozenset({one, other})
        for one, other in combinations(values, 2)
        if one[0] != other[0] and not (one[0] in CONSTRAINED and other[0] in CONSTRAINED)
    }


def covering_rows() -> Iterator[Row]:
    """Rows that hold every possible pair between them; greedy, so few but not the fewest, and the same every time."""
    missing, cores = possible_pairs(), possible_cores()
    while missing:
        row = max(_candidates(missing, cores), key=lambda each: len(pairs_of(each) & missing))
        missing -= pairs_of(row)
        yield row


def _candidates(missing: set[Pair], cores: Sequence[Row]) -> Iterator[Row]:
    """Rows that hold one of the hardest missing pairs; among equals, those first whose core alone adds more."""
    promising = sorted(cores, key=lambda core: -len(pairs_of(core) & missing))
    for pair in sorted(missing, key=_hardest_first)[:4]:
        wanted = dict(pair)
        for core in promising:
            if {**core, **wanted}.items() >= core.items():
                yield _completed({**core, **wanted}, missing)


def _hardest_first(pair: Pair) -> tuple[int, list[tuple[str, str]]]:
    """Factors with many values have the most pairs between them: these decide how many rows it takes."""
    return -prod(len(FACTORS[factor]) for factor, _ in pair), sorted(pair)


def _completed(row: Row, missing: set[Pair]) -> Row:
    """``row`` with that value of each free factor it lacks that adds the most pairs to those before it."""
    complete = dict(row)
    for factor, names in FREE.items():
        if factor not in complete:
            complete[factor] = max(names, key=lambda name: _gain(complete, (factor, name), missing))
    return complete


def _gain(row: Row, value: tuple[str, str], missing: set[Pair]) -> int:
    return sum(frozenset({each, value}) in missing for each in row.items())


def _possible(row: Row) -> bool:
    try:
        options_of(row)
    except OptionError:
        return False
    return True


def label(row: Row) -> str:
    """A test's id: the values that aren't the first of their factor."""
    changed: Sequence[str] = [name for factor, name in row.items() if name != next(iter(FACTORS[factor]))]
    return "-".join(changed) or "default"
