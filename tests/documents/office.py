"""Small Office documents and OpenDocument texts, written from their XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tests.documents.archives import unzipped, zipped

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument"
_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{namespace}"'
    for prefix, namespace in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "xdr": "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
        "m": f"{OFFICE}/math",
        "r": f"{OFFICE}/relationships",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)
_SPREADSHEET = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}/relationships"'
_OPEN_DOCUMENT = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
        "meta": "meta",
        "svg": "svg-compatible",
    }.items()
)


def relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    """``targets``: kind and target by id."""
    entries = "".join(
        f'<Relationship Id="{identifier}" Type="{OFFICE}/relationships/{kind}" Target="{target}"/>'
        for identifier, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'


def package(main: str, main_type: str, parts: Mapping[str, str | bytes], *, title: str | None = None) -> bytes:
    """An Office document whose part ``main`` is of type ``main_type``."""
    core = f'<Relationship Id="c" Type="{_PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    root = relationships({"m": ("officeDocument", main)})
    properties = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'
    )
    return zipped(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{_PACKAGE}/content-types">'
                f'<Override PartName="/{main}" ContentType="{_TYPES}.{main_type}.main+xml"/></Types>'
            ),
            "_rels/.rels": root.replace("</Relationships>", f"{core}</Relationships>") if title else root,
            **({"docProps/core.xml": properties} if title else {}),
            **parts,
        }
    )


def strict(document: bytes) -> bytes:
    """The same Office document in the strict form, whose namespaces are others."""
    transitional = rb"http://schemas\.openxmlformats\.org/(\w+ml|officeDocument)/2006/"
    return zipped(
        {
            name: re.sub(transitional, rb"http://purl.oclc.org/ooxml/\1/", xml)
            for name, xml in unzipped(document).items()
        }
    )


# --- Word ---


def docx(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    endnotes: str = "",
    comments: str = "",
    parts: Mapping[str, str] | None = None,
    title: str | None = None,
) -> bytes:
    """``body`` and the others are what stands inside of the root element of each part.

    ``parts``: further ones, each related to the document by the name of its file.
    """
    others = {
        "styles": styles,
        "numbering": numbering,
        "footnotes": footnotes,
        "endnotes": endnotes,
        "comments": comments,
    }
    return package(
        "word/document.xml",
        "wordprocessingml.document",
        {
            "word/document.xml": f"<w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relationships(
                {name: (name, f"{name}.xml") for name in others} | {name: ("more", f"/{name}") for name in parts or {}}
            ),
            **{f"word/{name}.xml": f"<w:{name} {_NAMESPACES}>{xml}</w:{name}>" for name, xml in others.items()},
            **{name: with_namespaces(xml) for name, xml in (parts or {}).items()},
        },
        title=title,
    )


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*content: str, style: str | None = None, properties: str = "") -> str:
    """``content``: plain words, or the XML of runs."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    runs = "".join(each if each.startswith("<") else run(each) for each in content)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{runs}</w:p>"


