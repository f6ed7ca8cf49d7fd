from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.edges.bedrock_embedder import BedrockEmbedder
from citewell.edges.claude_generator import ClaudeGenerator
from citewell.edges.extractive_generator import ExtractiveGenerator
from citewell.edges.function_embedder import FunctionEmbedder
from citewell.edges.function_reranker import FunctionReranker
from citewell.edges.http_reranker import HttpReranker
from citewell.edges.local_embedder import LocalEmbedder
from citewell.edges.local_reranker import LocalReranker
from citewell.edges.openai_embedder import OpenAIEmbedder
from citewell.edges.postgres_login import SecretLogin, TokenLogin
from citewell.edges.voyage_embedder import VoyageEmbedder
from citewell.errors import ConfigurationError
from citewell.settings import Settings
from citewell.wiring import Wiring

OPENAI: dict[str, Any] = {"embedder": "openai", "embedder_model": "some-model", "embedder_dimensions": 8}
VOYAGE: dict[str, Any] = {
    "embedder": "voyage",
    "embedder_model": "voyage-4",
    "embedder_dimensions": 1024,
    "embedder_api_key_secret_arn": "arn",
}
BEDROCK: dict[str, Any] = {
    "embedder": "bedrock",
    "embedder_model": "amazon.titan-embed-text-v2:0",
    "embedder_dimensions": 512,
}


def test_each_embedder_is_chosen_by_its_name() -> None:
    local = Settings(embedder="local", model_dir="/model")
    function = Settings(
        embedder="function", embed_function="embed", embedder_model="m", embedder_dimensions=384, model_dir="/model"
    )
    assert isinstance(Wiring(local).embedder, LocalEmbedder)
    assert isinstance(Wiring(function).embedder, FunctionEmbedder)
    hosted = Wiring(Settings(**OPENAI)).embedder
    assert type(hosted) is OpenAIEmbedder
    assert (hosted.model_id, hosted.dimensions) == ("some-model", 8)
    assert type(Wiring(Settings(**VOYAGE)).embedder) is VoyageEmbedder
    assert isinstance(Wiring(Settings(**BEDROCK)).embedder, BedrockEmbedder)


@pytest.mark.parametrize("chosen", [OPENAI, VOYAGE, BEDROCK], ids=lambda chosen: chosen["embedder"])
def test_settings_reach_a_hosted_embedder(chosen: dict[str, Any]) -> None:
    embedder = Wiring(Settings(**chosen, embedder_batch_size=3, embedder_max_tokens=200)).embedder
    assert (embedder.model_id, embedder.dimensions) == (chosen["embedder_model"], chosen["embedder_dimensions"])
    assert (embedder.batch_size, embedder.max_tokens) == (3, 200)


def test_each_generator_is_chosen_by_its_name() -> None:
    extractive = Wiring(Settings(**OPENAI, min_score=0.4, generator="extractive"))
    claude = Wiring(Settings(generator="claude", anthropic_api_key_secret_arn="arn"))
    bedrock = Wiring(Settings(generator="bedrock", model="eu.anthropic.claude-haiku-4-5-20251001-v1:0"))
    assert isinstance(extractive.generator, ExtractiveGenerator)
    assert isinstance(claude.generator, ClaudeGenerator), "no secret is read before the first answer"
    assert isinstance(bedrock.generator, ClaudeGenerator), "nor credentials"


