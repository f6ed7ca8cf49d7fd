"""The numbers behind a chart, as it keeps them beside the reference to their cells (ECMA-376 part 1, 21.2)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from citewell.extract.building import clean_line
from citewell.extract.number_formats import Formatter, formatter, plain
from citewell.extract.ooxml import A, Element, number_of

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MOST_POINTS = 2_000
_DATES = "yyyy-mm-dd"

Points = dict[int, str]
"""Texts by the index of their point."""


@dataclass(slots=True)
class _Table:
    """Series over the same categories, or the same places on the x axis."""

    corner: str
    categories: Points
    has_places: bool
    columns: list[tuple[str, Points]] = field(default_factory=list)

    def takes(self, categories: Points, *, has_places: bool) -> bool:
        return self.has_places == has_places and (not has_places or categories == self.categories)

    def rows(self) -> list[list[str]]:
        points = sorted({*self.categories, *(point for _, column in self.columns for point in column)})[:_MOST_POINTS]
        head = [self.corner, *(name for name, _ in self.columns)]
        body = [
            [self.categories.get(point, ""), *(column.get(point, "") for _, column in self.columns)] for point in points
        ]
        return [head, *body] if body else []


def chart_title(root: Element) -> str:
    return _title(root.find(f"{_CHART}chart"))


def chart_tables(root: Element) -> Iterator[list[list[str]]]:
    """A row for each category, a column for each series; the titles of the axes stand in the head.

    Series of a scatter chart that have other places on the x axis than those before begin another table.
    """
    axes = {_value(axis, "axId"): axis for axis in root.iter(*(_CHART + name for name in ("catAx", "valAx", "dateAx")))}
    tables: list[_Table] = []
    number = 0
    for plot in root.iterfind(f"{_CHART}chart/{_CHART}plotArea/*"):
        own = [axes.get(each.get("val")) for each in plot.iterfind(_CHART + "axId")]
        across, along = [*own[:2], None, None][:2]
        for series in plot.iterfind(_CHART + "ser"):
            number += 1
            has_places = series.find(_CHART + "xVal") is not None
            categories = _categories(_first(series, "cat", "xVal"), across)
            table = next((each for each in tables if each.takes(categories, has_places=has_places)), None)
            if table is None:
                table = _Table(_title(across), categories, has_places)
                tables.append(table)
            table.categories = table.categories or categories
            table.columns += _columns(series, number, _title(along))
    for table in tables:
        yield table.rows()


def _columns(series: Element, number: int, unit: str) -> Iterator[tuple[str, Points]]:
    name = _name(series) or f"Series {number}"
    yield f"{name} ({unit})" if unit not in ("", name) else name, _points(_first(series, "val", "yVal"))
    if (sizes := series.find(_CHART + "bubbleSize")) is not None:
        yield f"{name} (size)", _points(sizes)


def _categories(source: Element | None, axis: Element | None) -> Points:
    """Of those in several levels the outer ones stand before the inner: ``Europe France``."""
    levels = list(source.iter(_CHART + "lvl")) if source is not None else []
    if not levels:
        return _points(source, otherwise=_DATES if axis is not None and axis.tag == _CHART + "dateAx" else "")
    inner, *outer = (_points(level) for level in levels)
    starts = [(sorted(level), level) for level in reversed(outer)]
    return {
        point: " ".join([*(_last(points, level, point) for points, level in starts), text]).strip()
        for point, text in inner.items()
    }


def _last(points: list[int], level: Points, point: int) -> str:
    """What an outer level says of ``point``: it does so at the first of the points it holds."""
    index = bisect_right(points, point)
    return level[points[index - 1]] if index else ""


def _points(source: Element | None, *, otherwise: str = "") -> Points:
    """``otherwise`` is the format of numbers that have none of their own."""
    if source is None:
        return {}
    general = next(source.iter(_CHART + "formatCode"), None)
    code = (general.text or "") if general is not None else ""
    points: Points = {}
    for point in source.iter(_CHART + "pt"):
        index = number_of(point.get("idx"))
        if index is not None:
            value = point.findtext(_CHART + "v") or ""
            points[index] = shown_number(value, point.get("formatCode") or code, otherwise)
    return points


def shown_number(value: str, code: str, otherwise: str = "") -> str:
    """A number in its format, or as short as it is exact: charts keep ``0.10000000000000001``."""
    try:
        return _formatter(otherwise if code.lower() in ("", "general") else code)(float(value))
    except ValueError:
        return value


@lru_cache(maxsize=64)
def _formatter(code: str) -> Formatter:
    return formatter(code) if code else plain


def _name(series: Element) -> str:
    source = series.find(_CHART + "tx")
    if source is None:
        return ""
    return clean_line(" ".join(_points(source).values()) or source.findtext(_CHART + "v") or "")


def _title(titled: Element | None) -> str:
    """The title of a chart or an axis, written there or taken from a cell."""
    title = titled.find(_CHART + "title") if titled is not None else None
    if title is None:
        return ""
    written = " ".join(each.text or "" for each in title.iter(A + "t"))
    return clean_line(written or " ".join(_points(title).values()))


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := series.find(_CHART + name)) is not None), None)


def _value(parent: Element, name: str) -> str | None:
    child = parent.find(_CHART + name)
    value: str | None = child.get("val") if child is not None else None
    return value
