"""The numbers behind a chart and the words of a diagram, as DrawingML keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.drawing import plain_text
from citewell.extract.ooxml import A, Element, Package, R, number_of

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MOST_POINTS = 2_000

GRAPHICS = (_CHART + "chart", _DIAGRAM + "relIds")
"""Elements that stand for a chart or a diagram, which is a part of its own."""


def write_graphic(builder: TextBuilder, package: Package, part: str, graphic: Element) -> None:
    """Write the chart or diagram that ``graphic`` of ``GRAPHICS``, in ``part``, stands for; nothing if it is gone."""
    is_chart = graphic.tag == GRAPHICS[0]
    target = package.target(part, graphic.get(R + ("id" if is_chart else "dm")))
    if target is None:
        return
    root = package.spare_xml(target)
    if root is None:
        return
    if is_chart:
        title, rows = chart_rows(root)
        builder.paragraph(title)
        builder.table(rows)
    else:
        builder.end_list()
        for line in diagram_lines(root):
            builder.item(line)


def chart_rows(root: Element) -> tuple[str, list[list[str]]]:
    """The chart's title, and a table: a row for each category, a column for each series."""
    title = root.find(f"{_CHART}chart/{_CHART}title")
    series = list(root.iter(_CHART + "ser"))
    names = [
        " ".join(_points(each.find(_CHART + "tx")).values()) or f"Series {number}"
        for number, each in enumerate(series, start=1)
    ]
    categories: dict[int, str] = {}
    columns = []
    for each in series:
        categories = categories or _points(_first(each, "cat", "xVal"))
        columns.append(_points(_first(each, "val", "yVal")))
    points = sorted({*categories, *(point for column in columns for point in column)})[:_MOST_POINTS]
    rows = [[categories.get(point, ""), *(column.get(point, "") for column in columns)] for point in points]
    return _rich_text(title), [["", *names], *rows] if rows else []


def diagram_lines(root: Element) -> Iterator[str]:
    """The texts of a diagram's points, in the order in which they were written."""
    for point in root.iter(_DIAGRAM + "pt"):
        body = point.find(_DIAGRAM + "t")
        if point.get("type") != "pres" and body is not None and (text := plain_text(body)):
            yield text


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := series.find(_CHART + name)) is not None), None)


def _points(source: Element | None) -> dict[int, str]:
    """Cached values by their index; of categories in several levels the innermost."""
    points: dict[int, str] = {}
    for point in source.iter(_CHART + "pt") if source is not None else ():
        index = number_of(point.get("idx"))
        if index is not None:
            points.setdefault(index, _shown(point.findtext(_CHART + "v") or ""))
    return points


def _shown(value: str) -> str:
    """A number as short as it is exact: charts cache ``0.10000000000000001``."""
    try:
        return f"{float(value):.15g}" if "." in value else value
    except ValueError:
        return value


def _rich_text(title: Element | None) -> str:
    return clean_line(" ".join(each.text or "" for each in title.iter(A + "t"))) if title is not None else ""
