"""Charts and the words of diagrams, as DrawingML keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.extract.building import TextBuilder
from citewell.extract.chart_tables import chart_tables, chart_title
from citewell.extract.drawing import plain_text
from citewell.extract.extended_charts import extended_chart_tables, extended_chart_title
from citewell.extract.ooxml import Element, Package, R

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_EXTENDED = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"

GRAPHICS = (_CHART, _EXTENDED, _DIAGRAM + "relIds")
"""Elements that stand for a chart or a diagram, which is a part of its own."""


def write_graphic(builder: TextBuilder, package: Package, part: str, graphic: Element) -> None:
    """Write the chart or diagram that ``graphic`` of ``GRAPHICS``, in ``part``, stands for; nothing if it is gone.

    What is written over a chart follows its numbers.
    """
    is_diagram = graphic.tag == _DIAGRAM + "relIds"
    target = package.target(part, graphic.get(R + ("dm" if is_diagram else "id")))
    root = package.spare_xml(target) if target is not None else None
    if root is None:
        return
    if is_diagram:
        builder.end_list()
        for line in diagram_lines(root):
            builder.item(line)
        return
    is_extended = graphic.tag == _EXTENDED
    builder.paragraph(extended_chart_title(root) if is_extended else chart_title(root))
    for rows in extended_chart_tables(root) if is_extended else chart_tables(root):
        builder.table(rows)
    drawn_over = package.related_xml(target, "chartUserShapes") if target is not None else None
    for body in drawn_over.iter("{*}txBody") if drawn_over is not None else ():
        builder.paragraph(plain_text(body))


def diagram_lines(root: Element) -> Iterator[str]:
    """The texts of a diagram's points, in the order in which they were written."""
    for point in root.iter(_DIAGRAM + "pt"):
        body = point.find(_DIAGRAM + "t")
        if point.get("type") != "pres" and body is not None and (text := plain_text(body)):
            yield text
