"""What a deployment can choose: the keys of the CDK context (``cdk.json``, or ``-c key=value``), read and checked once.

CloudFormation would find a wrong choice minutes into a deploy, and a function not before its first user. Here it
fails at synth, with a message that names the key and says what to do. An empty value counts as unset, so that
``cdk.json`` can show every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Self, TypeVar
from urllib.parse import urlsplit

from citewell.core.keys import Tenancy
from citewell.edges import local_embedder
from infra.model import MODEL_SHA256

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class OptionError(Exception):
    """A context value that can't be deployed; the message names the key and says what would do."""


class Target(StrEnum):
    """Where the bundles run: Lambda, or the interpreter and platform of this machine."""

    AWS = "aws"
    LOCAL = "local"


class EmbedderChoice(StrEnum):
    LOCAL = "local"
    OPENAI = "openai"


class GeneratorChoice(StrEnum):
    CLAUDE = "claude"
    EXTRACTIVE = "extractive"


class Removal(StrEnum):
    """What `cdk destroy` does with documents and index: keeps the bucket and a last snapshot, or deletes both."""

    RETAIN = "retain"
    DESTROY = "destroy"


Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A deployment's choices. Made by :meth:`from_context`; raises OptionError when two of them contradict."""

    target: Target = Target.AWS
    embedder: EmbedderChoice = EmbedderChoice.LOCAL
    embedder_model: str | None = None
    embedder_dimensions: int | None = None
    embedder_url: str | None = None
    generator: GeneratorChoice = GeneratorChoice.CLAUDE
    model: str | None = None
    anthropic_base_url: str | None = None
    contact: str | None = None
    min_score: float | None = None
    tenancy: Tenancy = Tenancy.SINGLE
    replace_index: bool = False
    removal_policy: Removal = Removal.RETAIN

    def __post_init__(self) -> None:
        hosted = {
            "embedderModel": self.embedder_model,
            "embedderDimensions": self.embedder_dimensions,
            "embedderUrl": self.embedder_url,
        }
        if self.embedder is EmbedderChoice.LOCAL:
            _refuse(hosted, "embedder=local brings its own model: leave {key} out, or set embedder=openai")
        else:
            _demand(
                {**hosted, "embedderUrl": "has a default", "minScore": self.min_score},
                "embedder=openai needs {key}: no value fits every model",
            )
        if self.generator is GeneratorChoice.EXTRACTIVE:
            claude = {"model": self.model, "anthropicBaseUrl": self.anthropic_base_url}
            _refuse(claude, "generator=extractive calls no model: leave {key} out, or set generator=claude")

    @property
    def embedder_id(self) -> str:
        """The ``model_id`` that the chosen embedder reports, and that the index is made for."""
        return self.embedder_model or local_embedder.model_id(MODEL_SHA256)

    @property
    def vector_dimensions(self) -> int:
        return self.embedder_dimensions or local_embedder.DIMENSIONS

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> Self:
        """Read the app's context. Raises OptionError for a key nobody reads and for a value nobody can use."""
        _refuse_unknown(context)
        given = {key: value for key, value in context.items() if value not in (None, "")}
        return cls(
            target=_choice(given, "target", Target.AWS),
            embedder=_choice(given, "embedder", EmbedderChoice.LOCAL),
            embedder_model=_text(given, "embedderModel"),
            embedder_dimensions=_whole_number(given, "embedderDimensions", at_least=1, at_most=2000),
            embedder_url=_url(given, "embedderUrl"),
            generator=_choice(given, "generator", GeneratorChoice.CLAUDE),
            model=_text(given, "model"),
            anthropic_base_url=_url(given, "anthropicBaseUrl"),
            contact=_text(given, "contact"),
            min_score=_fraction(given, "minScore", at_least=-1, at_most=1),
            tenancy=_choice(given, "tenancy", Tenancy.SINGLE),
            replace_index=_switch(given, "replaceIndex"),
            removal_policy=_choice(given, "removalPolicy", Removal.RETAIN),
        )


def option_keys() -> tuple[str, ...]:
    """Every context key, spelt as in ``cdk.json``."""
    return tuple(_camel_case(each.name) for each in fields(Options))


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _refuse_unknown(context: Mapping[str, object]) -> None:
    keys = option_keys()
    for key in context:
        # Feature flags, the CDK's own switches and remembered look-ups all carry one of these marks.
        if key in keys or key.startswith("@") or ":" in key:
            continue
        near = get_close_matches(key, keys, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(keys)}"
        raise OptionError(f"unknown option {key}: {hint}")


def _refuse(values: Mapping[str, object], message: str) -> None:
    for key, value in values.items():
        if value is not None:
            raise OptionError(message.format(key=key))


def _demand(values: Mapping[str, object], message: str) -> None:
    for key, value in values.items():
        if value is None:
            raise OptionError(message.format(key=key))


def _text(given: Mapping[str, object], key: str) -> str | None:
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"{key} must be text, not {value!r}")
    return value.strip()


def _choice(given: Mapping[str, object], key: str, default: Choice) -> Choice:
    value = given.get(key, default)
    try:
        return type(default)(str(value))
    except ValueError:
        choices = ", ".join(type(default))
        raise OptionError(f"{key} must be one of {choices}, not {value!r}") from None


def _switch(given: Mapping[str, object], key: str) -> bool:
    value = given.get(key, False)
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise OptionError(f"{key} must be true or false, not {value!r}")


def _whole_number(given: Mapping[str, object], key: str, *, at_least: int, at_most: int) -> int | None:
    value = _fraction(given, key, at_least=at_least, at_most=at_most)
    if value is None:
        return None
    if value != int(value):
        raise OptionError(f"{key} must be a whole number, not {value}")
    return int(value)


def _fraction(given: Mapping[str, object], key: str, *, at_least: float, at_most: float) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    try:
        number = float(str(value))  # `-c` hands everything over as text
    except ValueError:
        raise OptionError(f"{key} must be a number, not {value!r}") from None
    if not at_least <= number <= at_most:  # refuses NaN too
        raise OptionError(f"{key} must be between {at_least} and {at_most}, not {value}")
    return number


def _url(given: Mapping[str, object], key: str) -> str | None:
    """An https address; plain http on this machine alone, since keys and documents travel over it."""
    value = _text(given, key)
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        secure = False
    if not secure or not parts.hostname:
        raise OptionError(f"{key} must be an https:// address (http:// only for this machine), not {value!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise OptionError(f"{key} must hold no credentials, query or fragment: keys belong in the stack's secrets")
    return value.rstrip("/")
