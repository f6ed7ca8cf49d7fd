"""How a function answers a deploy that asks whether it works.

Event:  ``{"citewell": "check"}``, invoked directly.
Result: ``{"problems": ["..."], "notes": ["..."]}``, see :class:`citewell.core.checking.Findings`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

from citewell.core.checking import CHECK_EVENT
from citewell.errors import CitewellError, log_fields

if TYPE_CHECKING:
    from citewell.usecases.check_deployment import CheckDeployment

CHECK_SECONDS = 34.0
"""For all the looks together, where the function has more time than whoever asks it."""

# What is left of a function's time to say what was found.
_SECONDS_TO_ANSWER = 2.0


class Log(Protocol):
    """The part of a logger that is used here."""

    def info(self, message: str, /, *, extra: Mapping[str, object]) -> None: ...
    def error(self, message: str, /, *, extra: Mapping[str, object]) -> None: ...


Handler = Callable[[dict[str, Any], Any], Any]


def answering_checks(log: Log, check: Callable[[], CheckDeployment]) -> Callable[[Handler], Handler]:
    """A decorator that lets a handler answer a deploy's check with what ``check`` makes, and nothing else."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def wrapped(event: dict[str, Any], context: Any) -> Any:
            return _findings(log, check, context) if event == CHECK_EVENT else handler(event, context)

        return wrapped

    return decorate


def _findings(log: Log, check: Callable[[], CheckDeployment], context: Any) -> dict[str, list[str]]:
    def own_seconds() -> float:
        return float(context.get_remaining_time_in_millis() / 1000 - _SECONDS_TO_ANSWER)

    beyond = max(0.0, own_seconds() - CHECK_SECONDS)
    try:
        found = asdict(check()(seconds_left=lambda: own_seconds() - beyond))
    except CitewellError as error:
        found = {"problems": (str(error),), "notes": ()}
    except Exception as error:
        # Another library's message may hold anything.
        log.error("the check of the deployment failed", extra=log_fields(error))
        found = {"problems": (f"{type(error).__name__}: see this function's log",), "notes": ()}
    log.info("deployment checked", extra=found)
    return {name: list(sentences) for name, sentences in found.items()}
