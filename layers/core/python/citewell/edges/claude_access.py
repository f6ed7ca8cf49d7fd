"""The ways to Claude: Anthropic's own API, with a key, and Amazon Bedrock, with the function's role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from citewell.edges.bedrock import ACCESS_ADVICE
from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    # Over a second of import: paid when the first answer is written, never by a refusal.
    from anthropic import Anthropic, AnthropicBedrock, DefaultHttpxClient

BASE_URL = "https://api.anthropic.com"

REDIRECTED = (300, 301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class AnthropicApi:
    """``api_key`` is called when a client is made: once, and again when the key is refused, since keys are rotated.

    ``base_url`` is another address, such as a gateway's.
    """

    api_key: Callable[[], str]
    base_url: str | None = None

    name: ClassVar[str] = "the Messages API"
    advice: ClassVar[Mapping[int, str]] = {
        **dict.fromkeys(REDIRECTED, "set CITEWELL_ANTHROPIC_BASE_URL to the address itself: no redirect is followed"),
        400: "check CITEWELL_MODEL, CITEWELL_MAX_OUTPUT_TOKENS, CITEWELL_TOP_K and the account's credit",
        401: "check the key in the secret CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN",
        403: "the key in the secret CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN may not use this model",
        404: "check CITEWELL_MODEL and CITEWELL_ANTHROPIC_BASE_URL",
        413: "lower CITEWELL_TOP_K or CITEWELL_CHUNK_TOKENS",
    }
    default_advice: ClassVar[str] = "check CITEWELL_MODEL and CITEWELL_ANTHROPIC_BASE_URL"

    @property
    def lists_models(self) -> bool:
        """Whether ``GET /v1/models/<model>`` is there: Anthropic's own address has it, a gateway need not."""
        return self.base_url is None

    def client(self) -> Anthropic:
        """Raises ConfigurationError for a key that can't be one."""
        from anthropic import Anthropic

        key = self.api_key().strip()
        if not (key.isascii() and key.isprintable() and key):
            raise ConfigurationError("the Anthropic API key is empty or holds characters that no key has")
        # Its own retries know nothing of the time that is left.
        return Anthropic(
            api_key=key, base_url=self.base_url or BASE_URL, max_retries=0, http_client=_without_redirects()
        )


@dataclass(frozen=True, slots=True)
class Bedrock:
    """Bedrock's runtime in the function's own region: where botocore finds it, signed as botocore signs."""

    name: ClassVar[str] = "Amazon Bedrock"
    advice: ClassVar[Mapping[int, str]] = {
        **dict.fromkeys(REDIRECTED, "check AWS_ENDPOINT_URL_BEDROCK_RUNTIME: no redirect is followed"),
        400: "check CITEWELL_MODEL (most Claude models are called by an inference profile's id alone, such as "
        "us.anthropic.claude-haiku-4-5-20251001-v1:0), CITEWELL_MAX_OUTPUT_TOKENS and CITEWELL_TOP_K",
        403: ACCESS_ADVICE,
        404: "check CITEWELL_MODEL, and whether this region offers it",
        413: "lower CITEWELL_TOP_K or CITEWELL_CHUNK_TOKENS",
    }
    default_advice: ClassVar[str] = "check the function's role and CITEWELL_MODEL"
    lists_models: ClassVar[bool] = False

    def client(self) -> AnthropicBedrock:
        """Raises ConfigurationError without a region or credentials."""
        import boto3
        from anthropic import AnthropicBedrock
        from botocore.exceptions import BotoCoreError

        try:
            session = boto3.Session()
            if session.get_credentials() is None:
                raise ConfigurationError("no call to Amazon Bedrock can be made: there are no AWS credentials")
            place = session.client("bedrock-runtime").meta
        except BotoCoreError as error:
            raise ConfigurationError(f"no call to Amazon Bedrock can be made: {type(error).__name__}") from error
        # Its own idea of the address knows neither partitions nor AWS_ENDPOINT_URL_BEDROCK_RUNTIME.
        return AnthropicBedrock(
            aws_region=place.region_name,
            base_url=place.endpoint_url,
            max_retries=0,
            http_client=_without_redirects(),
        )


def _without_redirects() -> DefaultHttpxClient:
    """The package's own transport, but that documents go to no other host than the one that was chosen."""
    from anthropic import DefaultHttpxClient

    return DefaultHttpxClient(follow_redirects=False)


ClaudeAccess = AnthropicApi | Bedrock
