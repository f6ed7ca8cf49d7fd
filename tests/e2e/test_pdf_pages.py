"""Real PDFs through the bucket: questions reach the page that answers them, and citations name it.

Runs where the sets lie beside the repository; the first lines of a test run say whether they do.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from eval.dataset import EvalQuestion, read_retrieval_set
from tests.e2e.conftest import RETRIEVAL_SETS, LocalCloud

pytestmark = pytest.mark.usefixtures("keyless")

NORTHWIND = RETRIEVAL_SETS / "northwind"
PREFIX = "northwind-pdf/"
REFERENCE_RECALL = 0.858
"""Recall@5 of the reference recipe, which was given the text of each page as a document of its own."""

SECONDS = 480.0


@pytest.fixture(scope="module")
def questions(cloud: LocalCloud) -> list[EvalQuestion]:
    """The answerable ones, once the PDFs they are about are indexed."""
    pdfs = sorted((NORTHWIND / "pdf").glob("*.pdf"))
    pages = dict.fromkeys((pdf.name for pdf in pdfs), 0)
    for line in (NORTHWIND / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        page = json.loads(line)
        pages[page["pdf"]] = max(pages[page["pdf"]], page["page"])
    for pdf in pdfs:
        cloud.upload(PREFIX + pdf.name, pdf.read_bytes())
    cloud.eventually(cloud.is_idle, "the PDFs are indexed", seconds=SECONDS)
    for pdf in pdfs:
        document = cloud.api.document(PREFIX + pdf.name)
        assert document is not None
        assert (document["status"], document["error"]) == ("READY", None)
        assert document["pages"] >= pages[pdf.name]
    return [question for question in read_retrieval_set(NORTHWIND).questions if question.gold]


def test_questions_reach_their_page_at_least_as_often_as_with_the_reference_recipe(
    cloud: LocalCloud, questions: list[EvalQuestion]
) -> None:
    def recall(question: EvalQuestion) -> float:
        response = cloud.post("/search", {"question": question.text, "sources": [PREFIX], "top_k": 5})
        found = {f"{each['source'].removeprefix(PREFIX)}#page={each['page']}" for each in response.json()["passages"]}
        gold = {each.source for each in question.gold}
        return len(found & gold) / len(gold)

    with ThreadPoolExecutor(max_workers=2) as workers:
        recalls = list(workers.map(recall, questions))
    assert len(recalls) == 201
    assert sum(recalls) / len(recalls) >= REFERENCE_RECALL


def test_a_citation_names_its_page(cloud: LocalCloud, questions: list[EvalQuestion]) -> None:
    response = cloud.post("/ask", {"question": questions[0].text, "sources": [PREFIX]}).json()
    assert response["citations"]
    for each in response["citations"]:
        chunks = cloud.get(f"/documents/{each['source']}/chunks?offset={each['chunk']}&limit=1").json()["chunks"]
        assert (each["page"], each["text"]) == (chunks[0]["page"], chunks[0]["text"])
        assert each["page"] >= 1
