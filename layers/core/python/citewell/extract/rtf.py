"""RTF documents (Rich Text Format 1.9.1), read in one pass over their control words.

Text of other charsets is decoded by its font. Insertions are in, deletions and hidden text are out; notes, comments
and text boxes follow their paragraph or table. A document that is cut off is read as far as it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.alternative_texts import picture_line
from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.options import ReadOptions
from citewell.extract.rtf_blocks import Blocks, Paragraph
from citewell.extract.rtf_codes import CHARACTERS, SIGNS, TOKEN, Fonts, page_of
from citewell.extract.rtf_destinations import COLLECTED, RUNNING, SKIPPED, STARRED
from citewell.extract.rtf_forms import FormField
from citewell.extract.rtf_formulas import FormulaPart
from citewell.extract.rtf_state import State, Style, style_of
from citewell.extract.superscripts import raised_after

_MOST_GROUPS = 1_000
_BODY_LEVEL = 9

_UNREAD = {"nothing", "picture", "field", "form"}
_BULLET = "•"
_PROPERTY = ("sn", "sv")
"""A property's name and value, each in a group of its own."""


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``too_large``, ``no_text_layer`` or ``empty``."""
    builder = TextBuilder(options.limits)
    document, data = _Document(builder), data[data.find(b"{") :]
    document.read(data)
    if not builder.length:
        if document.is_cut_off:
            raise DocumentRejected("corrupt", "the document ends before its text begins")
        if document.shows_pictures:
            raise DocumentRejected("no_text_layer", "no text, only pictures, in the document")
        _Document(builder, skipped=SKIPPED - RUNNING).read(data)  # what stands at the head and foot of its pages
    return builder.finish(title=document.title)


def write_rtf(data: bytes, builder: TextBuilder) -> None:
    """Write the text of RTF that stands in another document, such as a mail's body."""
    _Document(builder).read(data)


