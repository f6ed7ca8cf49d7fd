from __future__ import annotations

import pytest

from infra.local.choices import choices
from infra.local.errors import ChoiceError


def test_nothing_set_needs_no_key() -> None:
    chosen = choices({"PATH": "/usr/bin", "ANTHROPIC_API_KEY": " "}, secure=False)

    assert chosen.context == {"target": "local", "auth": "none", "generator": "extractive"}
    assert chosen.keys == {}


def test_a_key_chooses_claude_and_stands_in_no_option() -> None:
    chosen = choices({"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}, secure=False)

    assert chosen.context == {
        "target": "local",
        "auth": "none",
        "generator": "claude",
        "anthropicBaseUrl": "http://127.0.0.1:8080",
    }
    assert chosen.keys == {"AnthropicApiKeySecretArn": "sk-test"}
    assert "sk-test" not in repr(chosen)


def test_options_of_claude_are_left_out_without_its_key() -> None:
    chosen = choices(
        {"ANTHROPIC_BASE_URL": "https://gateway.example", "CITEWELL_MODEL": "claude-haiku-4-5"}, secure=False
    )

    assert chosen.context == {"target": "local", "auth": "none", "generator": "extractive"}


def test_an_openai_compatible_embedder_with_its_key() -> None:
    chosen = choices(
        {
            "CITEWELL_EMBEDDER": "openai",
            "CITEWELL_EMBEDDER_URL": "http://localhost:11434/v1",
            "CITEWELL_EMBEDDER_MODEL": "some-model",
            "CITEWELL_EMBEDDER_DIMENSIONS": "768",
            "CITEWELL_MIN_SCORE": "0.5",
            "OPENAI_API_KEY": "sk-embed",
        },
        secure=False,
    )

    assert chosen.context == {
        "target": "local",
        "auth": "none",
        "generator": "extractive",
        "embedder": "openai",
        "embedderUrl": "http://localhost:11434/v1",
        "embedderModel": "some-model",
        "embedderDimensions": "768",
        "minScore": "0.5",
    }
    assert chosen.keys == {"EmbedderApiKeySecretArn": "sk-embed"}


def test_an_openai_key_alone_changes_nothing() -> None:
    assert choices({"OPENAI_API_KEY": "sk-embed"}, secure=False).keys == {}


def test_voyage_takes_its_own_key() -> None:
    environment = {"CITEWELL_EMBEDDER": "voyage", "VOYAGE_API_KEY": "pa-embed", "OPENAI_API_KEY": "sk-embed"}

    assert choices(environment, secure=False).keys == {"EmbedderApiKeySecretArn": "pa-embed"}


def test_a_reranker_with_its_options() -> None:
    environment = {"CITEWELL_RERANKER": "local", "CITEWELL_RERANK_CANDIDATES": "10", "CITEWELL_RERANK_SECONDS": "5"}
    chosen = choices({**environment, "COHERE_API_KEY": "co-rerank"}, secure=False)

    assert chosen.context == {
        "target": "local",
        "auth": "none",
        "generator": "extractive",
        "reranker": "local",
        "rerankCandidates": "10",
        "rerankSeconds": "5",
    }
    assert chosen.keys == {}


@pytest.mark.parametrize(("reranker", "key"), [("cohere", "co-rerank"), ("jina", "jina-rerank"), ("tei", "any")])
def test_each_reranking_api_takes_its_own_key(reranker: str, key: str) -> None:
    keys = {"COHERE_API_KEY": "co-rerank", "JINA_API_KEY": "jina-rerank", "TEI_API_KEY": "any"}

    assert choices({"CITEWELL_RERANKER": reranker, **keys}, secure=False).keys == {"RerankerApiKeySecretArn": key}


def test_a_secure_cloud_asks_for_tokens() -> None:
    assert choices({}, secure=True).context["auth"] == "jwt"


def test_bedrock_is_refused_as_there_is_none_here() -> None:
    with pytest.raises(ChoiceError, match="emulator"):
        choices({"CITEWELL_EMBEDDER": "bedrock"}, secure=False)
