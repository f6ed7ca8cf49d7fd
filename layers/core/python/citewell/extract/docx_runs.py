"""The text of one paragraph of a Word document, and what hangs on it: notes, comments, text boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from citewell.extract.alternative_texts import picture_line
from citewell.extract.charts import GRAPHICS
from citewell.extract.docx_styles import Styles, hidden_in
from citewell.extract.formulas import formula
from citewell.extract.ooxml import MATH, MC, Element, R, V, W, chosen_branch, number_of, value_of
from citewell.extract.superscripts import raised_after
from citewell.extract.symbols import check_box, has_symbols, is_symbol_font, spelled, symbol

_WORD_ART = V + "textpath"
_OFFICE = "{urn:schemas-microsoft-com:office:office}"
_OLE_OBJECT = _OFFICE + "OLEObject"
_SIGNATURE_LINE = _OFFICE + "signatureline"
_SIGNERS = (_OFFICE + "suggestedsigner", _OFFICE + "suggestedsigner2")
"""Attributes: name, then title of the one who is to sign."""
_BOX = W + "txbxContent"
_DESCRIBING = ("descr", "alt", "title")
"""Attributes that say what a drawing shows: its own, an older version's, and the short one."""


@dataclass(slots=True)
class ParagraphText:
    """``notes`` are (``footnote`` or ``endnote``, id), ``comments`` ids, ``boxes`` the content of text boxes.

    ``graphics`` stand for charts and diagrams, ``pictures`` are lines that say what a picture shows, ``objects`` the
    ids of documents that are shown in this one.
    """

    text: str = ""
    notes: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    graphics: list[Element] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)


