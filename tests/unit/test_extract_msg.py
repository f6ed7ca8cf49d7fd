"""Outlook messages."""

from __future__ import annotations

import datetime
import re
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.outlook_rtf import html_in_rtf, unpacked
from tests.documents.outlook import Tree, attached, attached_message, message, storage

CLASS, SUBJECT, HEADERS, SENDER, ADDRESS, TO, CC = 0x001A, 0x0037, 0x007D, 0x0C1A, 0x0C1F, 0x0E04, 0x0E03
BODY, HTML, RTF, SUBMITTED, MESSAGE_CODEPAGE, INTERNET_CODEPAGE = 0x1000, 0x1013, 0x1009, 0x0039, 0x3FFD, 0x3FDE
START, END, ATTACHMENT_FLAGS = 0x0060, 0x0061, 0x3714

# The example of [MS-OXRTFCP] 4.1.1, and what it holds
PACKED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232 0af32068656c090020627705b06c647d0a800fa0"
)
HELLO = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


def filetime(year: int, month: int, day: int, hour: int, minute: int) -> int:
    moment = datetime.datetime(year, month, day, hour, minute, tzinfo=datetime.UTC)
    return (moment - datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1) * 10


def packed(rtf: bytes) -> bytes:
    return struct.pack("<II4sI", len(rtf) + 12, len(rtf), b"MELA", 0) + rtf


def code_of(data: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data)
    return rejected.value.code


def test_a_message_is_its_header_its_body_and_the_names_of_its_attachments() -> None:
    extracted = extract(
        message(
            {
                SUBJECT: "Leave",
                SENDER: "Ann",
                ADDRESS: "ann@example.com",
                TO: "Bob; Eve",
                BODY: "Hello,\r\n\r\nbye.\r\n",
            },
            numbers={SUBMITTED: filetime(2026, 3, 1, 9, 5)},
            attachments=[attached("plan.pdf"), attached("pixel.png", numbers={ATTACHMENT_FLAGS: 4})],
        )
    )
    assert extracted.text == (
        "From: Ann <ann@example.com>\nTo: Bob; Eve\nDate: 2026-03-01 09:05 UTC\nSubject: Leave\n\n"
        "Hello,\n\nbye.\n\nAttachments: plan.pdf"
    )
    assert extracted.blocks[0].kind is BlockKind.METADATA
    assert (extracted.title, extracted.effective_date) == ("Leave", "2026-03-01")


def test_the_header_as_it_was_sent_comes_first() -> None:
    headers = "From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>\r\nDate: Sun, 1 Mar 2026 23:30:00 -0500\r\n\r\n"
    extracted = extract(message({SUBJECT: "Leave", HEADERS: headers, SENDER: "J", TO: "Bob", BODY: "x"}))
    assert extracted.text.startswith("From: Jürgen <j@example.com>\nTo: Bob\nDate: Sun, 1 Mar 2026 23:30:00 -0500\n")
    assert extracted.effective_date == "2026-03-01"


@pytest.mark.parametrize(
    ("codepage", "encoding"), [(1251, "cp1251"), (65001, "utf-8"), (20866, "koi8_r"), (28595, "iso8859_5")]
)
def test_texts_of_older_messages_are_in_their_codepage(codepage: int, encoding: str) -> None:
    data = message({SUBJECT: "Отпуск", BODY: "Привет"}, numbers={MESSAGE_CODEPAGE: codepage}, ansi=encoding)
    assert extract(data).text == "Subject: Отпуск\n\nПривет"


@pytest.mark.parametrize(
    ("page", "numbers"),
    [
        ("<p>Größe &amp; <b>Maß</b></p><script>x()</script>".encode("cp1252"), {INTERNET_CODEPAGE: 1252}),
        ("<meta charset=utf-8><p>Größe &amp; <b>Maß</b></p>".encode(), {}),
        ("<p>Größe &amp; <b>Maß</b></p>", {}),
    ],
)
def test_a_message_may_be_a_page(page: bytes | str, numbers: dict[int, int]) -> None:
    assert extract(message({HTML: page, BODY: " \r\n"}, numbers=numbers)).text == "Größe & Maß"


def test_without_a_codepage_the_texts_tell_their_encoding() -> None:
    words = "Ежегодный отпуск составляет двадцать восемь дней. Заявление подаётся руководителю."
    extracted = extract(message({SUBJECT: "Отпуск", BODY: words}, ansi="cp1251"))
    assert extracted.title == "Отпуск"
    assert extracted.text.endswith(words)


def test_a_body_may_be_rtf() -> None:
    assert extract(message({RTF: PACKED})).text == "hello world"


