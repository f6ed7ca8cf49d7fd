"""Reading single values of the CDK context: as text from ``-c key=value``, or as JSON from ``cdk.json``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_BYTES = 350
"""Of one text, in UTF-8: a function's environment, where up to seven of them end, holds 4 KB."""

_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[::1\]")
_DEFAULT_PORTS = {"http": 80, "https": 443}

Choice = TypeVar("Choice", bound=StrEnum)


class OptionError(Exception):
    """A context value that can't be deployed; the message names the key and says what would do."""


def text(given: Mapping[str, object], key: str) -> str | None:
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise OptionError(f"{key} must be text, not {value!r}")
    if (size := len(value.strip().encode(errors="replace"))) > MOST_BYTES:
        raise OptionError(f"{key} must be no longer than {MOST_BYTES} bytes, not {size}")
    return value.strip()


def choice(given: Mapping[str, object], key: str, default: Choice) -> Choice:
    value = given.get(key, default)
    try:
        return type(default)(str(value))
    except ValueError:
        choices = ", ".join(type(default))
        raise OptionError(f"{key} must be one of {choices}, not {value!r}") from None


def switch(given: Mapping[str, object], key: str) -> bool:
    value = given.get(key, False)
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise OptionError(f"{key} must be true or false, not {value!r}")


def whole_number(given: Mapping[str, object], key: str, *, at_least: int, at_most: int) -> int | None:
    value = fraction(given, key, at_least=at_least, at_most=at_most)
    if value is None:
        return None
    if value != int(value):
        raise OptionError(f"{key} must be a whole number, not {value}")
    return int(value)


def fraction(given: Mapping[str, object], key: str, *, at_least: float, at_most: float) -> float | None:
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


def names(given: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A comma separated list, or a JSON list, of texts; each once, in their order."""
    value = given.get(key)
    listed = value.split(",") if isinstance(value, str) else () if value is None else value
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each.strip() for each in listed):
        raise OptionError(f"{key} must be a comma separated list, not {value!r}")
    return tuple(dict.fromkeys(each.strip() for each in listed))


def shaped(given: Mapping[str, object], key: str, pattern: str, example: str) -> str | None:
    """A text that matches ``pattern`` as a whole; ``example`` tells people what one looks like."""
    value = text(given, key)
    if value is not None and not re.fullmatch(pattern, value):
        raise OptionError(f"{key} must look like {example}, not {value!r}")
    return value


def url(given: Mapping[str, object], key: str) -> str | None:
    """An https address; plain http on this machine alone, since keys and documents travel over it."""
    value = text(given, key)
    if value is None:
        return None
    try:
        parts = _secure(value)
    except ValueError as error:
        raise OptionError(
            f"{key} must be an https:// address (http:// only for this machine), not {value!r}: {error}"
        ) from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise OptionError(f"{key} must hold no credentials, query or fragment: keys belong in the stack's secrets")
    return value


def is_on_this_machine(address: str) -> bool:
    """Whether a URL that :func:`url` lets through leads nowhere else."""
    return urlsplit(address).hostname in LOOPBACK


def origins(given: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Web origins, each to the letter as browsers send it, since that is what it is compared with."""
    found = names(given, key)
    for each in found:
        if each != _origin(each):
            raise OptionError(
                f"{key} must list origins such as https://intranet.example.com, not {each!r}: in lower case, without "
                "wildcard, user, path or the scheme's own port"
            )
    return found


def _origin(address: str) -> str | None:
    """What browsers call the origin of ``address``; None when it has none that may call the API."""
    try:
        parts = _secure(address)
    except ValueError:
        return None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    if not _HOST.fullmatch(host):
        return None
    port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _secure(address: str) -> SplitResult:
    """Raises ValueError, which says what is wrong with ``address``."""
    if re.search(r"[\s\x00-\x1f]", address):  # urlsplit leaves some of these out without a word
        raise ValueError("it holds white space")
    parts = urlsplit(address)
    if not parts.hostname:
        raise ValueError("it names no host")
    if parts.port == 0:  # of what is no port at all, urlsplit complains by itself
        raise ValueError("nobody listens at port 0")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError("it isn't encrypted")
    return parts