def numbered(text: str, number: int, level: int = 0) -> str:
    return paragraph(text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def table(*rows: Sequence[str]) -> str:
    """Each cell is plain words or the XML of a ``w:tc``."""
    cells = ("".join(each if each.startswith("<w:tc>") else cell(paragraph(each)) for each in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def style(identifier: str, name: str, *, based_on: str | None = None, more: str = "") -> str:
    basis = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="paragraph" w:styleId="{identifier}"><w:name w:val="{name}"/>{basis}{more}</w:style>'


def level(number: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
    )


# --- PowerPoint ---


def pptx(
    slides: Sequence[str],
    *,
    notes: Mapping[int, str] | None = None,
    parts: Mapping[str, str] | None = None,
    of_slides: Mapping[str, tuple[str, str]] | None = None,
    layout: str = "",
    master: str = "",
    order: Sequence[int] | None = None,
    title: str | None = None,
) -> bytes:
    """``slides``: the shapes of each, or the whole XML of one that begins with ``<p:sld``.

    ``notes``: shapes of the notes page, by the slide's number. ``master``: the whole of it. ``order``: of the slides
    in the show. ``of_slides``: further relationships of every slide, to ``parts``.
    """
    notes = notes or {}
    order = order or range(1, len(slides) + 1)
    written: dict[str, str] = {
        "ppt/presentation.xml": (
            f"<p:presentation {_NAMESPACES}><p:sldIdLst>"
            + "".join(f'<p:sldId id="{255 + number}" r:id="s{number}"/>' for number in order)
            + "</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": relationships(
            {f"s{number}": ("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1)}
            | {"authors": ("commentAuthors", "commentAuthors.xml")}
        ),
        "ppt/slideLayouts/slideLayout1.xml": _tree("p:sldLayout", layout),
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relationships(
            {"m": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
        "ppt/slideMasters/slideMaster1.xml": with_namespaces(master or "<p:sldMaster/>"),
    }
    for number, shapes in enumerate(slides, start=1):
        written[f"ppt/slides/slide{number}.xml"] = (
            with_namespaces(shapes) if shapes.startswith("<p:sld ") else _tree("p:sld", shapes)
        )
        related = {"l": ("slideLayout", "../slideLayouts/slideLayout1.xml"), **(of_slides or {})}
        if number in notes:
            related["n"] = ("notesSlide", f"../notesSlides/notesSlide{number}.xml")
            written[f"ppt/notesSlides/notesSlide{number}.xml"] = _tree("p:notes", notes[number])
        written[f"ppt/slides/_rels/slide{number}.xml.rels"] = relationships(related)
    written.update({name: with_namespaces(xml) for name, xml in (parts or {}).items()})
    return package("ppt/presentation.xml", "presentationml.presentation", written, title=title)


def with_namespaces(xml: str) -> str:
    """``xml`` with all prefixes declared on its root element."""
    end = min(at for at in (xml.find(" "), xml.find(">"), xml.find("/")) if at > 0)
    return f"{xml[:end]} {_NAMESPACES}{xml[end:]}"


def _tree(root: str, shapes: str) -> str:
    return f"<{root} {_NAMESPACES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></{root}>"


def shape(
    *paragraphs: str,
    kind: str | None = None,
    index: int | None = None,
    at: tuple[int, int, int, int] | None = None,
    hidden: bool = False,
    styles: str = "",
) -> str:
    """A text box, or a placeholder of a ``kind``; ``at`` is left, top, width, height in tenths of an inch."""
    numbered = f' idx="{index}"' if index is not None else ""
    placeholder = f'<p:ph type="{kind}"{numbered}/>' if kind else f"<p:ph{numbered}/>" if numbered else ""
    body = "".join(each if each.startswith("<a:p>") else slide_paragraph(each) for each in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" hidden="{int(hidden)}"/><p:cNvSpPr/>'
        f"<p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr>{_place(at) if at else ''}</p:spPr>"
        f"<p:txBody><a:bodyPr/><a:lstStyle>{styles}</a:lstStyle>{body}</p:txBody></p:sp>"
    )


def slide_paragraph(text: str, properties: str = "", *, level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{properties}</a:pPr><a:r><a:t>{escape(text)}</a:t></a:r></a:p>'


def group(*shapes: str, at: tuple[int, int, int, int]) -> str:
    return (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="2" name="g"/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{_place(at)}</p:grpSpPr>{''.join(shapes)}</p:grpSp>"
    )


def frame(graphic: str, *, at: tuple[int, int, int, int] = (0, 0, 10, 10)) -> str:
    place = _place(at).replace("a:xfrm", "p:xfrm")
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="f"/></p:nvGraphicFramePr>{place}'
        f"<a:graphic><a:graphicData>{graphic}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def _place(at: tuple[int, int, int, int]) -> str:
    left, top, width, height = (91_440 * each for each in at)
    return f'<a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


# --- Excel ---


def xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Iterable[str] = (),
    formats: Sequence[str] = (),
    hidden: Iterable[str] = (),
    workbook: str = "",
    parts: Mapping[str, str] | None = None,
    of_sheets: Mapping[str, tuple[str, str]] | None = None,
    title: str | None = None,
) -> bytes:
    """``sheets``: by name, what stands inside of ``worksheet``. ``formats``: codes of the cell styles 1, 2, ...

    ``of_sheets``: relationships of every sheet, to ``parts``.
    """
    entries = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="s{number}"'
        + (' state="hidden"' if name in hidden else "")
        + "/>"
        for number, name in enumerate(sheets, start=1)
    )
    codes = "".join(
        f'<numFmt numFmtId="{163 + number}" formatCode="{escape(code)}"/>'
        for number, code in enumerate(formats, start=1)
    )
    uses = "".join(f'<xf numFmtId="{163 + number}"/>' for number in range(1, len(formats) + 1))
    written = {
        "xl/workbook.xml": f"<workbook {_SPREADSHEET}>{workbook}<sheets>{entries}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(
            {f"s{number}": ("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)}
            | {"t": ("sharedStrings", "sharedStrings.xml"), "f": ("styles", "styles.xml")}
        ),
        "xl/sharedStrings.xml": f"<sst {_SPREADSHEET}>" + "".join(f"<si>{each}</si>" for each in strings) + "</sst>",
        "xl/styles.xml": (
            f'<styleSheet {_SPREADSHEET}><numFmts>{codes}</numFmts><cellXfs><xf numFmtId="0"/>{uses}</cellXfs>'
            "</styleSheet>"
        ),
    }
    for number, sheet in enumerate(sheets.values(), start=1):
        written[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet {_SPREADSHEET}>{sheet}</worksheet>"
        written[f"xl/worksheets/_rels/sheet{number}.xml.rels"] = relationships(of_sheets or {})
    written.update({name: xml.replace("xmlns=''", _SPREADSHEET) for name, xml in (parts or {}).items()})
    return package("xl/workbook.xml", "spreadsheetml.sheet", written, title=title)


def sheet_data(*rows: Sequence[object], start: int = 1) -> str:
    """Rows of values: texts inline, numbers and truth values as such; None leaves a cell out, ``<c`` is a cell."""
    return (
        "<sheetData>" + "".join(sheet_row(number, row) for number, row in enumerate(rows, start=start)) + "</sheetData>"
    )


def sheet_row(number: int, values: Sequence[object], attributes: str = "") -> str:
    cells = "".join(
        _cell(f"{chr(ord('A') + column)}{number}", value) for column, value in enumerate(values) if value is not None
    )
    return f'<row r="{number}" {attributes}>{cells}</row>'


def number_cell(reference: str, value: float, style: int) -> str:
    return f'<c r="{reference}" s="{style}"><v>{value!r}</v></c>'


def _cell(reference: str, value: object) -> str:
    if isinstance(value, str):
        if value.startswith("<c"):
            return value
        return f'<c r="{reference}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
    return f'<c r="{reference}"><v>{value}</v></c>'


# --- OpenDocument ---


def odt(body: str, *, automatic: str = "", styles: str = "", title: str | None = None) -> bytes:
    """``automatic``: styles of the content, ``styles``: those of the document."""
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": (
            f'<office:document-content {_OPEN_DOCUMENT} xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<office:automatic-styles>{automatic}</office:automatic-styles>"
            f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
        ),
        "styles.xml": (
            f"<office:document-styles {_OPEN_DOCUMENT}><office:styles>{styles}</office:styles></office:document-styles>"
        ),
    }
    if title:
        parts["meta.xml"] = (
            f'<office:document-meta {_OPEN_DOCUMENT} xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<office:meta><dc:title>{title}</dc:title></office:meta></office:document-meta>"
        )
    return zipped(parts)