def test_a_page_in_rtf_is_read_as_a_page() -> None:
    rtf = (
        b"{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {\\fonttbl{\\f0 Arial;}}{\\*\\generator x;}"
        b"{\\*\\htmltag64 <h1>}\\htmlrtf {\\b \\htmlrtf0 Gr\\'f6\\'dfe{\\*\\htmltag72 </h1>}\\htmlrtf }\\htmlrtf0 \r\n"
        b"{\\*\\htmltag84 &lt;}\\u8217 ?s{\\*\\htmltag84 &nbsp;}x\\{\\'80\\}\\par }"
    )
    assert html_in_rtf(rtf) == "<h1>Größe</h1>&lt;’s&nbsp;x{€}\n"
    extracted = extract(message({RTF: packed(rtf)}))
    assert extracted.text == "Größe\n\n<’s x{€}"
    assert extracted.blocks[0].kind is BlockKind.HEADING


def test_a_page_in_rtf_is_read_in_the_charsets_of_its_fonts() -> None:
    rtf = (
        b"{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}}"
        b"\\htmlrtf \\f0\\htmlrtf0 \\'80 \\htmlrtf {\\f1\\htmlrtf0 \\'cf\\'f0\\htmlrtf }\\htmlrtf0 \\'e4}"
    )
    assert html_in_rtf(rtf) == "€ Прä"


PAGE_WITH_A_TABLE = (
    "<p>See the rates.</p><table><tr><td>Item</td><td>Price</td></tr><tr><td>Tea</td><td>2</td></tr></table>"
)
PAGE_IN_RTF = b"{\\rtf1\\ansi\\fromhtml1 " + b"".join(
    b"{\\*\\htmltag64 %b}%b" % (tag.encode(), text.encode())
    for tag, text in zip(*[iter(re.split("(<[^>]*>)", PAGE_WITH_A_TABLE)[1:])] * 2, strict=True)
)


@pytest.mark.parametrize("page", [{HTML: PAGE_WITH_A_TABLE}, {RTF: packed(PAGE_IN_RTF + b"}")}], ids=["html", "rtf"])
def test_the_page_is_read_where_its_table_tells_more_than_the_plain_body(page: dict[int, str | bytes]) -> None:
    body = "See the rates.\r\n\r\nItem\r\nPrice\r\nTea\r\n2\r\n"
    assert extract(message({BODY: body, **page})).text == (
        "See the rates.\n\n| Item | Price |\n| --- | --- |\n| Tea | 2 |"
    )


@pytest.mark.parametrize("page", [{HTML: "<p>See the <b>rates</b>."}, {RTF: packed(b"{\\rtf1 See the rates.}")},
                                  {RTF: packed(b"{" * 5_000)}], ids=["html", "rtf", "broken"])  # fmt: skip
def test_the_plain_body_is_read_where_the_page_says_no_more(page: dict[int, str | bytes]) -> None:
    assert extract(message({BODY: "See the\r\nrates.", **page})).text == "See the\nrates."


def test_rtf_is_unpacked_as_its_specification_shows() -> None:
    assert unpacked(PACKED) == HELLO
    assert unpacked(packed(HELLO)) == HELLO


@pytest.mark.parametrize("length", range(16, len(PACKED)))
def test_rtf_that_is_cut_is_unpacked_as_far_as_it_goes(length: int) -> None:
    assert HELLO.startswith(unpacked(PACKED[:length]))


def test_a_message_within_a_message_is_a_section() -> None:
    inner = storage({SUBJECT: "Inner", SENDER: "Eve", BODY: "Deep."}, attachments=[attached("b.pdf")], header_bytes=24)
    extracted = extract(message({SUBJECT: "Outer", BODY: "See below."}, attachments=[attached_message(inner)]))
    assert extracted.text == (
        "Subject: Outer\n\nSee below.\n\nInner\n\nFrom: Eve\nSubject: Inner\n\nDeep.\n\nAttachments: b.pdf"
    )
    assert extracted.blocks[-2].headings == ("Inner",)


def test_messages_nested_too_deep_end_there() -> None:
    inner: Tree = storage({BODY: "innermost"}, header_bytes=24)
    for depth in range(15):
        inner = storage({BODY: f"level {depth}"}, attachments=[attached_message(inner)], header_bytes=24)
    text = extract(message({BODY: "top"}, attachments=[attached_message(inner)])).text
    assert "level 14" in text
    assert "innermost" not in text


APPOINTMENTS, TASKS, ADDRESSES = (f"0006200{number}-0000-0000-c000-000000000046" for number in (2, 3, 4))
COMMON = "00062008-0000-0000-c000-000000000046"


