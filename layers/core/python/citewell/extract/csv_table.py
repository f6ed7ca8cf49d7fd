"""Delimited values: CSV with any usual delimiter, TSV."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract import markdown
from citewell.extract.building import TextBuilder
from citewell.extract.decoding import decode
from citewell.extract.delimited_rows import rows_of
from citewell.extract.delimiters import table_in
from citewell.extract.normalising import normalise
from citewell.extract.options import ReadOptions


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """One table, its first row the head; what stands alone in the rows before it is a title. Else it's plain text.

    Raises DocumentRejected ``undecodable``, ``empty`` or ``too_large``.
    """
    text = normalise(decode(data, content_type=options.content_type))
    if len(text) > options.limits.characters:
        raise DocumentRejected("too_large", f"more than {options.limits.characters} characters of text")
    table = table_in(text)
    if table is None:
        return markdown.read(data, options)
    rows = list(rows_of(text[table.start :].split("\n"), table.dialect))
    builder = TextBuilder(options.limits)
    builder.paragraph(table.comments)
    titles = list(itertools.takewhile(_stands_alone, rows))
    for row in titles:
        builder.paragraph(" ".join(row))
    builder.table(rows[len(titles) :])
    return builder.finish()


def _stands_alone(row: Sequence[str]) -> bool:
    return sum(1 for cell in row if cell.strip()) < 2
