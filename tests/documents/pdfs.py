"""Small PDFs, written by hand so that each holds exactly what a test is about."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

WIDTH, HEIGHT = 612, 792
LOOK = "(look)"  # in a field, how it looks
HELVETICA, BOLD, COURIER, WINGDINGS, SYMBOL, ANY_SCRIPT, VERTICAL = "F1", "F2", "F3", "F4", "F5", "F6", "F7"

_TO_UNICODE = (
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def "
    "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <{first}> <dfff> <{shown}> endbfrange "
    "3 beginbfchar <e000> <06440627> <e100> <d842df9f> <e101> <d842> endbfchar endcmap end end"
)
LAM_ALEF = "\ue000"
"""In ``ANY_SCRIPT``, the one glyph for these two letters."""
SCOLD, HALF_OF_SCOLD = "\ue100", "\ue101"
"""The glyph for a character that UTF-16 writes as two, ``\U00020b9f``, and one that claims to be the first of them."""
_KANA, _KANA_GLYPH = 0x3040, 0x40
_FONTS = (
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /TrueType /BaseFont /Wingdings-Regular /Encoding /WinAnsiEncoding >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>",
)
_GREY_DOT = "BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI"


@dataclass(frozen=True)
class Page:
    """``content`` draws it; ``annotations`` are dictionaries without their brackets. ``wide``: lying, as slides are.

    ``scan`` are the grey pixels of a picture with rows of a hundred, which ``content`` may draw as ``/I1 Do``, and
    ``form`` is what it may draw as ``/X1 Do``.
    """

    content: str
    annotations: tuple[str, ...] = ()
    rotate: int = 0
    wide: bool = False
    scan: bytes = b""
    form: str = ""


def text(x: float, y: float, words: str, *, size: float = 11, font: str = HELVETICA) -> str:
    """``words`` with their first letter's foot ``x`` from the left and ``y`` from the bottom."""
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm {_shown(words, font)} Tj ET"


def lines(x: float, y: float, rows: Iterable[str], *, size: float = 11, font: str = HELVETICA) -> str:
    """``rows`` one below the other, the first one at ``y``."""
    return "\n".join(text(x, y - 1.2 * size * n, row, size=size, font=font) for n, row in enumerate(rows))


def turned_text(x: float, y: float, words: str, matrix: str, *, size: float = 11) -> str:
    return f"BT /{HELVETICA} {size} Tf {matrix} {x} {y} Tm {_shown(words, HELVETICA)} Tj ET"


def grid(left: Sequence[float], y: float, rows: Sequence[Sequence[str]], *, pitch: float = 20) -> str:
    """A table drawn row by row, its cells beginning at ``left``; empty ones aren't drawn."""
    return "\n".join(
        text(x, y - n * pitch, cell) for n, row in enumerate(rows) for x, cell in zip(left, row, strict=True) if cell
    )


def rule(left: float, y: float, right: float) -> str:
    return f"{left} {y} m {right} {y} l S"


def box(left: float, bottom: float, right: float, top: float) -> str:
    return f"{left} {bottom} {right - left} {top - bottom} re S"


def picture() -> str:
    """A picture that fills the page."""
    return f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm {_GREY_DOT} Q"