def test_an_appointment_says_when_and_where_it_is() -> None:
    times = {START: filetime(2026, 3, 2, 9, 0), END: filetime(2026, 3, 2, 10, 30)}
    properties = {CLASS: "IPM.Appointment", SUBJECT: "Review", BODY: "Bring notes.", 0x8003: "Room 5", 0x8004: "other"}
    named = {0x8003: (APPOINTMENTS, 0x8208), 0x8004: (COMMON, 0x8208)}
    assert extract(message(properties, numbers=times, named=named)).text == (
        "Subject: Review\nStart: 2026-03-02 09:00 UTC\nEnd: 2026-03-02 10:30 UTC\nLocation: Room 5\n\nBring notes."
    )
    times = {0x8001: filetime(2026, 3, 2, 9, 0)}
    properties = {CLASS: "IPM.Schedule.Meeting.Request", SUBJECT: "Review"}
    assert extract(message(properties, numbers=times, named={0x8001: (APPOINTMENTS, 0x820D)})).text == (
        "Subject: Review\nStart: 2026-03-02 09:00 UTC"
    )


def test_a_contact_is_its_name_its_company_and_how_to_reach_it() -> None:
    properties = {
        CLASS: "IPM.Contact", SUBJECT: "Ann Lee", 0x3001: "Ann Lee", 0x3A16: "Acme", 0x3A17: "Buyer",
        0x3A08: "+49 30 1234", 0x3A1C: "+49 170 5678", 0x8000: "/o=acme/cn=ann", 0x8001: "ann@acme.example",
        0x8002: "lee@home.example", 0x8005: "Ring 1, Berlin",
    }  # fmt: skip
    named = {
        0x8000: (ADDRESSES, 0x8083), 0x8001: (ADDRESSES, 0x8084), 0x8002: (ADDRESSES, 0x8093),
        0x8005: (ADDRESSES, 0x801B),
    }  # fmt: skip
    assert extract(message(properties, named=named)).text == (
        "Subject: Ann Lee\nName: Ann Lee\nCompany: Acme\nJob title: Buyer\nPhone: +49 30 1234\nMobile: +49 170 5678\n"
        "E-mail: ann@acme.example, lee@home.example\nBusiness address: Ring 1, Berlin"
    )


def test_a_task_says_when_it_is_due_and_how_far_it_is() -> None:
    named = {0x8000: (TASKS, 0x8105), 0x8001: (TASKS, 0x8101), 0x8002: (TASKS, 0x811F)}
    properties = {CLASS: "IPM.Task", SUBJECT: "Renew", BODY: "Ask Eve.", 0x8002: "Ann"}
    numbers = {0x8000: filetime(2026, 3, 2, 0, 0), 0x8001: 1}
    assert extract(message(properties, numbers=numbers, named=named)).text == (
        "Subject: Renew\nDue: 2026-03-02\nStatus: in progress\nOwner: Ann\n\nAsk Eve."
    )
    assert extract(message({CLASS: "IPM.Task", SUBJECT: "Renew"})).text == "Subject: Renew"


def test_a_message_that_only_a_key_opens_is_encrypted() -> None:
    assert code_of(message({CLASS: "IPM.Note.SMIME", SUBJECT: "x"}, attachments=[attached("smime.p7m")])) == "encrypted"


def test_a_signed_message_is_read_out_of_its_signature() -> None:
    sent = b"Content-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nLeave is 28 days.\r\n--b--\r\n"
    signed = storage({0x3707: "smime.p7m", 0x3701: sent})
    properties = {CLASS: "IPM.Note.SMIME.MultipartSigned", SUBJECT: "Leave"}
    assert extract(message(properties, attachments=[signed])).text == "Subject: Leave\n\nLeave is 28 days."


def test_a_message_inside_of_its_signature_is_read() -> None:
    sent = b"Content-Type: text/plain\r\n\r\nLeave is 28 days."
    envelope = bytes.fromhex("308006092a864886f70d010702a0803080020101310030800609 2a864886f70d010701a080")
    signature = envelope + b"\x04" + bytes([len(sent)]) + sent + b"\x00\x00" * 5
    properties = {CLASS: "IPM.Note.SMIME", SUBJECT: "Leave"}
    attached_signature = storage({0x3707: "smime.p7m", 0x3701: signature})
    assert extract(message(properties, attachments=[attached_signature])).text == "Subject: Leave\n\nLeave is 28 days."


def test_a_message_of_nothing_is_empty() -> None:
    assert code_of(message({SUBJECT: "", BODY: ""})) == "empty"


WHOLE = message({SUBJECT: "Leave", BODY: "Hello " * 50}, attachments=[attached("plan.pdf")])


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_a_damaged_message_ends_with_a_documented_code(at: int, value: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[at] = value
    for data in (bytes(damaged), bytes(damaged[: at + 1])):
        try:
            assert extract(data).text
        except DocumentRejected as rejected:
            code = rejected.code
            assert code in {"corrupt", "empty", "unsupported_type", "undecodable", "too_large"}