class Runs:
    """Reads paragraphs in the document's order; a field may begin in one and end in another."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._in_code: list[bool] = []
        self._form_value: int | None = None
        self._paragraph_style: str | None = None
        self._out = ParagraphText()
        self._pieces: list[str] = []
        self._handlers = self._handlers_by_tag()

    def read(self, paragraph: Element, style: str | None) -> ParagraphText:
        """``style`` is the paragraph's own."""
        outer = self._paragraph_style, self._out, self._pieces
        self._paragraph_style, self._out, self._pieces = style, ParagraphText(), []
        self._form_value = None
        self._walk(paragraph)
        read, read.text = self._out, "".join(self._pieces)
        self._paragraph_style, self._out, self._pieces = outer
        # A field's code ends with its paragraph: without an end it would swallow the rest of the document.
        self._in_code = [in_code for in_code in self._in_code if not in_code]
        return read

    def _handlers_by_tag(self) -> dict[str, Callable[[Element], None]]:
        transparent = (
            "ins",
            "moveTo",
            "hyperlink",
            "smartTag",
            "sdt",
            "sdtContent",
            "fldSimple",
            "dir",
            "bdo",
            "customXml",
        )
        return {
            **{W + name: self._walk for name in transparent},
            W + "r": self._run,
            W + "t": self._text,
            W + "tab": lambda _: self._write("\t"),
            W + "ptab": lambda _: self._write("\t"),
            W + "br": lambda _: self._write("\n"),
            W + "cr": lambda _: self._write("\n"),
            W + "noBreakHyphen": lambda _: self._write("-"),
            W + "sym": self._symbol,
            W + "fldChar": self._field,
            W + "ruby": self._ruby,
            W + "footnoteReference": lambda element: self._note("footnote", element),
            W + "endnoteReference": lambda element: self._note("endnote", element),
            W + "commentReference": lambda element: self._out.comments.append(element.get(W + "id", "")),
            W + "drawing": self._drawing,
            W + "pict": self._drawing,
            W + "object": self._object,
            MC + "AlternateContent": lambda element: self._walk(chosen_branch(element)),
            MATH + "oMath": self._math,
            MATH + "oMathPara": self._math,
        }

    def _walk(self, parent: Element) -> None:
        for child in parent:
            handler = self._handlers.get(child.tag)
            if handler is not None:
                handler(child)

    def _write(self, text: str) -> None:
        if not any(self._in_code):
            self._pieces.append(text)

    def _run(self, run: Element) -> None:
        properties = run.find(W + "rPr")
        if not self._hidden(properties):
            start = len(self._pieces)
            self._walk(run)
            if properties is not None and value_of(properties, "vertAlign") == "superscript":
                before = next((piece for piece in reversed(self._pieces[:start]) if piece), "")
                self._pieces[start:] = [raised_after(before, "".join(self._pieces[start:]))]
            return
        for mark in run.iterfind(W + "fldChar"):  # a field's marks count even where they are hidden
            self._field(mark)

    def _hidden(self, properties: Element | None) -> bool:
        hidden = hidden_in(properties)
        if hidden is None and properties is not None and (style := value_of(properties, "rStyle")):
            hidden = self._styles.hidden(style) or None
        return self._styles.hidden(self._paragraph_style) if hidden is None else hidden

    def _text(self, element: Element) -> None:
        text = element.text or ""
        if has_symbols(text):
            fonts = element.getparent().find(f"{W}rPr/{W}rFonts")
            font = fonts.get(W + "ascii", "") if fonts is not None else ""
            text = spelled(text, font if is_symbol_font(font) else "symbol")
        self._write(text.replace("\n", " "))  # lines have elements of their own

    def _symbol(self, element: Element) -> None:
        try:
            code = int(element.get(W + "char", ""), 16)
        except ValueError:
            return
        self._write(symbol(code, element.get(W + "font", "")))

    def _field(self, mark: Element) -> None:
        kind = mark.get(W + "fldCharType")
        if kind == "begin":
            self._form_value = None if any(self._in_code) else len(self._pieces)
            self._write(_form_value(mark))
            self._in_code.append(True)
        elif kind == "separate" and self._in_code:
            self._in_code[-1] = False
        elif kind == "end" and self._in_code:
            self._in_code.pop()
            self._forget_form_value()

    def _forget_form_value(self) -> None:
        """Where the field has a result: some programs write there what the form shows, too."""
        begin, self._form_value = self._form_value, None
        if begin is not None and any(map(str.strip, self._pieces[begin + 1 :])):
            self._pieces[begin] = ""

    def _ruby(self, element: Element) -> None:
        """The words; how they are read stands above them, smaller."""
        for base in element.iterfind(W + "rubyBase"):
            self._walk(base)

    def _note(self, kind: str, element: Element) -> None:
        self._out.notes.append((kind, element.get(W + "id", "")))

    def _drawing(self, element: Element) -> None:
        floating = list(_floating(element))
        lines = [] if any(each.tag == _BOX for each in floating) else self._out.pictures
        for found in floating:
            if found.tag == _WORD_ART:
                self._write(f" {found.get('string', '')} ")
            elif found.tag == _SIGNATURE_LINE:
                if signer := ", ".join(filter(None, map(found.get, _SIGNERS))):
                    self._out.pictures.append(f"[Signature line: {signer}]")
            elif found.tag in GRAPHICS:
                self._out.graphics.append(found)
            elif found.tag == _BOX:
                self._out.boxes.append(found)
            elif (line := picture_line(*map(found.get, _DESCRIBING))) and line not in lines:
                lines.append(line)

    def _object(self, element: Element) -> None:
        self._drawing(element)
        self._out.objects += [each.get(R + "id", "") for each in element.iterchildren(_OLE_OBJECT)]

    def _math(self, element: Element) -> None:
        self._write(formula(element))


def _floating(element: Element) -> Iterator[Element]:
    """The content of each text box, and graphics, decorated words and what is described outside of boxes, once.

    Word writes a box a second time for versions that don't know its form.
    """
    for child in element:
        if child.tag == MC + "AlternateContent":
            yield from _floating(chosen_branch(child))
            continue
        if child.tag in (_BOX, _WORD_ART) or child.tag in GRAPHICS:
            yield child
            continue
        if (signature := child.find(_SIGNATURE_LINE)) is not None:
            yield signature
            continue
        if any(map(child.get, _DESCRIBING)):
            yield child
        yield from _floating(child)


def _form_value(mark: Element) -> str:
    """What a legacy form's check box or drop-down list shows."""
    form = mark.find(W + "ffData")
    if form is None:
        return ""
    if (box := form.find(W + "checkBox")) is not None:
        state = box.find(W + "checked")
        state = box.find(W + "default") if state is None else state
        return check_box(checked=state is not None and state.get(W + "val") not in ("0", "false", "off"))
    if (choice := form.find(W + "ddList")) is not None:
        entries = [each.get(W + "val", "") for each in choice.iterfind(W + "listEntry")]
        chosen = number_of(value_of(choice, "result") or value_of(choice, "default") or "0")
        return entries[chosen] if chosen is not None and 0 <= chosen < len(entries) else ""
    return ""
