"""Charts that came with Office 2016: waterfall, funnel, treemap and others ([MS-ODRAWXML] 2.24.3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from citewell.extract.building import clean_line
from citewell.extract.chart_tables import shown_number
from citewell.extract.ooxml import A, Element, number_of

_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_MOST_POINTS = 2_000


def extended_chart_title(root: Element) -> str:
    title = root.find(f"{_CHART}chart/{_CHART}title")
    if title is None:
        return ""
    return clean_line(" ".join(each.text or "" for each in title.iter(A + "t")) or _said(title))


def extended_chart_tables(root: Element) -> Iterator[list[list[str]]]:
    """A table for each series: categories and their values. A histogram, which counts its numbers first, has none."""
    data = {each.get("id"): each for each in root.iterfind(f"{_CHART}chartData/{_CHART}data")}
    for number, series in enumerate(root.iter(_CHART + "series"), start=1):
        identifier = series.find(_CHART + "dataId")
        source = data.get(identifier.get("val")) if identifier is not None else None
        rows = list(_rows(source)) if source is not None else []
        if rows:
            yield [["", _said(series) or f"Series {number}"], *rows]


def _rows(source: Element) -> Iterator[list[str]]:
    levels = [_points(level) for level in source.iterfind(f"{_CHART}strDim[@type='cat']/{_CHART}lvl")]
    numbers = source.find(f"{_CHART}numDim/{_CHART}lvl")
    if not levels or numbers is None:
        return
    inner, *outer = levels
    values = _points(numbers)
    starts = [(sorted(level), level) for level in reversed(outer)]
    for point in sorted(inner.keys() | values.keys())[:_MOST_POINTS]:
        names = [_last(points, level, point) for points, level in starts]
        value = shown_number(values.get(point, ""), numbers.get("formatCode", ""))
        yield [" ".join(filter(None, [*names, inner.get(point, "")])), value]


def _points(level: Element) -> dict[int, str]:
    return {
        index: each.text or ""
        for each in level.iterfind(_CHART + "pt")
        if (index := number_of(each.get("idx"))) is not None
    }


def _last(points: list[int], level: dict[int, str], point: int) -> str:
    """What an outer level says of ``point``: it may do so at the first of the points it holds only."""
    index = bisect_right(points, point)
    return level[points[index - 1]] if index else ""


def _said(titled: Element) -> str:
    return clean_line(titled.findtext(f"{_CHART}tx/{_CHART}txData/{_CHART}v") or "")
