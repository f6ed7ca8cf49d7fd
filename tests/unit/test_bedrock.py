"""Which names are models of Amazon Bedrock, and which are profiles of one."""

from __future__ import annotations

import pytest

from citewell.edges.bedrock import bedrock_model
from citewell.errors import ConfigurationError


@pytest.mark.parametrize(
    ("identifier", "foundation", "is_profile"),
    [
        ("amazon.titan-embed-text-v2:0", "amazon.titan-embed-text-v2:0", False),
        ("cohere.embed-english-v3", "cohere.embed-english-v3", False),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic.claude-haiku-4-5-20251001-v1:0", False),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("eu.cohere.embed-v4:0", "cohere.embed-v4:0", True),
        ("global.cohere.embed-v4:0", "cohere.embed-v4:0", True),
        ("apac.amazon.titan-embed-text-v2:0", "amazon.titan-embed-text-v2:0", True),
        ("us-gov.amazon.titan-embed-text-v2:0", "amazon.titan-embed-text-v2:0", True),
    ],
)
def test_a_profile_has_its_models_name_after_a_geography(identifier: str, foundation: str, is_profile: bool) -> None:
    model = bedrock_model(identifier)
    assert (model.identifier, model.foundation, model.is_profile) == (identifier, foundation, is_profile)


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        "claude-haiku-4-5",
        "meta.llama3-8b-instruct-v1:0",
        "us.",
        "us.eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "US.anthropic.claude-haiku-4-5-20251001-v1:0",
        " anthropic.claude-haiku-4-5-20251001-v1:0",
        "anthropic.claude-haiku-4-5-20251001-v1:0\n",
        "anthropic.*",
        "anthropic.claude/../../other",
        "arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123",
    ],
)
def test_what_is_neither_is_refused_with_examples(identifier: str) -> None:
    # A wildcard or a path would reach a policy or a URL.
    with pytest.raises(ConfigurationError, match="is no model of Amazon Bedrock .* such as amazon.titan"):
        bedrock_model(identifier)