def pdf(
    *pages: Page | str,
    catalog: str = "",
    info: str = "",
    fields: Sequence[str] = (),
    look: str = "",
    outline: str = "",
) -> bytes:
    """A document of ``pages``. ``catalog`` and ``info`` are entries of those dictionaries, ``fields`` form fields.

    ``look`` draws those of them that have ``LOOK``, in a box of 200 by 60 points. ``outline`` is the one entry of its
    outline.
    """
    objects: list[str] = []

    def add(body: str) -> int:
        objects.append(body)
        return len(objects)

    root, tree = add(""), add("")
    fonts = [add(font) for font in _FONTS]
    # Characters for the codes that they have in UTF-16. There are no outlines, and none are needed.
    fonts.append(_any_script(add, "H", first="0000", shown="0000", outlines=""))
    if any(VERTICAL in (each if isinstance(each, str) else each.content) for each in pages):
        # What stands upright is measured by its outlines, so kana have those of other letters.
        dejavu = add(_stream(_dejavu()))
        outlines = f"/FontFile2 {dejavu} 0 R"
        fonts.append(_any_script(add, "V", first=f"{_KANA_GLYPH:04x}", shown=f"{_KANA:04x}", outlines=outlines))
    resources = f"/Font << {' '.join(f'/F{n} {number} 0 R' for n, number in enumerate(fonts, 1))} >>"
    numbers: list[int] = []
    drawn = add(_stream(look, f"/Type /XObject /Subtype /Form /BBox [0 0 200 60] /Resources << {resources} >>"))
    widgets = [add(f"<< /Type /Annot /Subtype /Widget {field.replace(LOOK, f'{drawn} 0 R')} >>") for field in fields]
    for each in pages:
        page = Page(each) if isinstance(each, str) else each
        annotations = [add(f"<< /Type /Annot {annotation} >>") for annotation in page.annotations]
        if not numbers:
            annotations += widgets
        shown = " ".join(f"{number} 0 R" for number in annotations)
        sides = f"{HEIGHT} {WIDTH}" if page.wide else f"{WIDTH} {HEIGHT}"
        numbers.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {sides}] /Rotate {page.rotate} "
                f"/Resources << {resources} /XObject << {_scanned(add, page.scan)} {_form(add, page.form, resources)} "
                f">> >> "
                f"/Contents {add(_stream(page.content))} 0 R /Annots [{shown}] >>"
            )
        )
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[tree - 1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>"
    form = " ".join(f"{number} 0 R" for number in widgets)
    form = f"/AcroForm << /Fields [{form}] /DA (/Helv 0 Tf 0 g) >>" if widgets else ""
    if outline:
        catalog += f" /Outlines << /First {add(outline)} 0 R /Count 1 >>"
    objects[root - 1] = f"<< /Type /Catalog /Pages {tree} 0 R {form} {catalog} >>"
    return _file(objects, root, add(f"<< {info} >>"))


def _scanned(add: Callable[[str], int], pixels: bytes) -> str:
    if not pixels:
        return ""
    size = f"/Width 100 /Height {len(pixels) // 100} /ColorSpace /DeviceGray /BitsPerComponent 8 /Length {len(pixels)}"
    stream = pixels.decode("latin-1")
    return f"/I1 {add(f'<< /Subtype /Image {size} >> stream{chr(10)}{stream}{chr(10)}endstream')} 0 R"


def _form(add: Callable[[str], int], content: str, resources: str) -> str:
    entries = f"/Subtype /Form /BBox [0 0 {WIDTH} {HEIGHT}] /Resources << {resources} >>"
    return f"/X1 {add(_stream(content, entries))} 0 R" if content else ""


def _any_script(add: Callable[[str], int], way: str, *, first: str, shown: str, outlines: str) -> int:
    to_unicode = add(_stream(_TO_UNICODE.format(first=first, shown=shown)))
    descendant = add(
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 1000 /FontDescriptor << /Type /FontDescriptor "
        "/FontName /Any /Flags 4 /FontBBox [0 -200 1000 800] /Ascent 800 /Descent -200 /ItalicAngle 0 /CapHeight 700 "
        f"/StemV 80 {outlines} >> /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
    )
    return add(
        f"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-{way} /DescendantFonts [{descendant} 0 R] "
        f"/ToUnicode {to_unicode} 0 R >>"
    )


def _dejavu() -> str:
    found = find_spec("matplotlib")
    assert found
    assert found.origin
    return (Path(found.origin).parent / "mpl-data/fonts/ttf/DejaVuSans.ttf").read_bytes().decode("latin-1")


def _file(objects: list[str], root: int, info: int) -> bytes:
    data = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(data)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    data += f"trailer << /Size {len(objects) + 1} /Root {root} 0 R /Info {info} 0 R >>\n".encode()
    data += f"startxref\n{start}\n%%EOF\n".encode()
    return bytes(data)


def _stream(content: str, entries: str = "") -> str:
    data = zlib.compress(content.encode("latin-1")).decode("latin-1")
    return f"<< {entries} /Length {len(data)} /Filter /FlateDecode >> stream\n{data}\nendstream"


def _shown(words: str, font: str) -> str:
    if font == ANY_SCRIPT:
        return f"<{words.encode('utf-16-be').hex()}>"
    if font == VERTICAL:
        return f"<{''.join(f'{ord(kana) - _KANA + _KANA_GLYPH:04x}' for kana in words)}>"
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"({escaped.encode('cp1252').decode('latin-1')})"
