"""Values of JSON and CSV that are HTML, as systems export what was written in their editors."""

from __future__ import annotations

from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.html_sniffing import is_fragment, is_tagged_text
from citewell.extract.options import Limits

_MOST = 20_000
"""Half a millisecond each: a document of more would be too slow where it isn't as it is written."""


class VisibleValues:
    """Gives the text that a reader of a value sees; of those that aren't HTML, and of very many, the value itself."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = _MOST

    def __call__(self, value: str) -> str:
        if "<" not in value or not self._left or not (is_fragment(value, value) or is_tagged_text(value)):
            return value
        from citewell.extract.html import parsed, write_tree  # its parser is loaded where it is needed

        self._left -= 1
        builder = TextBuilder(self._limits)
        write_tree(parsed(value), builder)
        try:
            return builder.finish().text
        except DocumentRejected:  # nothing is visible
            return ""
