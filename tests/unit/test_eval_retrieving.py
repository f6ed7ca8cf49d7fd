from __future__ import annotations

from citewell.core.values import Passage
from eval.dataset import EvalQuestion, Gold
from eval.retrieving import passage_names


def _passage(chunk_id: str, source: str, text: str) -> Passage:
    return Passage(chunk_id, source, "", (), None, 0, 0, len(text), text, 0.5)


def test_a_passage_counts_as_the_quotes_that_it_holds() -> None:
    fee, rate = Gold("fees.md", "25 EUR"), Gold("fees.md", "2 %")
    question = EvalQuestion("q", "?", frozenset({fee, rate}))
    both = _passage("c1", "fees.md", "A late fee of 25 EUR, and 2 % a month.")
    other = _passage("c2", "fees.md", "Nothing of the kind.")
    elsewhere = _passage("c3", "travel.md", "25 EUR")
    assert set(passage_names(question, both)) == {"fees.md: 25 EUR", "fees.md: 2 %"}
    assert passage_names(question, other) == ["c2"]
    assert passage_names(question, elsewhere) == ["c3"]


def test_where_documents_are_gold_a_passage_counts_as_its_document() -> None:
    question = EvalQuestion("q", "?", frozenset({Gold("fees.md")}))
    assert passage_names(question, _passage("c1", "fees.md", "text")) == ["fees.md"]
