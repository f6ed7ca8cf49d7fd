"""The local model's tokenizer: where its tokens start, which is what chunks are measured by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_WINDOW = 16_384
# The tokenizer treats each side of such a place on its own: at white space, ASCII punctuation, CJK ideographs.
_CLEAN_CUT = re.compile(r"[ \n!-/:-@\[-`{-~\u4e00-\u9fff]")

_LONGEST_WORD = 100
_PRETENDED_TOKEN = 4


class WordPieces:
    """The tokenizer in ``path`` (a ``tokenizer.json``), loaded at first use. ``setting`` names its folder.

    Text that looks like a special token is text: a document that holds "[SEP]" can't end its own embedding.
    """

    def __init__(self, path: Path, *, setting: str = "CITEWELL_MODEL_DIR") -> None:
        self._path = path
        self._setting = setting

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        if not self._path.is_file():
            raise ConfigurationError(
                f"the local model's tokenizer is missing: {self._path}; {self._setting} names its folder"
            )
        tokenizer = Tokenizer.from_file(str(self._path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        return tokenizer

    def ids(self, text: str) -> list[int]:
        """The ids of ``text``'s tokens, special ones included."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def starts(self, text: str) -> Sequence[int]:
        """Offsets in code points at which the tokens of ``text`` start, ascending.

        Exact, but for words of more than 100 characters: the model reads each as one unknown token, and a megabyte
        without a space would count as nothing. They are counted as a token every four characters.

        The text is encoded in windows that end where the tokenizer would separate it anyway: for megabytes in one
        piece it needs many times their memory.
        """
        starts: list[int] = []
        for low, high in _windows(text):
            encoding = self._tokenizer.encode(text[low:high], add_special_tokens=False)
            for start, end in encoding.offsets:
                if end - start > _LONGEST_WORD:
                    starts.extend(range(low + start, low + end, _PRETENDED_TOKEN))
                else:
                    starts.append(low + start)
        return starts


def _windows(text: str) -> Iterator[tuple[int, int]]:
    low = 0
    while low < len(text):
        high = low + _WINDOW
        if high < len(text):
            clean = _last_clean_cut(text, low + _WINDOW // 2, high)
            high = high if clean is None else clean
        yield low, min(high, len(text))
        low = high


def _last_clean_cut(text: str, low: int, high: int) -> int | None:
    for place in range(high, low, -1):
        if _CLEAN_CUT.match(text, place):
            return place
    return None
