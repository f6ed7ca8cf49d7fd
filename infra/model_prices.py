"""What models cost, so that the functions can estimate it: Anthropic's list prices of October 2025.

Amazon Bedrock asks the same for the same models, but a tenth more for an endpoint that stays within one region.
"""

from __future__ import annotations

from infra.options import GeneratorChoice, Options

DEFAULT_MODEL = "claude-haiku-4-5"
"""What the functions ask when no model is chosen."""

DOLLARS_PER_MILLION_TOKENS = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-opus-4-5": (5.0, 25.0),
}
"""(input, output), by what the model's id contains."""


def prices_of(options: Options) -> dict[str, object]:
    """The settings with the chosen model's prices; none where they aren't known, or a gateway sets its own."""
    if options.generator is GeneratorChoice.EXTRACTIVE or options.anthropic_base_url:
        return {}
    model = options.model or DEFAULT_MODEL
    for name, (input_price, output_price) in DOLLARS_PER_MILLION_TOKENS.items():
        if name in model:
            return {"input_price": input_price, "output_price": output_price}
    return {}
