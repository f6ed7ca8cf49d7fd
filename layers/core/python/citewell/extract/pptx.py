"""PowerPoint presentations (ECMA-376 PresentationML): a slide is a page, its title a heading.

Slides stand in the order of the show, hidden ones left out. On a slide the title comes first, even where it is a text
box; then the shapes as a reader sees them rather than as they were drawn; then the speaker's notes, then comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.alternative_texts import picture_line
from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.charts import GRAPHICS, write_graphic
from citewell.extract.drawing import plain_text, write_table, write_text
from citewell.extract.inner_documents import InnerDocuments
from citewell.extract.ooxml import MATH, MC, A, Element, P, Package, R, chosen_branch
from citewell.extract.options import ReadOptions
from citewell.extract.slide_layout import Box, Inherited, box_of, in_reading_order, placeholder_of
from citewell.extract.slide_titles import drawn_title

_NO_TITLE = re.compile(
    r"""(?: slide | folie | dia | diapositiv[ae] | snímek | slajd | слайд | スライド | 幻灯片 | 投影片 | page ) \ ?1
      | powerpoint[ -] (?: presentation | präsentation | bemutató | presentatie | presentasjon )
      | powerpoint[ ] (?: 演示文稿 | 簡報 | プレゼンテーション )
      | (?: présentation | presentación\ de | presentazione\ (?:standard\ )?di | apresentação\ do | презентация
          | prezentacja\ programu | prezentace\ aplikace ) \ powerpoint""",
    re.IGNORECASE | re.VERBOSE,
)
"""Titles that programs give to presentations by themselves."""

_TITLES = {"title", "ctrTitle"}
_RUNNING = {"dt", "ftr", "hdr", "sldNum"}
_SHAPES = {P + name for name in ("sp", "grpSp", "graphicFrame", "pic")}


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``encrypted``, ``archive_bomb``, ``too_large`` or ``empty``."""
    return _read(data, options, inner=options)


def read_inner(data: bytes, options: ReadOptions) -> ExtractedText:
    """The same of a presentation in another document: documents in it are left out."""
    return _read(data, options, inner=None)


def _read(data: bytes, options: ReadOptions, *, inner: ReadOptions | None) -> ExtractedText:
    package = Package(data, options.limits)
    main = package.main_part("ppt/presentation.xml")
    slides = [package.target(main, each.get(R + "id")) for each in package.xml(main).iter(P + "sldId")]
    if len(slides) > options.limits.pages:
        raise DocumentRejected("too_large", f"{len(slides)} slides, {options.limits.pages} allowed")
    builder = TextBuilder(options.limits)
    presentation = _Presentation(package, main, builder, InnerDocuments(package, builder, inner))
    for number, slide in enumerate(slides, start=1):
        builder.page(number, anew=True)
        presentation.write(slide, number)
    if presentation.damaged and not builder.length:
        raise DocumentRejected("corrupt", "none of the slides can be read")
    if presentation.pictures and not builder.length:
        raise DocumentRejected("no_text_layer", "no text, only pictures, on the slides")
    properties = package.properties()
    given = None if _NO_TITLE.fullmatch(properties.title or "") else properties.title
    return builder.finish(
        title=presentation.title or given,
        pages=len(slides),
        unread_pages=sorted(presentation.damaged + presentation.pictures),
        language=properties.language,
    )