@pytest.mark.parametrize("chosen", [OPENAI, VOYAGE, BEDROCK], ids=lambda chosen: chosen["embedder"])
def test_another_embedder_needs_a_threshold_of_its_own(chosen: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="set CITEWELL_MIN_SCORE"):
        _ = Wiring(Settings(**chosen)).refusal
    assert Wiring(Settings(**chosen, min_score=0.4)).refusal.threshold == 0.4


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (Settings(embedder="local"), "CITEWELL_MODEL_DIR"),
        (Settings(embedder="function"), "CITEWELL_EMBED_FUNCTION"),
        (Settings(embedder="openai"), "CITEWELL_EMBEDDER_MODEL"),
        (Settings(embedder="openai", embedder_model="m"), "CITEWELL_EMBEDDER_DIMENSIONS"),
        (Settings(embedder="voyage"), "CITEWELL_EMBEDDER_MODEL"),
        (
            Settings(embedder="voyage", embedder_model="m", embedder_dimensions=8),
            "CITEWELL_EMBEDDER_API_KEY_SECRET_ARN",
        ),
        (Settings(embedder="bedrock"), "CITEWELL_EMBEDDER_MODEL"),
    ],
)
def test_what_an_embedder_lacks_is_named(settings: Settings, missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{missing} is not set"):
        _ = Wiring(settings).embedder


def test_each_reranker_is_chosen_by_its_name() -> None:
    function = Settings(reranker="function", rerank_function="rerank", reranker_model="minilm@1")
    assert Wiring(Settings()).reranker is None
    assert isinstance(Wiring(Settings(reranker="local", reranker_model_dir="/model")).reranker, LocalReranker)
    assert isinstance(Wiring(function).reranker, FunctionReranker)
    for name in ("cohere", "jina", "tei"):
        chosen = Wiring(Settings(reranker=name, reranker_model="m", reranker_url="https://rerank.example.com")).reranker
        assert isinstance(chosen, HttpReranker)
        assert chosen.model_id == "m"


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (Settings(reranker="local"), "CITEWELL_RERANKER_MODEL_DIR"),
        (Settings(reranker="function"), "CITEWELL_RERANK_FUNCTION"),
        (Settings(reranker="function", rerank_function="rerank"), "CITEWELL_RERANKER_MODEL"),
        (Settings(reranker="cohere"), "CITEWELL_RERANKER_MODEL"),
        (Settings(reranker="jina"), "CITEWELL_RERANKER_MODEL"),
        (Settings(reranker="tei", reranker_model="m"), "CITEWELL_RERANKER_URL"),
    ],
)
def test_what_a_reranker_lacks_is_named(settings: Settings, missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{missing} is not set"):
        _ = Wiring(settings).reranker


def test_passages_are_reranked_only_where_that_was_chosen() -> None:
    stack: dict[str, Any] = {"database_url": "postgresql://here/citewell", "embedder": "local", "model_dir": "/model"}
    assert Wiring(Settings(**stack)).search_passages.rerank is None
    on = Wiring(Settings(**stack, reranker="local", reranker_model_dir="/model", rerank_candidates=7))
    assert on.search_passages.rerank is on.rerank_passages
    assert on.rerank_passages is not None
    assert on.rerank_passages.candidates == 7


def test_each_login_is_chosen_by_its_settings() -> None:
    server: dict[str, Any] = {"database_host": "db.example.com", "database_ca": "/ca.pem"}
    url = Wiring(Settings(database_url="postgresql://here/citewell")).database
    token = Wiring(Settings(**server, database_auth="iam", database_user="reader", database_region="r")).database
    secret = Wiring(Settings(**server, database_secret_arn="arn")).database
    assert url.parameters() == {"host": "here", "dbname": "citewell"}
    assert (type(token), type(secret)) == (TokenLogin, SecretLogin), "no secret is read before the first connection"


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (Settings(), "CITEWELL_DATABASE_HOST"),
        (Settings(database_host="h"), "CITEWELL_DATABASE_SECRET_ARN"),
        (Settings(database_host="h", database_auth="iam"), "CITEWELL_DATABASE_USER"),
        (Settings(database_host="h", database_auth="iam", database_user="u"), "CITEWELL_DATABASE_REGION"),
    ],
)
def test_what_a_login_lacks_is_named(settings: Settings, missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{missing} is not set"):
        _ = Wiring(settings).database


def test_the_local_model_folder_of_the_repository_is_the_one_that_setup_fills() -> None:
    assert (Path(__file__).parents[2] / "build/model/bge-small-en-v1.5/model.onnx").is_file()
