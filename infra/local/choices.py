"""What `make up` deploys, chosen by the environment it is called in.

Without anything set: the local embedder and the extractive generator, which need no key.

    ANTHROPIC_API_KEY       answers by Claude (generator=claude); the key goes into the stack's secret after the deploy
    ANTHROPIC_BASE_URL      another address of the Messages API
    OPENAI_API_KEY          the embedder's key, with CITEWELL_EMBEDDER=openai
    CITEWELL_EMBEDDER, CITEWELL_EMBEDDER_URL, CITEWELL_EMBEDDER_MODEL, CITEWELL_EMBEDDER_DIMENSIONS,
    CITEWELL_MIN_SCORE, CITEWELL_MODEL, CITEWELL_CONTACT, CITEWELL_REPLACE_INDEX
                            the option of that name, see cdk.json
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_OPTIONS = {
    "CITEWELL_EMBEDDER": "embedder",
    "CITEWELL_EMBEDDER_URL": "embedderUrl",
    "CITEWELL_EMBEDDER_MODEL": "embedderModel",
    "CITEWELL_EMBEDDER_DIMENSIONS": "embedderDimensions",
    "CITEWELL_MIN_SCORE": "minScore",
    "CITEWELL_CONTACT": "contact",
    "CITEWELL_REPLACE_INDEX": "replaceIndex",
}
_OPTIONS_OF_CLAUDE = {"CITEWELL_MODEL": "model", "ANTHROPIC_BASE_URL": "anthropicBaseUrl"}


@dataclass(frozen=True, slots=True)
class Choices:
    """``context``: of the CDK app. ``keys``: the stack's output that names a secret -> what belongs in it."""

    context: Mapping[str, str]
    keys: Mapping[str, str] = field(repr=False)


def choices(environment: Mapping[str, str]) -> Choices:
    """Reads the variables above; an empty one counts as unset."""
    given = {name: value.strip() for name, value in environment.items() if value.strip()}
    key = given.get("ANTHROPIC_API_KEY")
    options = _OPTIONS | (_OPTIONS_OF_CLAUDE if key else {})
    context = {option: given[variable] for variable, option in options.items() if variable in given}
    context |= {"target": "local", "auth": "none", "generator": "claude" if key else "extractive"}
    keys = {"AnthropicApiKeySecretArn": key} if key else {}
    if given.get("CITEWELL_EMBEDDER") == "openai" and "OPENAI_API_KEY" in given:
        keys["EmbedderApiKeySecretArn"] = given["OPENAI_API_KEY"]
    return Choices(context, keys)
