"""One JSON request to a hosted model: its key, its time, and what its refusals mean to an operator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from citewell.edges.retrying import Retrying, TryAgain, parse_retry_after, retry_worthwhile
from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 20.0
"""A single request's longest time; less when less is left."""

_REDIRECTED = (300, 301, 302, 303, 307, 308)
_ERROR_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ModelApi:
    """``POST {url}/{path}`` with a JSON body.

    ``task`` says in messages what is asked of it, such as "embed with model-1"; ``settings`` is what the names of its
    settings begin with, such as ``CITEWELL_EMBEDDER``, and ``advice`` says of a status which of them to look at.
    ``api_key`` is called at the first request, and again when the key is refused, since keys are rotated; None sends
    none.
    """

    def __init__(
        self,
        url: str,
        path: str,
        *,
        task: str,
        settings: str,
        advice: Mapping[int, str],
        api_key: Callable[[], str] | None,
    ) -> None:
        self._settings = settings
        self._endpoint = f"{url.rstrip('/')}/{path}"
        self.shown = self._without_credentials(self._endpoint)
        self._path = path
        self._task = task
        self._advice = advice
        self._api_key = api_key

    def post(self, body: bytes, retrying: Retrying, seconds: float) -> bytes:
        """The body of a successful response, within ``seconds`` by the clock of ``retrying``.

        Raises TryAgain or ConfigurationError for any other.
        """
        import httpx

        began = retrying.clock()
        client = self._client  # when it is the first time, the key is read now
        longest = min(seconds - (retrying.clock() - began), REQUEST_SECONDS)
        if longest <= 0:
            raise TryAgain("no time was left after the API key was read")
        deadline = retrying.clock() + longest
        timeout = httpx.Timeout(longest, connect=min(longest, CONNECT_SECONDS))
        try:
            with client.stream("POST", self._endpoint, content=body, timeout=timeout) as response:
                content = bytearray()
                for piece in response.iter_bytes():
                    content += piece
                    # httpx bounds the wait for each piece, not the sum of them.
                    if retrying.clock() > deadline:
                        raise TryAgain(f"the response was not complete after {longest:.0f} s")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise self._no_url() from error
        except httpx.HTTPError as error:
            # The type only: a message may quote what was sent.
            raise TryAgain(type(error).__name__) from error
        if response.status_code != 200:
            self._refused(response.status_code, response.headers, bytes(content))
        return bytes(content)

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._api_key is not None:
            key = self._api_key().strip()
            if not (key.isascii() and key.isprintable() and key):
                raise ConfigurationError(
                    f"the key in the secret {self._settings}_API_KEY_SECRET_ARN is empty or holds characters that no "
                    "key has"
                )
            headers["authorization"] = f"Bearer {key}"
        return httpx.Client(headers=headers, follow_redirects=False)

    def _key_was_changed(self) -> bool:
        """Whether another key than the refused one is to be used by now; the next attempt sends it."""
        refused = self._client.headers.get("authorization")
        self._client.close()
        del self._client
        return bool(self._client.headers.get("authorization") != refused)

    def _refused(self, status: int, headers: httpx.Headers, content: bytes) -> NoReturn:
        said = f"HTTP {status}{_error_code(content)}"
        if status == 401 and self._key_was_changed():
            raise TryAgain(said)
        if retry_worthwhile(status):
            raise TryAgain(said, retry_after=parse_retry_after(headers.get("retry-after")))
        raise ConfigurationError(f"{self.shown} refused to {self._task}: {said}; {self._advice_for(status)}")

    def _advice_for(self, status: int) -> str:
        if status in self._advice:
            return self._advice[status]
        if status == 401:
            return f"check the key in the secret {self._settings}_API_KEY_SECRET_ARN"
        if status == 403:
            return f"the key in the secret {self._settings}_API_KEY_SECRET_ARN may not use this model"
        if status == 404:
            return f"check {self._settings}_URL (it ends before /{self._path}) and {self._settings}_MODEL"
        if status in _REDIRECTED:
            return f"set {self._settings}_URL to the address itself: no redirect is followed"
        return f"check the {self._settings}_* settings"

    def _no_url(self) -> ConfigurationError:
        return ConfigurationError(f"{self._settings}_URL is not an http(s) URL")

    def _without_credentials(self, url: str) -> str:
        """``url`` as it may be shown and logged. Raises ConfigurationError for one that can't be taken apart."""
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise self._no_url() from error
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _error_code(content: bytes) -> str:
    """The error's code where the body has one. Its message isn't shown: it may quote a key or a text."""
    try:
        error = json.loads(content)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return f" ({code})" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""
