"""JSON and JSON Lines: what stands where, a line a value, and a table where records are alike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract import markdown
from citewell.extract.building import TextBuilder
from citewell.extract.decoding import decode
from citewell.extract.html_values import VisibleValues
from citewell.extract.normalising import is_blank, normalise
from citewell.extract.notebook import is_notebook, markdown_of
from citewell.extract.options import ReadOptions

_Object: TypeAlias = "tuple[tuple[str, _Value], ...]"  # pairs, as a key may stand twice
_Value: TypeAlias = "_Object | list[_Value] | str | bool | None"

_LONGEST_PATH = 200
_KEPT_OF_PATH = 120
_LONGEST_CELL = 300
_MOST_COLUMNS = 30
_LEAST_FILLED = 0.5
_LONGEST_LINE_OF_VALUES = 400
_LONGEST_OF_MANY_VALUES = 60
_LINES_OF_A_BLOCK = 40
_BINARY = re.compile(
    r"(?:data:[\w/.+-]+(?:;[\w=.-]+)*,)?(?=[^A-Za-z]*+[A-Za-z][^A-Za-z]*+[A-Za-z])[A-Za-z0-9+/=_\s-]{1000,}"
)
"""Base64, whose letters a number of a thousand digits lacks; as an address, too."""

_LONGEST_WORD_OF_PROSE = 200
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Values as ``path: value`` lines, of HTML its text; arrays of records that are alike as tables; notebooks as text.

    The title is a ``title`` on top. A text that isn't JSON after all is read as Markdown. Raises DocumentRejected
    ``undecodable``, ``empty`` or ``too_large``.
    """
    text = decode(data, content_type=options.content_type)
    try:
        value = _parsed(text, VisibleValues(options.limits))
    except (ValueError, RecursionError):
        return markdown.read(data, options)
    if isinstance(value, tuple) and is_notebook(dict(value)):
        return _read_notebook(text)
    writer = _Writer(TextBuilder(options.limits))
    writer.write(value)
    return writer.builder.finish(title=_title(value))


def _read_notebook(text: str) -> ExtractedText:
    document = json.loads(text, parse_int=str, parse_float=str)  # once more, as code that writes HTML is no HTML
    said = normalise(markdown_of(document))
    if is_blank(said):
        raise DocumentRejected("empty", "the notebook holds no text")
    return markdown.read_markdown(said)


def _parsed(text: str, visible: Callable[[str], str]) -> _Value:
    """Raises ValueError for what is neither JSON nor JSON Lines, RecursionError for what nests too deep to read."""

    def record(pairs: list[tuple[str, _Value]]) -> _Object:
        return tuple([(key, visible(value) if isinstance(value, str) else value) for key, value in pairs])

    # Numbers stay as they are written: read as a float, an account's number would lose its last digits.
    decoder = json.JSONDecoder(object_pairs_hook=record, parse_float=str, parse_int=str, parse_constant=str)
    try:
        whole: _Value = decoder.decode(text)
    except ValueError:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [decoder.decode(line) for line in lines]
    return whole


def _title(value: _Value) -> str | None:
    found = dict(value).get("title") if isinstance(value, tuple) else None
    return _as_text(found) if isinstance(found, str) else None


