"""A second cloud beside the first, with the embedder that speaks the OpenAI format and the bundled reranker."""

from __future__ import annotations

from tests.e2e.conftest import LocalCloud, local_cloud
from tests.servers import embeddings_server, embeds, letter_counts

DIMENSIONS = 64


def test_a_second_cloud_with_an_openai_compatible_embedder_and_a_reranker_runs_beside_the_first(
    cloud: LocalCloud,
) -> None:
    with embeddings_server([embeds(dimensions=DIMENSIONS, vector=letter_counts)]) as api:
        choice = {
            "CITEWELL_EMBEDDER": "openai",
            "CITEWELL_EMBEDDER_URL": api.url,
            "CITEWELL_EMBEDDER_MODEL": "letters",
            "CITEWELL_EMBEDDER_DIMENSIONS": str(DIMENSIONS),
            "CITEWELL_MIN_SCORE": "0.1",
            "OPENAI_API_KEY": "sk-embedder-of-the-test",
            "CITEWELL_RERANKER": "local",
            "CITEWELL_RERANK_CANDIDATES": "5",
            "CITEWELL_RERANK_SECONDS": "10",
        }
        with local_cloud(choice) as second:
            answer = second.api.ask("What is the meal limit when travelling?")
            found = second.post("/search", {"question": "What is the meal limit when travelling?"}).json()["passages"]
            stacks = (cloud.stack, second.stack)
            assert cloud.api.is_healthy()

        assert answer["citations"]
        scores = [passage["rerankScore"] for passage in found]
        assert scores == sorted(scores, reverse=True)
        assert "60 EUR" in found[0]["text"], "which counting letters doesn't see"
        assert {request.path for request in api.requests} == {"/v1/embeddings"}
        assert {request.headers["authorization"] for request in api.requests} == {"Bearer sk-embedder-of-the-test"}
        assert {request.body["model"] for request in api.requests} == {"letters"}
        assert stacks[0].endpoint_url != stacks[1].endpoint_url
        assert cloud.api.is_healthy()