class _Presentation:
    def __init__(self, package: Package, main: str, builder: TextBuilder, inner: InnerDocuments) -> None:
        self.title: str | None = None
        self.damaged: list[int] = []
        self.pictures: list[int] = []
        self._package = package
        self._builder = builder
        self._inner = inner
        self._authors = {
            each.get("id", ""): each.get("name", "")
            for kind in ("commentAuthors", "authors")
            if (root := package.related_xml(main, kind)) is not None
            for each in root
        }
        self._inherited: dict[str | None, Inherited] = {}
        self._backgrounds: set[str] = set()
        self._described: set[str] = set()

    def write(self, part: str | None, number: int) -> None:
        """``part`` is None for a slide that is named but not there."""
        slide = self._slide(part)
        if part is None or slide is None:
            self.damaged.append(number)
            return
        if slide.get("show") in ("0", "false"):
            return
        tree = slide.find(f"{P}cSld/{P}spTree")
        shapes = list(_shapes(tree)) if tree is not None else []
        inherited = self._inherited_by(part)
        before = self._builder.length
        title = next((each for each in shapes if _kind(each) in _TITLES and _text(each)), None)
        if title is None:
            title = drawn_title([(each, box_of(each, inherited)) for each in shapes if _says(each)], inherited)
        if title is not None:
            self._builder.heading(1, _text(title))
            if not before:  # a later slide's title is that slide's alone
                self.title = _text(title)
        self._write_shapes([each for each in shapes if each is not title], part, inherited)
        self._write_notes(part)
        self._write_comments(part)
        if self._builder.length > before:
            self._write_background(slide, part, inherited)
        elif any(True for _ in slide.iter(P + "pic")):
            self.pictures.append(number)

    def _slide(self, part: str | None) -> Element | None:
        try:
            return self._package.xml(part) if part is not None else None
        except DocumentRejected as rejected:
            if rejected.code != "corrupt":
                raise
            return None

    # --- shapes ---

    def _write_shapes(self, shapes: list[Element], part: str, inherited: Inherited) -> None:
        # What is only drawn, such as a panel behind all, would keep apart or together what is not.
        said = [each for each in shapes if _says(each) or _is_described(each)]
        boxes: list[tuple[Element, Box | None]] = [(each, box_of(each, inherited)) for each in said]
        for shape in in_reading_order(boxes):
            self._write_alternative_text(shape)
            if shape.tag == P + "grpSp":
                self._write_shapes(list(_shapes(shape)), part, inherited)
            elif shape.tag == P + "graphicFrame":
                self._write_frame(shape, part)
            elif (body := shape.find(P + "txBody")) is not None and not _is_running(shape):
                write_text(self._builder, body, inherited.list_styles(placeholder_of(shape)))

    def _write_alternative_text(self, shape: Element) -> None:
        """What a picture, chart or drawing shows; one on many slides, such as a logo, is told once."""
        named = _named(shape)
        line = picture_line(named.get("descr"), named.get("title")) if named is not None else ""
        if line and line not in self._described and not _text(shape):
            self._described.add(line)
            self._builder.paragraph(line)

    def _write_background(self, slide: Element, part: str, inherited: Inherited) -> None:
        """The text that a layout and its master themselves show on slides: with the first slide that shows it."""
        for kind in ("slideLayout", "slideMaster"):
            source = self._package.related(part, kind)
            if source is None or source in self._backgrounds or slide.get("showMasterSp") in ("0", "false"):
                return
            self._backgrounds.add(source)
            part, slide = source, self._package.spare_xml(source)
            if slide is None or (tree := slide.find(f"{P}cSld/{P}spTree")) is None:
                return
            self._write_shapes(_of_background(tree), part, inherited)

    def _write_frame(self, frame: Element, part: str) -> None:
        """A table, a chart's numbers, a diagram's words, or a document that is shown there."""
        if (table := next(frame.iter(A + "tbl"), None)) is not None:
            write_table(self._builder, table)
        for graphic in frame.iter(*GRAPHICS):
            write_graphic(self._builder, self._package, part, graphic)
        for shown in frame.iter(P + "oleObj"):
            self._inner.write_object(part, shown.get(R + "id"))

    def _inherited_by(self, part: str) -> Inherited:
        layout = self._package.related(part, "slideLayout")
        if layout not in self._inherited:
            master = self._package.related(layout, "slideMaster") if layout else None
            self._inherited[layout] = Inherited(
                self._package.spare_xml(layout) if layout else None,
                self._package.spare_xml(master) if master else None,
            )
        return self._inherited[layout]

    # --- what hangs on a slide ---

    def _write_notes(self, part: str) -> None:
        notes = self._package.related_xml(part, "notesSlide")
        bodies = notes.iter(P + "sp") if notes is not None else ()
        text = "\n".join(filter(None, (_text(each) for each in bodies if _kind(each) == "body")))
        if text:
            self._builder.paragraph(f"Speaker notes: {text}")

    def _write_comments(self, part: str) -> None:
        """Those of PowerPoint 2007 and of 2021, whose elements differ in little but their namespace."""
        root = self._package.related_xml(part, "comments")
        for each in root.iter("{*}cm", "{*}reply") if root is not None else ():
            author = clean_line(self._authors.get(each.get("authorId", ""), ""))
            body = each.find("{*}txBody")
            text = each.findtext("{*}text") if body is None else plain_text(body)
            if text and text.strip():
                self._builder.paragraph(f"Comment ({author}): {text}" if author else f"Comment: {text}")


def _shapes(tree: Element) -> Iterator[Element]:
    """The visible shapes of a slide or group."""
    for each in tree:
        if each.tag == MC + "AlternateContent":
            yield from _shapes(chosen_branch(each))
        elif each.tag in _SHAPES and not _is_hidden(each):
            yield each


def _of_background(tree: Element) -> list[Element]:
    """What a layout or master shows itself but for pictures, which are decoration."""
    return [each for each in _shapes(tree) if placeholder_of(each) is None and each.tag != P + "pic"]


def _named(shape: Element) -> Element | None:
    return shape.find(f"*/{P}cNvPr")


def _is_hidden(shape: Element) -> bool:
    named = _named(shape)
    return named is not None and named.get("hidden") in ("1", "true")


def _kind(shape: Element) -> str | None:
    placeholder = placeholder_of(shape)
    return placeholder.kind if placeholder is not None else None


def _is_running(shape: Element) -> bool:
    """Whether it stands on each slide alike: a placeholder for that, or a text box with but the slide's number."""
    return _kind(shape) in _RUNNING or _is_slide_number(shape)


def _is_slide_number(shape: Element) -> bool:
    fields = [each.findtext(A + "t") or "" for each in shape.iter(A + "fld") if each.get("type") == "slidenum"]
    return bool(fields) and _text(shape) == "".join(fields).strip()


def _says(shape: Element) -> bool:
    said = shape.iter(A + "t", MATH + "t", P + "graphicFrame")
    return not _is_running(shape) and any(each.tag == P + "graphicFrame" or (each.text or "").strip() for each in said)


def _is_described(shape: Element) -> bool:
    return any(named.get("descr") or named.get("title") for named in shape.iter(P + "cNvPr"))


def _text(shape: Element) -> str:
    body = shape.find(P + "txBody")
    return plain_text(body).strip() if body is not None else ""