class _Writer:
    """Goes through a document without recursion, as deep as it may be."""

    def __init__(self, builder: TextBuilder) -> None:
        self.builder = builder
        self._lines: list[str] = []

    def write(self, document: _Value) -> None:
        open_values: list[tuple[str, _Value]] = [("", document)]
        while open_values:
            path, value = open_values.pop()
            if isinstance(value, tuple):
                self._begin_record(path, value)
                open_values.extend(reversed([(_member(path, key), each) for key, each in value]))
            elif isinstance(value, list):
                if not self._wrote_array(path, value):
                    open_values.extend(reversed([(f"{path}[{index}]", each) for index, each in enumerate(value)]))
            else:
                self._add(path, _as_text(value))
        self._flush()

    def _begin_record(self, path: str, value: _Object) -> None:
        """A record of an array, and a part of the document, each is a block of its own."""
        if len(value) > 1 and (path.endswith("]") or "." not in path):
            self._flush()

    def _wrote_array(self, path: str, values: Sequence[_Value]) -> bool:
        """Whether the array makes a table or one line of values; else each of its values is written for itself."""
        if rows := _table(values):
            self._lines.extend([f"{path}:"] if path else [])
            self._flush()
            self.builder.table(rows)
            return True
        texts = [_as_text(value) for value in values if not isinstance(value, tuple | list)]
        if len(texts) < len(values):
            return False
        if len(texts) > 1 and all(text.endswith("\n") for text in texts[:-1]):
            self._add(path, "".join(texts).rstrip("\n"))  # a text by its lines, as notebooks have it
            return True
        line = ", ".join(text for text in texts if text)
        is_short = len(line) <= _LONGEST_LINE_OF_VALUES or max(map(len, texts)) <= _LONGEST_OF_MANY_VALUES
        if "\n" in line or not is_short:
            return False
        for each in _lines_of(texts):
            self._add(path, each)
        return True

    def _add(self, path: str, text: str) -> None:
        if not text.strip():
            return
        self._lines.append(f"{path}: {text}" if path else text)
        if len(self._lines) >= _LINES_OF_A_BLOCK:
            self._flush()

    def _flush(self) -> None:
        self.builder.paragraph("\n".join(self._lines))
        self._lines.clear()


def _lines_of(values: Sequence[str]) -> Iterator[str]:
    line = ""
    for value in filter(None, values):
        if line and len(line) + len(value) + 2 > _LONGEST_LINE_OF_VALUES:
            yield line
            line = ""
        line = f"{line}, {value}" if line else value
    if line:
        yield line


def _member(path: str, key: str) -> str:
    """A long path keeps its end: written out for every value, paths of deep documents would fill gigabytes."""
    path = f"{path}.{_as_text(key)}" if path else _as_text(key)
    return path if len(path) <= _LONGEST_PATH else f"…{path[-_KEPT_OF_PATH:]}"


def _as_text(value: str | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if _BINARY.fullmatch(value) and max(map(len, value.split())) > _LONGEST_WORD_OF_PROSE:
        return ""  # a file's bytes in letters: nobody reads them
    return _SURROGATE.sub("\ufffd", value)


# --- tables ---


def _table(values: Sequence[_Value]) -> list[list[str]]:
    """Head and rows of records that are alike, or of rows that are alike; nothing when ``values`` are neither."""
    if len(values) < 2:
        return []
    if all(isinstance(value, list) for value in values):
        return _rows(values)
    records = list(_flat_records(values))
    if len(records) < len(values):
        return []
    columns = list(dict.fromkeys(name for record in records for name in record))
    filled = sum(len(record) for record in records)
    if not 2 <= len(columns) <= _MOST_COLUMNS or filled < _LEAST_FILLED * len(columns) * len(records):
        return []
    return [columns, *([record.get(name, "") for name in columns] for record in records)]


def _rows(values: Sequence[_Value]) -> list[list[str]]:
    rows: list[list[str]] = []
    for value in values:
        if not isinstance(value, list) or len(value) < 2 or (rows and len(value) != len(rows[0])):
            return []
        cells = [cell for each in value if (cell := _cell(each)) is not None]
        if len(cells) < len(value):
            return []
        rows.append(cells)
    return rows


def _flat_records(values: Sequence[_Value]) -> Iterator[dict[str, str]]:
    """Each record by its columns' names, which are paths into it; ends with the first that is no row of a table."""
    for value in values:
        record = _flat(value) if isinstance(value, tuple) else None
        if record is None:
            return
        yield record


def _flat(record: _Object) -> dict[str, str] | None:
    flat: dict[str, str] = {}
    members: list[tuple[str, _Value]] = list(reversed(record))
    while members:
        name, value = members.pop()
        if isinstance(value, tuple):
            members.extend(reversed([(_member(name, key), each) for key, each in value]))
            continue
        cell = _cell(value)
        if cell is None or name in flat or len(flat) == _MOST_COLUMNS:
            return None
        flat[name] = cell
    return flat


def _cell(value: _Value) -> str | None:
    """What fits in a cell: a short value, or a list of such; None for anything else."""
    if isinstance(value, list):
        texts = [_as_text(each) for each in value if not isinstance(each, tuple | list)]
        if len(texts) < len(value):
            return None
        text = ", ".join(texts)
    elif isinstance(value, tuple):
        return None
    else:
        text = _as_text(value)
    return text if len(text) <= _LONGEST_CELL and "\n" not in text else None