class _Document:
    def __init__(self, builder: TextBuilder, *, skipped: Container[str] = SKIPPED) -> None:
        self.shows_pictures = False
        self._skipped = skipped
        self._blocks = Blocks(builder)
        self._around: list[Blocks] = []
        self._before = ""
        self._state = State()
        self._outer: list[State] = []
        self._fonts, self._form = Fonts(), FormField()
        self._styles: dict[int, Style] = {}
        self._collected: dict[str, list[str]] = {}
        self._bytes = bytearray()
        self._to_skip = 0
        self._starred = False
        self._words = self._handlers()

    @property
    def is_cut_off(self) -> bool:
        return bool(self._outer)

    @property
    def title(self) -> str | None:
        return self._blocks.title or clean_line("".join(self._collected.get("title", ()))) or None

    def read(self, data: bytes) -> None:
        position = 0
        while (token := TOKEN.match(data, position)) is not None:
            position = token.end()
            kind = token.lastgroup
            if kind == "text":
                self._literal(token[0])
            elif kind == "hex":
                self._literal(bytes.fromhex(token["hex"].decode()))
            elif kind in ("word", "number"):
                word = token["word"].decode()
                number = int(token["number"]) if token["number"] is not None else None
                position += max(number or 0, 0) if word == "bin" else 0
                self._control(word, number)
            elif kind == "brace":
                self._brace(token[0])
            elif token["sign"] == b"*":
                # It says so of a group that it begins; some programs write it before a character style too.
                self._starred = data[max(token.start() - 3, 0) : token.start()].rstrip().endswith(b"{")
            elif kind == "sign":
                self._sign(token["sign"])
        self._decode()
        while self._around:
            self._close("")
        self._blocks.finish()

    # --- groups ---

    def _brace(self, brace: bytes) -> None:
        self._decode()
        self._to_skip, self._starred = 0, False
        if brace == b"{":
            if len(self._outer) >= _MOST_GROUPS:
                raise DocumentRejected("corrupt", f"more than {_MOST_GROUPS} groups in one another")
            self._outer.append(self._state)
            self._state = self._state.inner()
        elif self._outer:
            ended, self._state = self._state, self._outer.pop()
            if ended.into == "style":
                self._end_style(ended)
            elif ended.into == "sv" and self._state.into == "picture":
                self._end_picture_property()
            elif ended.into != self._state.into:
                self._end_properties(ended)
            if ended.opens is not None:
                author = clean_line("".join(self._collected.pop("author", ()))) if ended.opens == "Comment" else ""
                self._close(f"{ended.opens} ({author})" if author else ended.opens)

    def _open(self, name: str) -> None:
        """What follows in this group is no text of the paragraph around it."""
        if self._is_shown():
            self._state.opens = name
            self._state.paragraph = Paragraph()
            self._around.append(self._blocks)
            self._blocks = self._blocks.aside()

    def _close(self, name: str) -> None:
        aside, self._blocks = self._blocks, self._around.pop()
        self._blocks.end_aside(name, aside)

    # --- text ---

    def _literal(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if self._state.into not in _UNREAD:
            self._bytes += data

    def _decode(self) -> None:
        """Bytes are gathered first, as one character may be two of them."""
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            in_tables = self._state.into in ("fonts", "style")
            self._write(self._fonts.decode(data, None if in_tables else self._state.font))

    def _write(self, text: str) -> None:
        state = self._state
        if state.into == "body":
            if not state.hidden and not state.deleted:
                text = raised_after(self._before, text) if state.raised else text
                self._before = text[-1:] or self._before
                self._blocks.write(text, state.paragraph)
        elif state.formula is not None:
            state.formula.add(text)
        elif state.into == "fonts":
            self._fonts.font(state.font).name += text.partition(";")[0]
        elif state.into == "marker":
            self._collected.setdefault("marker", []).append(text or _BULLET)  # a symbol without a character
        elif state.into not in _UNREAD and state.into != "info":
            self._collected.setdefault(state.into, []).append(text)

    def _sign(self, sign: bytes) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif sign in b"\r\n":
            self._end_paragraph(None)
        elif sign in SIGNS:
            self._decode()
            self._write(SIGNS[sign])

    def _unicode(self, number: int | None) -> None:
        self._write(self._fonts.character((number or 0) & 0xFFFF, self._state.font))
        self._to_skip = self._state.unicode_skip

    # --- control words ---

    def _control(self, word: str, number: int | None) -> None:
        self._decode()
        starred, self._starred = self._starred, False
        if self._to_skip and word not in self._words:
            self._to_skip -= 1
        elif self._state.into in _UNREAD:
            self._look_for(word, number, starred=starred)
        elif self._state.formula is not None and word.startswith("m") and not self._state.is_part:
            self._set(formula=self._state.formula.part(word), is_part=True)
        elif word in self._skipped:
            self._state.into = "nothing"
        elif word in self._words:
            self._words[word](number)
        elif word in COLLECTED:
            self._collect(COLLECTED[word])
        elif word in CHARACTERS:
            self._write(CHARACTERS[word])
        elif starred and word not in STARRED:
            self._state.into = "nothing"

    def _collect(self, name: str) -> None:
        if self._state.into == ("info" if name == "title" else "body"):
            self._state.into = name
            self._collected[name] = []

    def _handlers(self) -> dict[str, Callable[[int | None], None]]:
        return {
            "u": self._unicode,
            "uc": lambda number: self._set(unicode_skip=max(number or 0, 0)),
            "ansicpg": lambda number: self._fonts.set_page(number or 0),
            "mac": lambda _: self._fonts.set_page(10000),
            "pc": lambda _: self._fonts.set_page(437),
            "pca": lambda _: self._fonts.set_page(850),
            "deff": self._set_default_font,
            "f": lambda number: self._set(font=number or 0),
            "fonttbl": lambda _: self._set(into="fonts"),
            "fcharset": lambda number: setattr(self._fonts.font(self._state.font), "charset", number or 0),
            "cpg": lambda number: setattr(self._fonts.font(self._state.font), "page", page_of(number or 0)),
            "stylesheet": lambda _: self._set(into="style"),
            "info": lambda _: self._set(into="info"),
            "v": lambda number: self._set(hidden=number != 0),
            "deleted": lambda number: self._set(deleted=number != 0),
            "mvf": lambda number: self._set(deleted=number != 0),
            "super": lambda number: self._set(raised=number != 0),
            "up": lambda number: self._set(raised=number != 0),
            "sub": lambda _: self._set(raised=False),
            "nosupersub": lambda _: self._set(raised=False),
            "plain": lambda _: self._set(hidden=False, deleted=False, raised=False, font=self._fonts.default),
            "pard": lambda _: self._set(paragraph=Paragraph()),
            "s": self._set_style,
            "outlinelevel": self._set_level,
            "ilvl": lambda number: self._set_paragraph(depth=min(max(number or 0, 0), _BODY_LEVEL)),
            "ls": lambda number: self._set_paragraph(list_number=number or 0),
            "intbl": lambda number: self._set_paragraph(in_table=number != 0),
            "itap": lambda number: self._set_paragraph(nested=(number or 0) > 1),
            "trowd": lambda _: self._blocks.begin_plan(),
            "trleft": lambda number: setattr(self._blocks.plan, "left", number or 0),
            "trhdr": lambda _: setattr(self._blocks.plan, "is_head", True),
            "clmrg": lambda _: setattr(self._blocks.plan.next_cell, "goes_on_left", True),
            "clvmrg": lambda _: setattr(self._blocks.plan.next_cell, "goes_on_above", True),
            "cellx": lambda number: self._blocks.plan.end_cell(number or 0),
            "nesttableprops": lambda _: self._blocks.begin_nested_plan(),
            "pict": lambda _: self._begin_picture(),
            "sp": lambda _: self._begin_properties(),
            "par": self._end_paragraph,
            "sect": self._end_paragraph,
            "page": self._end_paragraph,
            "cell": lambda _: self._end_cell(nested=False),
            "nestcell": lambda _: self._end_cell(nested=True),
            "row": lambda _: self._blocks.end_row(nested=False),
            "nestrow": lambda _: self._blocks.end_row(nested=True),
            "footnote": lambda _: self._open("Footnote"),
            "ftnalt": lambda _: self._set_endnote(),
            "annotation": lambda _: self._open("Comment"),
            "moMath": lambda _: self._begin_formula(),
            "fldinst": lambda _: self._begin_field(),
            "shptxt": lambda _: self._open(""),
            "dptxbxtext": lambda _: self._open(""),
        }

    def _set(self, **changes: object) -> None:
        for name, value in changes.items():
            setattr(self._state, name, value)

    def _set_paragraph(self, **changes: object) -> None:
        for name, value in changes.items():
            setattr(self._state.paragraph, name, value)

    def _set_default_font(self, number: int | None) -> None:
        self._fonts.default = self._state.font = number or 0

    def _set_endnote(self) -> None:
        self._state.opens = "Endnote" if self._state.opens is not None else None

    # --- formulas, fields and pictures ---

    def _begin_formula(self) -> None:
        if self._state.into == "body":
            self._set(into="formula", formula=FormulaPart(), is_part=True)

    def _begin_field(self) -> None:
        self._state.into = "field" if self._state.into == "body" else "nothing"

    def _look_for(self, word: str, number: int | None, *, starred: bool) -> None:
        """What counts where text doesn't."""
        into = self._state.into
        if into == "picture" and word in _PROPERTY:
            self._state.into = word
            self._collected[word] = []
        elif into == "field" and word == "formfield":
            self._state.into = "form"
            self._form = FormField()
        elif into == "form":
            self._state.into = self._form.take(word, number, starred=starred)

    def _end_properties(self, ended: State) -> None:
        if ended.into == "formula" and ended.formula is not None:
            self._write(ended.formula.line)
        elif ended.into == "choice":
            self._form.choices.append("".join(self._collected.pop("choice", ())))
        elif ended.into == "form" and not (self._state.hidden or self._state.deleted):
            self._blocks.write(self._form.text, self._state.paragraph)

    def _begin_picture(self) -> None:
        self.shows_pictures |= self._is_shown(in_shape=True)
        self._begin_properties()

    def _begin_properties(self) -> None:
        self._state.into = "picture" if self._is_shown() else "nothing"

    def _is_shown(self, *, in_shape: bool = False) -> bool:
        """``in_shape``: also as one of a shape's properties."""
        is_there = self._state.into == "body" or (in_shape and self._state.into == "sv")
        return is_there and not (self._state.hidden or self._state.deleted)

    def _end_picture_property(self) -> None:
        name, value = ("".join(self._collected.pop(part, ())) for part in _PROPERTY)
        if name.strip() == "wzDescription":
            self._blocks.add_line(picture_line(value))
        elif name.strip() == "gtextUNICODE":  # WordArt
            self._blocks.add_line(value)

    # --- styles and paragraphs ---

    def _set_style(self, number: int | None) -> None:
        style = self._styles.get(number or 0)
        self._set_paragraph(style=number or 0)
        if self._state.into == "body" and style is not None:
            self._set_paragraph(level=style.level, is_title=style.is_title)

    def _set_level(self, number: int | None) -> None:
        level = number or 0
        self._set_paragraph(level=level + 1 if 0 <= level < _BODY_LEVEL else None)

    def _end_style(self, ended: State) -> None:
        name = "".join(self._collected.pop("style", ())).strip().rstrip(";")
        self._styles[ended.paragraph.style] = style_of(name, ended.paragraph.level)
        self._state.paragraph = Paragraph()

    def _end_paragraph(self, _: int | None) -> None:
        self._decode()
        if self._state.into == "body" and not self._state.deleted:
            self._blocks.end_paragraph(self._state.paragraph, self._take_marker())
            self._before = ""

    def _end_cell(self, *, nested: bool) -> None:
        self._blocks.end_cell(self._state.paragraph, self._take_marker(), nested=nested)

    def _take_marker(self) -> str:
        return clean_line("".join(self._collected.pop("marker", ())))
