"""A wrong choice fails at synth, with a message that names the key and says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.keys import Tenancy
from citewell.edges import local_embedder
from infra.model import MODEL_SHA256
from infra.options import (
    EmbedderChoice,
    GeneratorChoice,
    OptionError,
    Options,
    Removal,
    Target,
    option_keys,
)

HOSTED = {"embedder": "openai", "embedderModel": "m", "embedderDimensions": "8", "minScore": "0.5"}


def test_without_a_context_the_defaults_are_chosen() -> None:
    assert Options.from_context({}) == Options()


def test_cdk_json_shows_every_key_with_its_default() -> None:
    context = json.loads((Path(__file__).parents[2] / "cdk.json").read_text(encoding="utf-8"))["context"]
    ours = {key: value for key, value in context.items() if not key.startswith("@")}
    assert tuple(ours) == option_keys()
    assert Options.from_context(context) == Options()


def test_every_key_is_read() -> None:
    context = {
        "target": "local",
        "embedder": "openai",
        "embedderModel": "text-embedding-3-small",
        "embedderDimensions": "1536",
        "embedderUrl": "https://embeddings.example.com/v1/",
        "generator": "claude",
        "model": "claude-sonnet-5",
        "anthropicBaseUrl": "http://127.0.0.1:8080",
        "contact": " people@example.com ",
        "minScore": "0.25",
        "tenancy": "prefix",
        "replaceIndex": "true",
        "removalPolicy": "destroy",
    }
    assert tuple(context) == option_keys()
    assert Options.from_context(context) == Options(
        target=Target.LOCAL,
        embedder=EmbedderChoice.OPENAI,
        embedder_model="text-embedding-3-small",
        embedder_dimensions=1536,
        embedder_url="https://embeddings.example.com/v1",
        generator=GeneratorChoice.CLAUDE,
        model="claude-sonnet-5",
        anthropic_base_url="http://127.0.0.1:8080",
        contact="people@example.com",
        min_score=0.25,
        tenancy=Tenancy.PREFIX,
        replace_index=True,
        removal_policy=Removal.DESTROY,
    )


def test_values_may_come_as_text_or_as_json() -> None:
    as_json = {**HOSTED, "embedderDimensions": 8, "minScore": 0.5, "replaceIndex": False}
    assert Options.from_context(as_json) == Options.from_context({**HOSTED, "replaceIndex": "false"})


def test_what_the_cdk_itself_puts_into_the_context_is_left_alone() -> None:
    context = {"@aws-cdk/core:stackRelativeExports": True, "aws:cdk:version-reporting": False}
    assert Options.from_context(context) == Options()


def test_the_index_is_made_for_the_local_embedders_own_id() -> None:
    options = Options()
    assert options.embedder_id == local_embedder.model_id(MODEL_SHA256)
    assert options.vector_dimensions == local_embedder.DIMENSIONS


def test_the_index_is_made_for_the_hosted_embedders_model() -> None:
    options = Options.from_context(HOSTED)
    assert (options.embedder_id, options.vector_dimensions) == ("m", 8)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"embeder": "local"}, "unknown option embeder: did you mean embedder?"),
        ({"colour": "red"}, "unknown option colour: there are target, embedder, "),
        ({"target": "azure"}, "target must be one of aws, local, not 'azure'"),
        ({"embedder": "Local"}, "embedder must be one of local, openai, not 'Local'"),
        ({"generator": "gpt"}, "generator must be one of claude, extractive, not 'gpt'"),
        ({"tenancy": "both"}, "tenancy must be one of single, prefix, not 'both'"),
        ({"removalPolicy": "snapshot"}, "removalPolicy must be one of retain, destroy, not 'snapshot'"),
        ({"replaceIndex": "yes"}, "replaceIndex must be true or false, not 'yes'"),
        ({"minScore": "high"}, "minScore must be a number, not 'high'"),
        ({"minScore": "1.5"}, "minScore must be between -1 and 1, not 1.5"),
        ({"minScore": "nan"}, "minScore must be between -1 and 1, not nan"),
        ({**HOSTED, "embedderDimensions": "0"}, "embedderDimensions must be between 1 and 2000, not 0"),
        ({**HOSTED, "embedderDimensions": "3072"}, "embedderDimensions must be between 1 and 2000, not 3072"),
        ({**HOSTED, "embedderDimensions": "1.5"}, "embedderDimensions must be a whole number, not 1.5"),
        ({"contact": 7}, "contact must be text, not 7"),
        ({"contact": "  "}, "contact must be text, not '  '"),
        ({"embedderModel": "m"}, "embedder=local brings its own model: leave embedderModel out"),
        ({"embedderUrl": "https://e.example.com"}, "embedder=local brings its own model: leave embedderUrl out"),
        ({"embedder": "openai"}, "embedder=openai needs embedderModel"),
        ({"embedder": "openai", "embedderModel": "m"}, "embedder=openai needs embedderDimensions"),
        ({**HOSTED, "minScore": ""}, "embedder=openai needs minScore"),
        ({"generator": "extractive", "model": "m"}, "generator=extractive calls no model: leave model out"),
    ],
    ids=str,
)
def test_a_choice_that_cannot_be_deployed_is_refused(context: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        Options.from_context(context)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    "url",
    [
        "http://gateway.example.com",
        "ftp://127.0.0.1",
        "gateway.example.com",
        "https://",
        "https://user:secret@gateway.example.com",
        "https://gateway.example.com/?key=secret",
        "https://[::1",
    ],
)
def test_keys_and_documents_only_travel_over_tls(url: str) -> None:
    with pytest.raises(OptionError, match="anthropicBaseUrl must"):
        Options.from_context({"anthropicBaseUrl": url})


@pytest.mark.parametrize("url", ["http://localhost:1234", "http://127.0.0.1:1234/v1", "http://[::1]:1234"])
def test_a_server_on_this_machine_needs_no_tls(url: str) -> None:
    assert Options.from_context({"anthropicBaseUrl": url}).anthropic_base_url == url
