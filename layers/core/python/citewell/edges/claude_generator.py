"""Answers by Claude, through Anthropic's own client and the Messages format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from citewell.core.prompting import Prompt, build_prompt
from citewell.core.values import Generation, Passage, StopReason, Usage
from citewell.edges.claude_access import ClaudeAccess
from citewell.edges.retrying import Retrying, TryAgain, parse_retry_after, retry_worthwhile
from citewell.errors import ConfigurationError, GeneratorUnavailable

if TYPE_CHECKING:
    from anthropic import Anthropic, AnthropicBedrock, APIStatusError
    from httpx2 import Timeout

Result = TypeVar("Result")

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
_ERROR_TYPE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ClaudeGenerator:
    """The generator port over the Messages format, which Anthropic and Bedrock share.

    The client is made at the first answer. ``contact`` is whom the answer names when something stays open. No sampling
    parameters are sent: newer models refuse them. The system prompt is marked for caching.
    """

    def __init__(
        self,
        model: str,
        access: ClaudeAccess,
        *,
        max_output_tokens: int = 1024,
        contact: str | None = None,
        retrying: Retrying = RETRYING,
    ) -> None:
        self._model = model
        self._access = access
        self._max_output_tokens = max_output_tokens
        self._contact = contact
        self._retrying = retrying

    def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:
        prompt = build_prompt(question, passages, contact=self._contact)
        return self._within(seconds, lambda deadline: _generation(self._reply(prompt, deadline=deadline)))

    def check(self, *, seconds: float) -> None:
        """Raise what :meth:`generate` would raise for a wrong key, model or role, at the price of a token at most."""
        self._within(seconds, self._check)

    def _within(self, seconds: float, attempt: Callable[[float], Result]) -> Result:
        """``attempt``, which is given its deadline, as often as it takes within ``seconds``."""
        retrying = replace(self._retrying, seconds=seconds)
        # Building the client takes its share of the time too, when it is the first.
        deadline = retrying.clock() + seconds
        try:
            return retrying.call(lambda _: self._translated(attempt, deadline))
        except TryAgain as error:
            raise GeneratorUnavailable(f"{self._model} did not answer: {error}") from error

    def _translated(self, attempt: Callable[[float], Result], deadline: float) -> Result:
        import anthropic

        try:
            return attempt(deadline)
        except anthropic.APIStatusError as error:
            self._refused(error)
        except anthropic.APIError as error:  # no connection, a time-out, an answer that is none
            raise TryAgain(type(error).__name__) from error
        except anthropic.AnthropicError as error:
            raise ConfigurationError(f"the Anthropic client can't be used: {type(error).__name__}") from error

    def _reply(self, prompt: Prompt, *, deadline: float) -> bytes:
        """The response's body, complete by ``deadline``."""
        import httpx2  # the client's transport: its errors come through while a body is read

        request = self._client.messages.with_streaming_response.create(
            model=self._model,
            max_tokens=self._max_output_tokens,
            system=[{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
            messages=[{"role": "user", "content": prompt.user}],
            timeout=self._timeout(deadline),
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

    def _check(self, deadline: float) -> None:
        from anthropic import Anthropic

        client = self._client
        if isinstance(client, Anthropic) and self._access.lists_models:
            client.models.retrieve(self._model, timeout=self._timeout(deadline))
        else:
            client.messages.create(
                model=self._model,
                max_tokens=1,
                messages=[{"role": "user", "content": "Hello"}],
                timeout=self._timeout(deadline),
            )

    def _timeout(self, deadline: float) -> Timeout:
        import httpx2

        left = deadline - self._retrying.clock()
        if left <= 0:
            raise TryAgain("no time was left")
        return httpx2.Timeout(left, connect=min(left, CONNECT_SECONDS))

    @cached_property
    def _client(self) -> Anthropic | AnthropicBedrock:
        return self._access.client()

    def _key_was_changed(self) -> bool:
        """Whether another key than the refused one is to be used by now; the next attempt sends it."""
        refused = getattr(self._client, "api_key", None)
        del self._client
        return getattr(self._client, "api_key", None) != refused

    def _refused(self, error: APIStatusError) -> NoReturn:
        said = f"HTTP {error.status_code}{_error_type(error)}"
        if error.status_code == 401 and self._key_was_changed():
            raise TryAgain(said) from error
        if retry_worthwhile(error.status_code):
            raise TryAgain(said, retry_after=parse_retry_after(error.response.headers.get("retry-after"))) from error
        advice = self._access.advice.get(error.status_code, self._access.default_advice)
        raise ConfigurationError(
            f"{self._access.name} refused to answer with {self._model}: {said}; {advice}"
        ) from error


def _generation(body: bytes) -> Generation:
    try:
        message = json.loads(body)
        text = "".join(_text(block["text"]) for block in message["content"] if block["type"] == "text")
        usage = message["usage"]
        # What was read from the cache, or written to it, was input too.
        counts = [_count(usage.get(f"{kind}input_tokens") or 0) for kind in ("", "cache_creation_", "cache_read_")]
        return Generation(
            text=text,
            stop_reason=_STOP_REASONS.get(message["stop_reason"], StopReason.OTHER),
            usage=Usage(input_tokens=sum(counts), output_tokens=_count(usage["output_tokens"])),
            model=_text(message["model"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TryAgain("the response is not a message") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    value.encode()  # half of a surrogate pair, which JSON can hold, couldn't be sent on
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("not a count")
    return value


def _error_type(error: APIStatusError) -> str:
    """The error's type: Anthropic's is in the body, Bedrock's in a header. A message isn't shown: it may quote what
    was sent."""
    body: Any = error.body
    inner = body.get("error") if isinstance(body, Mapping) else None
    kind: Any = inner.get("type") if isinstance(inner, Mapping) else None
    kind = kind or error.response.headers.get("x-amzn-errortype", "").partition(":")[0]
    return f" ({kind})" if isinstance(kind, str) and _ERROR_TYPE.fullmatch(kind) else ""
