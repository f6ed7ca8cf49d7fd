"""The text of one paragraph of an OpenDocument text, and what hangs on it: notes, annotations, text boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from citewell.extract.alternative_texts import picture_line
from citewell.extract.mathml import mathml
from citewell.extract.odt_forms import FIELD_MARK, field_mark
from citewell.extract.odt_objects import Objects, is_formula
from citewell.extract.odt_styles import DRAW, OFFICE, SVG, TEXT, Styles
from citewell.extract.ooxml import Element, number_of
from citewell.extract.superscripts import BEGIN, END, with_raised

_MOST_SPACES = 100
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_SKIPPED = {
    TEXT + "ruby-text",
    TEXT + "hidden-text",
    TEXT + "script",
    TEXT + "number",
    TEXT + "tracked-changes",
    OFFICE + "annotation-end",
    OFFICE + "forms",
    _PRESENTATION + "notes",
}
_SIGNS = {TEXT + "tab": "\t", TEXT + "line-break": "\n"}


@dataclass(slots=True)
class Line:
    """``notes`` are ``text:note`` elements, ``annotations`` ``office:annotation``, ``boxes`` hold paragraphs.

    ``pictures`` are lines that say what a picture shows, ``objects`` documents of their own.
    """

    text: str = ""
    notes: list[Element] = field(default_factory=list)
    annotations: list[Element] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    objects: list[Element] = field(default_factory=list)


def read_line(paragraph: Element, styles: Styles, objects: Objects) -> Line:
    line = Line()
    line.text = with_raised("".join(_pieces(paragraph, styles, objects, line)))
    if any(each.get(TEXT + "is-hidden") == "true" for each in paragraph.iter(TEXT + "hidden-paragraph")):
        line.text = ""
    return line


def read_drawing(drawing: Element, objects: Objects) -> Line:
    """The same of a drawing that stands by itself; its text are its formulas."""
    line = Line()
    line.text = "".join(_drawing(drawing, objects, line))
    return line


def boxes_in(drawing: Element) -> Iterator[Element]:
    """The elements that hold the paragraphs of a drawing, outermost only."""
    if any(child.tag == TEXT + "p" for child in drawing) or drawing.tag == DRAW + "text-box":
        yield drawing
        return
    for child in drawing:
        if child.tag.startswith(DRAW):
            yield from boxes_in(child)


def pictures_in(drawing: Element) -> Iterator[str]:
    """What each picture of a drawing shows, as far as that was written down; boxes say themselves what they say."""
    line = picture_line(drawing.findtext(SVG + "desc"), drawing.findtext(SVG + "title"))
    if line and not any(True for _ in boxes_in(drawing)):
        yield line
        return
    for child in drawing:
        if child.tag.startswith(DRAW):
            yield from pictures_in(child)


def is_hidden(element: Element) -> bool:
    """Whether a section or field is never shown, or isn't as its condition stood when the document was saved."""
    return bool(element.get(TEXT + "display") == "none" or element.get(TEXT + "is-hidden") == "true")


def _pieces(parent: Element, styles: Styles, objects: Objects, line: Line) -> Iterator[str]:
    if styles.hidden(parent.get(TEXT + "style-name")):
        return
    yield _spaced(parent.text)
    for child in parent:
        if child.tag == TEXT + "s":
            yield " " * min(number_of(child.get(TEXT + "c")) or 1, _MOST_SPACES)
        elif child.tag == FIELD_MARK:
            yield field_mark(child)
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag == TEXT + "note":
            line.notes.append(child)
        elif child.tag == OFFICE + "annotation":
            line.annotations.append(child)
        elif child.tag.startswith(DRAW):
            yield from _drawing(child, objects, line)
        elif child.tag not in _SKIPPED and not is_hidden(child):
            raised = styles.raised(child.get(TEXT + "style-name"))
            yield BEGIN if raised else ""
            yield from _pieces(child, styles, objects, line)
            yield END if raised else ""
        yield _spaced(child.tail)


def _drawing(drawing: Element, objects: Objects, line: Line) -> Iterator[str]:
    line.boxes += boxes_in(drawing)  # an inline element such as draw:a holds text boxes as well
    line.pictures += pictures_in(drawing)
    for control in _controls_in(drawing):
        yield f" {objects.forms.shown(control.get(DRAW + 'control'))} "
    for shown in objects.shown_in(drawing):
        if is_formula(shown):
            yield f" {mathml(shown)} "
        else:
            line.objects.append(shown)


def _controls_in(drawing: Element) -> Iterator[Element]:
    """Those of boxes stand in their paragraphs."""
    if drawing.tag == DRAW + "control":
        yield drawing
    elif drawing.tag != DRAW + "text-box" and not any(child.tag == TEXT + "p" for child in drawing):
        for child in drawing:
            if child.tag.startswith(DRAW):
                yield from _controls_in(child)


def _spaced(text: str | None) -> str:
    """A line end in the file is a space: lines have elements of their own."""
    return text.replace("\n", " ") if text else ""
