"""Questions to the stack as `make up` leaves it: without a key, with the sample handbook."""

from __future__ import annotations

import re

import pytest

from tests.e2e.conftest import LocalCloud

pytestmark = pytest.mark.usefixtures("keyless")


def test_the_first_question_is_answered_with_a_citation_that_holds_the_fact(cloud: LocalCloud) -> None:
    answer = cloud.api.ask("What is the meal limit when travelling?")

    assert answer["model"] == "extractive"
    assert re.search(r"\[1\]", answer["answer"])
    first = answer["citations"][0]
    assert first["n"] == 1
    assert first["source"].startswith("handbook/")
    assert 0 < first["score"] <= 1


def test_up_prints_the_answer_and_its_citations(cloud: LocalCloud) -> None:
    answer = cloud.api.ask("What is the meal limit when travelling?")

    printed = " ".join(cloud.printed.split())
    assert " ".join(answer["answer"].split()) in printed
    for citation in answer["citations"]:
        assert f"[{citation['n']}] {citation['source']}" in printed


def test_what_the_documents_do_not_tell_is_refused_with_score_and_threshold(cloud: LocalCloud) -> None:
    answer = cloud.api.ask("Who won the 2018 World Cup?")

    assert answer["answer"].startswith("I don't know based on the available documents.")
    assert answer["citations"] == []
    assert re.fullmatch(r"best score -?\d\.\d+ below threshold \d\.\d+", answer["reason"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"question": " "}, 400, id="empty question"),
        pytest.param({"question": "x" * 501}, 400, id="question too long"),
        pytest.param({"question": "Leave?", "topk": 3}, 400, id="unknown field"),
        pytest.param(["Leave?"], 400, id="no object"),
    ],
)
def test_a_wrong_request_is_a_problem_document(cloud: LocalCloud, body: object, status: int) -> None:
    response = cloud.post("/ask", body)

    assert response.status_code == status
    assert response.headers["content-type"].startswith("application/problem+json")
    assert response.json()["status"] == status


def test_search_shows_the_ranked_passages_without_an_answer(cloud: LocalCloud) -> None:
    found = cloud.post("/search", {"question": "What is the meal limit when travelling?", "top_k": 3}).json()

    assert "answer" not in found
    assert [passage["rank"] for passage in found["passages"]] == [1, 2, 3]
    assert all(passage["source"].startswith("handbook/") for passage in found["passages"])


def test_an_unknown_document_is_not_found(cloud: LocalCloud) -> None:
    assert cloud.get("/documents/handbook/there-is-none.md").status_code == 404


def test_the_stack_says_that_it_is_healthy(cloud: LocalCloud) -> None:
    assert cloud.get("/health").json() == {"status": "ok"}
