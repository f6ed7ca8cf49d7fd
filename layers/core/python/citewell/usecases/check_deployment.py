"""Does a deployment work? Asked at its end, so that it fails and not the first user does.

Each function looks for itself, with its own role and from its own network, whether it finds what it will need
(:class:`CheckDeployment`). :func:`check_functions` asks them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol

from citewell.core.checking import Findings
from citewell.core.values import TextKind
from citewell.errors import CitewellError, ConfigurationError, EmbedderMismatch, FunctionBusy, SecretNotSet
from citewell.ports import ChunkStore, Embedder, Extractor, Generator, IndexGeneration, ObjectStore, Reranker

SAMPLE = "How is this deployment?"
NO_OBJECT = "citewell/check-of-a-deployment"
"""A key that nobody uses. That nothing stands there is an answer, too."""

LOOK_SECONDS = 14.0
"""No look is begun with less than this left: a question's embedder can take as long."""

ATTEMPTS = 4
PAUSE_SECONDS = 10.0
"""What IAM was told during a deploy may take some seconds to be true everywhere."""

BUSY_ATTEMPTS = 12
"""For a function that is at work for its users; it says so at once."""

NOT_ASKED = "it could not be asked whether it works: all the copies that it may have were busy"


class CheckDeployment:
    """A function's look at what it will need. Nothing is written anywhere.

    Each part is given by what makes it, since that can fail as well. ``use_case`` fails where a setting is missing.
    """

    def __init__(
        self,
        *,
        use_case: Callable[[], object],
        chunks: Callable[[], ChunkStore],
        embedder: Callable[[], Embedder] | None = None,
        kind: TextKind = TextKind.QUERY,
        writes: bool = False,
        reranker: Callable[[], Reranker | None] | None = None,
        generator: Callable[[], Generator] | None = None,
        objects: Callable[[], ObjectStore] | None = None,
        extractor: Callable[[], Extractor] | None = None,
    ) -> None:
        self._use_case = use_case
        self._chunks = chunks
        self._embedder = embedder
        self._kind = kind
        self._writes = writes
        self._reranker = reranker
        self._generator = generator
        self._objects = objects
        self._extractor = extractor

    def __call__(self, *, seconds_left: Callable[[], float]) -> Findings:
        """Every look is taken, whatever the one before found, but for those that no time is left for.

        ``seconds_left`` is for the whole of them.
        """
        problems: list[str] = []
        notes: list[str] = []
        for what, look in self._looks(seconds_left):
            if seconds_left() < LOOK_SECONDS:
                problems.append(f"{what}: not looked at, since what came before took too long")
                continue
            try:
                look()
            except SecretNotSet as error:
                notes.append(f"{what}: {error}")
            except CitewellError as error:
                problems.append(f"{what}: {error}")
        return Findings(tuple(problems), tuple(notes))

    def _looks(self, seconds_left: Callable[[], float]) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "settings", self._use_case
        yield "database", self._try_database
        if self._embedder is not None:
            yield "embedder", partial(self._embed, self._embedder)
        if self._objects is not None:
            yield "bucket", partial(_look_into, self._objects)
        if self._extractor is not None:
            yield "parsers", partial(_load_readers, self._extractor)
        if self._reranker is not None:
            yield "reranker", partial(_rerank, self._reranker)
        if self._generator is not None:
            yield "model", partial(_reach, self._generator, seconds_left)

    def _try_database(self) -> None:
        """With the very statements of its work: an older schema and a missing right show in nothing else."""
        chunks = self._chunks()
        if self._writes:
            chunks.try_writing()
        else:
            chunks.try_reading()

    def _live_generation(self) -> IndexGeneration:
        return self._chunks().live_generation()

    def _embed(self, make: Callable[[], Embedder]) -> None:
        embedder = make()
        embedder.embed([SAMPLE], self._kind)
        live = self._live_generation()
        if (live.model_id, live.dimensions) != (embedder.model_id, embedder.dimensions):
            raise EmbedderMismatch(
                f"the index is of {live.model_id} ({live.dimensions} dimensions), and this function embeds with "
                f"{embedder.model_id} ({embedder.dimensions} dimensions)"
            )


def _look_into(make: Callable[[], ObjectStore]) -> None:
    objects = make()
    objects.head(NO_OBJECT)
    if not objects.keeps_versions():
        raise ConfigurationError(
            "it keeps no versions, so that what an answer cites could be overwritten: switch its versioning on"
        )


def _load_readers(make: Callable[[], Extractor]) -> None:
    make().check(seconds=LOOK_SECONDS)


def _rerank(make: Callable[[], Reranker | None]) -> None:
    """Though nobody goes without an answer for it: one that never works is paid for in vain."""
    reranker = make()
    if reranker is not None:
        reranker.rerank(SAMPLE, [SAMPLE, NO_OBJECT])


def _reach(make: Callable[[], Generator], seconds_left: Callable[[], float]) -> None:
    make().check(seconds=seconds_left())


class Functions(Protocol):
    """The deployed functions."""

    def check(self, function: str) -> Findings:
        """What the function of this name found. Raises a CitewellError when it can't be asked or doesn't answer."""


def check_functions(
    functions: Functions, names: Mapping[str, str], *, sleep: Callable[[float], None] = time.sleep
) -> Findings:
    """What the functions (``names``: what to call each in a finding, and its deployed name) found, as one.

    A function that found a problem is asked again, up to four times in half a minute. One without a free copy is asked
    for two minutes; if it has none until then, that is a note, since taking back a deploy makes nobody less busy.
    """
    found: dict[str, Findings | None] = dict.fromkeys(names)
    for attempt in range(BUSY_ATTEMPTS):
        pending = [shown for shown, said in found.items() if said is None or (said.problems and attempt < ATTEMPTS)]
        if not pending:
            break
        if attempt:
            sleep(PAUSE_SECONDS)
        found |= {shown: _asked(functions, names[shown]) for shown in pending}
    last = {shown: said or Findings(notes=(NOT_ASKED,)) for shown, said in found.items()}
    return Findings(
        problems=tuple(f"{shown}: {problem}" for shown, said in last.items() for problem in said.problems),
        notes=tuple(f"{shown}: {note}" for shown, said in last.items() for note in said.notes),
    )


def _asked(functions: Functions, name: str) -> Findings | None:
    """None from a function that is too busy to be asked."""
    try:
        return functions.check(name)
    except FunctionBusy:
        return None
    except CitewellError as error:
        return Findings(problems=(str(error),))
