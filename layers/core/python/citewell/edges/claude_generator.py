"""Answers by Claude, through Anthropic's own client and the Messages API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from citewell.core.prompting import Prompt, build_prompt
from citewell.core.values import Generation, Passage, StopReason, Usage
from citewell.edges.retrying import Retrying, TryAgain, parse_retry_after, retry_worthwhile
from citewell.errors import ConfigurationError, GeneratorUnavailable

if TYPE_CHECKING:
    # Over a second of import: paid when the first answer is written, never by a refusal.
    from anthropic import Anthropic, APIStatusError

BASE_URL = "https://api.anthropic.com"
CONNECT_SECONDS = 5.0
RETRYING = Retrying(attempts=4)
"""Its time is replaced by what the caller has left."""

_STOP_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
}
_ADVICE = {
    400: "check CITEWELL_MODEL, CITEWELL_MAX_OUTPUT_TOKENS, CITEWELL_TOP_K and the account's credit",
    401: "check the key in the secret CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN",
    403: "the key in the secret CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN may not use this model",
    404: "check CITEWELL_MODEL and CITEWELL_ANTHROPIC_BASE_URL",
    413: "lower CITEWELL_TOP_K or CITEWELL_CHUNK_TOKENS",
}
_DEFAULT_ADVICE = "check CITEWELL_MODEL and CITEWELL_ANTHROPIC_BASE_URL"
_ERROR_TYPE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ClaudeGenerator:
    """The generator port over ``POST /v1/messages``.

    ``api_key`` is called once, at the first answer. ``contact`` is whom the answer names when something stays open.
    No sampling parameters are sent: newer models refuse them. The system prompt is marked for caching.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: Callable[[], str],
        base_url: str | None = None,
        max_output_tokens: int = 1024,
        contact: str | None = None,
        retrying: Retrying = RETRYING,
    ) -> None:
        self._model = model
        self._api_key = api_key
        self._base_url = base_url or BASE_URL
        self._max_output_tokens = max_output_tokens
        self._contact = contact
        self._retrying = retrying

    def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:
        retrying = replace(self._retrying, seconds=seconds)
        deadline = retrying.clock() + seconds
        prompt = build_prompt(question, passages, contact=self._contact)
        try:
            # Building the client takes its share of the time too, when it is the first.
            return retrying.call(lambda _: self._attempt(prompt, deadline=deadline))
        except TryAgain as error:
            raise GeneratorUnavailable(f"{self._model} did not answer: {error}") from error

    def _attempt(self, prompt: Prompt, *, deadline: float) -> Generation:
        import anthropic

        try:
            return self._generation(self._reply(prompt, deadline=deadline))
        except anthropic.APIStatusError as error:
            self._refused(error)
        except anthropic.APIError as error:  # no connection, a time-out, an answer that is none
            raise TryAgain(type(error).__name__) from error
        except anthropic.AnthropicError as error:
            raise ConfigurationError(f"the Anthropic client can't be used: {type(error).__name__}") from error

    def _reply(self, prompt: Prompt, *, deadline: float) -> bytes:
        """The response's body, complete by ``deadline``."""
        import httpx2  # the client's transport: its errors come through while a body is read

        client = self._client
        left = deadline - self._retrying.clock()
        if left <= 0:
            raise TryAgain("no time was left")
        request = client.messages.with_streaming_response.create(
            model=self._model,
            max_tokens=self._max_output_tokens,
            system=[{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
            messages=[{"role": "user", "content": prompt.user}],
            timeout=httpx2.Timeout(left, connect=min(left, CONNECT_SECONDS)),
        )
        body = bytearray()
        try:
            with request as response:
                for piece in response.iter_bytes():
                    body += piece
                    # The time-out bounds the wait for each piece, not the sum of them.
                    if self._retrying.clock() > deadline:
                        raise TryAgain("the response was not complete in time")
        except httpx2.HTTPError as error:
            raise TryAgain(type(error).__name__) from error
        return bytes(body)

    @cached_property
    def _client(self) -> Anthropic:
        from anthropic import Anthropic

        key = self._api_key().strip()
        if not (key.isascii() and key.isprintable() and key):
            raise ConfigurationError("the Anthropic API key is empty or holds characters that no key has")
        # Its own retries know nothing of the time that is left.
        return Anthropic(api_key=key, base_url=self._base_url, max_retries=0)

    def _refused(self, error: APIStatusError) -> NoReturn:
        said = f"HTTP {error.status_code}{_error_type(error.body)}"
        if retry_worthwhile(error.status_code):
            raise TryAgain(said, retry_after=parse_retry_after(error.response.headers.get("retry-after"))) from error
        advice = _ADVICE.get(error.status_code, _DEFAULT_ADVICE)
        raise ConfigurationError(f"the Messages API refused to answer with {self._model}: {said}; {advice}") from error

    def _generation(self, body: bytes) -> Generation:
        try:
            message = json.loads(body)
            text = "".join(str(block["text"]) for block in message["content"] if block["type"] == "text")
            usage = message["usage"]
            # What was read from the cache, or written to it, was input too.
            counts = [usage.get(f"{kind}input_tokens") or 0 for kind in ("", "cache_creation_", "cache_read_")]
            return Generation(
                text=text,
                stop_reason=_STOP_REASONS.get(message["stop_reason"], StopReason.OTHER),
                usage=Usage(input_tokens=sum(counts), output_tokens=int(usage["output_tokens"])),
                model=str(message["model"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TryAgain("the response is not a message") from error


def _error_type(body: object) -> str:
    """The error's type where the body has one. Its message isn't shown: a gateway's may quote what was sent."""
    error = body.get("error") if isinstance(body, Mapping) else None
    kind: Any = error.get("type") if isinstance(error, Mapping) else None
    return f" ({kind})" if isinstance(kind, str) and _ERROR_TYPE.fullmatch(kind) else ""
