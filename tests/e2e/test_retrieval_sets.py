"""Real texts through the bucket: everything is indexed, and real questions find their documents.

Runs where the sets lie beside the repository; the first lines of a test run say whether they do.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from email.header import Header

import pytest

from eval.dataset import CorpusDocument, read_retrieval_set
from tests.e2e.conftest import RETRIEVAL_SETS, LocalCloud

pytestmark = pytest.mark.usefixtures("keyless")

SECONDS = 480.0


def test_of_the_first_twenty_questions_enough_find_their_document_in_the_top_five(cloud: LocalCloud) -> None:
    dataset = read_retrieval_set(RETRIEVAL_SETS / "workarena")
    prefix = "workarena/"

    def upload(document: CorpusDocument) -> None:
        metadata = {name: Header(value, "utf-8").encode() for name, value in document.metadata.items()}
        cloud.upload(prefix + document.source, document.data, **metadata)

    with ThreadPoolExecutor(max_workers=4) as workers:
        list(workers.map(upload, dataset.documents))
    cloud.eventually(cloud.is_idle, "workarena is indexed", seconds=SECONDS)
    documents = [cloud.api.document(prefix + document.source) for document in dataset.documents]
    assert [document and document["status"] for document in documents] == ["READY"] * len(dataset.documents)

    found = 0
    for question in [question for question in dataset.questions if question.gold][:20]:
        response = cloud.post("/search", {"question": question.text, "sources": [prefix], "top_k": 5})
        sources = {passage["source"].removeprefix(prefix) for passage in response.json()["passages"]}
        found += bool(sources & {gold.source for gold in question.gold})
    assert found >= 17
