"""How models of Amazon Bedrock are named, and what to do when one may not be called."""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.errors import ConfigurationError

_IDENTIFIER = re.compile(r"(?:[a-z]+(?:-[a-z]+)*\.)?((?:amazon|anthropic|cohere)\.[a-z0-9][a-z0-9.:-]*)")

ACCESS_ADVICE = (
    "enable access to the model in Bedrock's console, in this region (a profile: in each of its own), and check that "
    "the function's role may bedrock:InvokeModel it"
)


@dataclass(frozen=True, slots=True)
class BedrockModel:
    """``identifier`` is what is called: the ``foundation`` model in the caller's own region, or a profile of it.

    A cross-region inference profile has the model's name after a geography, as in ``eu.`` or ``global.``, and hands
    each request to one of several regions. What answers is the same model.
    """

    identifier: str
    foundation: str

    @property
    def is_profile(self) -> bool:
        return self.identifier != self.foundation


def bedrock_model(identifier: str) -> BedrockModel:
    """Raises ConfigurationError for what isn't a model's or a cross-region profile's id, an ARN among others."""
    found = _IDENTIFIER.fullmatch(identifier)
    if found is None:
        raise ConfigurationError(
            f"{identifier} is no model of Amazon Bedrock that is known here: give a model's id, such as "
            "amazon.titan-embed-text-v2:0, or a cross-region inference profile's, such as "
            "us.anthropic.claude-haiku-4-5-20251001-v1:0, and no ARN"
        )
    return BedrockModel(identifier, found[1])
