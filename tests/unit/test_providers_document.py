"""``docs/providers.md`` names what the code knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.values import TextKind
from citewell.edges import aws, bedrock_embedder, function_embedder, retrying
from citewell.edges.bedrock_embedder import FAMILIES

DOCUMENT = (Path(__file__).parents[2] / "docs/providers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FAMILIES)
def test_each_bedrock_model_stands_there_with_its_dimensions(name: str) -> None:
    [row] = [line for line in DOCUMENT.splitlines() if line.startswith("| `bedrock`") and name in line]
    assert f"| {', '.join(map(str, FAMILIES[name].dimensions))} |" in row


def test_its_times_are_the_codes() -> None:
    question, passages = (retrying.EMBEDDING_PATIENCE[kind].seconds for kind in (TextKind.QUERY, TextKind.PASSAGE))
    bedrock = question + aws.CONNECT_SECONDS + bedrock_embedder.READ_SECONDS
    function = function_embedder.PATIENCE[TextKind.QUERY].seconds + aws.CONNECT_SECONDS + function_embedder.READ_SECONDS
    sentence = " ".join(DOCUMENT.split())
    assert (
        f"tried for {question:.0f} seconds (Bedrock: at most {bedrock:.0f}, the embed function: at most "
        f"{function:.0f}), a batch of passages for {passages:.0f};"
    ) in sentence
