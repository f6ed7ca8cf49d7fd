"""One small document of each kind, with as many of its kind's peculiarities as fit."""

from __future__ import annotations

from citewell.extract.formats import Format
from tests.documents import office, outlook, pdfs

_SHEET = office.sheet_data(["Year", "Days"], [2025, 30], [2026, 31.5], [True, None])
_SLIDE = office.shape("Leave", kind="title") + office.shape("30 days", "a year", at=(1, 2, 6, 3))

SAMPLES: dict[Format, bytes] = {
    Format.PDF: pdfs.pdf(
        pdfs.text(72, 700, "Leave", size=20, font=pdfs.BOLD)
        + "\n"
        + pdfs.lines(72, 660, ["Everyone has thirty days of an-", "nual leave a year."])
        + "\n"
        + pdfs.grid([72, 200], 500, [["Year", "Days"], ["2025", "30"], ["2026", "31"]])
        + "".join(pdfs.rule(66, y, 320) + " " for y in (514, 494, 474, 454))
        + "".join(f"{x} 514 m {x} 454 l S " for x in (66, 196, 320))
        + pdfs.text(72, 400, "l", font=pdfs.WINGDINGS)
        + pdfs.text(90, 400, f"Ask {pdfs.SCOLD}", font=pdfs.ANY_SCRIPT),
        pdfs.picture(),
        info="/Title (Leave policy)",
        fields=[
            "/FT /Tx /T (a) /Rect [140 695 260 712] /F 4 /V (Alice)",
            f"/FT /Sig /T (s) /Rect [72 40 272 100] /F 4 /AP << /N {pdfs.LOOK} >>",
        ],
        look=pdfs.text(4, 20, "Signed by Ann"),
    ),
    Format.DOCX: office.docx(
        office.paragraph("Leave", style="h1")
        + office.numbered("30 days", 1)
        + office.paragraph(office.run("struck", "<w:vanish/>"), office.run("Ask people."))
        + office.table(["Year", "Days"], ["2025", "30"]),
        styles=office.style("h1", "heading 1"),
        numbering='<w:abstractNum w:abstractNumId="0">' + office.level(0, "decimal", "%1.") + "</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
        title="Leave policy",
    ),
    Format.PPTX: office.pptx([_SLIDE, _SLIDE], notes={1: office.shape("Say it slowly.", kind="body")}, title="Leave"),
    Format.XLSX: office.xlsx({"Leave": _SHEET, "More": _SHEET}, formats=["dd.mm.yyyy"], title="Leave"),
    Format.ODT: office.odt(
        '<text:h text:outline-level="1">Leave</text:h><text:p>30 <text:span>days</text:span></text:p>'
        "<text:list><text:list-item><text:p>a year</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>2025</text:p></table:table-cell></table:table-row>"
        "</table:table>",
        title="Leave",
    ),
    Format.RTF: rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\stylesheet{\s1 heading 1;}}{\info{\title Leave}}"
    rb"\pard\s1 Leave\par\pard 30 days \'fcber alles \u8364? {\*\unknown x}\par "
    rb"\trowd\cellx100\cellx200 2025\cell 30\cell\row}",
    Format.HTML: b"<!doctype html><html lang=en><head><title>Leave</title><style>p{}</style></head><body>"
    b"<nav>Home</nav><h1>Leave</h1><p>30 days<br>a year &amp; more</p><ul><li>one<ol><li>two</ol></ul><pre>a\n b</pre>"
    b"<table><tr><th>Year<th>Days<tr><td rowspan=2>2025<td>30<tr><td colspan=2>31</table><p hidden>no</p></body>",
    Format.EML: b"From: =?utf-8?B?w4RubmE=?= <a@example.com>\r\nTo: b@example.com\r\nSubject: Leave\r\n"
    b"Date: Mon, 30 Nov 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\n'
    b"Content-Type: multipart/alternative; boundary=y\r\n\r\n"
    b"--y\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"30 days =C3=A4\r\n"
    b"--y\r\nContent-Type: text/html\r\n\r\n<p>30 days</p>\r\n--y--\r\n--x\r\nContent-Type: application/pdf\r\n"
    b'Content-Disposition: attachment; filename="leave.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    b"JVBERi0=\r\n--x--\r\n",
    Format.MSG: outlook.message(
        {0x0037: "Leave", 0x0C1A: "Ann", 0x0E04: "Bob", 0x1000: "30 days a year"},
        attachments=[outlook.attached("leave.pdf")],
    ),
    Format.CSV: b'Year;Leave;Note\r\n2025;30;"a ""quoted""\r\nnote"\r\n2026;31,5;\r\n2027;32;more\r\n',
    Format.JSON: b'{"leave": {"days": [30, 31.5, null, true], "note": "a \\"quoted\\" \\ud83d\\ude00"}, "years": '
    b'[{"year": 2025, "days": 30}, {"year": 2026, "days": 31}]}',
    Format.MARKDOWN: "---\ntitle: Leave\nlanguage: en\n---\n\n# Leave\n\n- 30 days\n  1. or *more*\n\n"
    "| Year | Days |\n|---|---|\n| 2025 | 30 |\n\n```\ncode\n```\n\nText\n====\n\n> «quoted» 日本語\n".encode(),
}
