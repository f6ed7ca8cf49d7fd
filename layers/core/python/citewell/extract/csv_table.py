"""Delimited values: CSV with any usual delimiter, TSV."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract import markdown
from citewell.extract.building import TextBuilder
from citewell.extract.decoding import decode
from citewell.extract.delimited_rows import rows_of
from citewell.extract.delimiters import table_in
from citewell.extract.html_values import VisibleValues
from citewell.extract.normalising import normalise
from citewell.extract.options import ReadOptions

_LONGEST_PREAMBLE = 3
_MOST_PREAMBLE_ROWS = 10


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """One table, its first row the head; what stands in the rows before it are titles. Else it's plain text.

    Raises DocumentRejected ``undecodable``, ``empty`` or ``too_large``.
    """
    text = normalise(decode(data, content_type=options.content_type))
    if len(text) > options.limits.characters:
        raise DocumentRejected("too_large", f"more than {options.limits.characters} characters of text")
    table = table_in(text)
    if table is None:
        return markdown.read(data, options)
    visible = VisibleValues(options.limits)
    rows = [list(map(visible, row)) for row in rows_of(text[table.start :].split("\n"), table.dialect)]
    builder = TextBuilder(options.limits)
    builder.paragraph(table.comments)
    head = _head_of(rows)
    for row in rows[:head]:
        builder.paragraph(" ".join(row))
    builder.table(rows[head:])
    return builder.finish()


def _head_of(rows: Sequence[Sequence[str]]) -> int:
    """The index of the first row that isn't a title or, above a table of many columns, a name with its value.

    Narrower rows that a blank one parts from the table are above it, too.
    """
    extents = [max((at for at, cell in enumerate(row, start=1) if cell.strip()), default=0) for row in rows]
    width = max((extent for extent, count in Counter(extents).items() if count > 1), default=0)
    gap = next((at for at, extent in enumerate(extents[:_MOST_PREAMBLE_ROWS]) if not extent and any(extents[:at])), 0)
    if gap and max(extents[:gap]) <= min(width - 1, _LONGEST_PREAMBLE) and len(rows) - gap > 2:
        return gap + _head_of(rows[gap + 1 :]) + 1
    longest = max(1, min(width // 2, _LONGEST_PREAMBLE))
    preamble = itertools.takewhile(
        lambda row: row[0] <= longest or _stands_alone(row[1]), zip(extents, rows, strict=True)
    )
    head = sum(1 for _ in preamble)
    return head if head < len(rows) else sum(1 for _ in itertools.takewhile(_stands_alone, rows))


def _stands_alone(row: Sequence[str]) -> bool:
    return sum(1 for cell in row if cell.strip()) < 2
