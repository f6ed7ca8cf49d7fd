"""Mail messages, whole and broken."""

from __future__ import annotations

import base64
import binascii
import quopri
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract

SHOWN = "From: Ann <ann@example.com>\nTo: bob@example.com\nDate: Sun, 1 Mar 2026 23:30:00 -0500\nSubject: Leave"
HEAD = f"{SHOWN}\nMIME-Version: 1.0\n".encode()


def mail(content: bytes, *, head: bytes = HEAD) -> bytes:
    """``content`` is the fields that describe the body, a blank line, and the body."""
    return head + content


def multipart(kind: str, *parts: bytes, boundary: str = "b1") -> bytes:
    separator = f"--{boundary}".encode()
    body = b"".join(separator + b"\n" + part + b"\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n'.encode() + body + separator + b"--\n"


def part(content_type: str, content: str | bytes, *fields: str) -> bytes:
    head = "".join(f"{field}\n" for field in (f"Content-Type: {content_type}", *fields))
    return head.encode() + b"\n" + (content if isinstance(content, bytes) else content.encode())


def body_of(data: bytes) -> str:
    """The text after the header fields."""
    text = extract(data).text
    assert text.startswith(SHOWN)
    return text.removeprefix(SHOWN).lstrip("\n")


def attachment(name: str) -> bytes:
    return part(
        "application/pdf", "JVBERg==", f"Content-Disposition: attachment; {name}", "Content-Transfer-Encoding: base64"
    )


PLAIN = part("text/plain; charset=utf-8", "Größe\n\nsecond paragraph")
PAGE = part(
    "text/html; charset=utf-8", "<h1>Größe</h1><p>second <b>paragraph</b></p><p style='display:none'>preview</p>"
)


# --- header ---


def test_the_header_is_metadata_the_subject_the_title_and_the_day_its_date() -> None:
    extracted = extract(mail(b"X-Mailer: x\nReceived: by y\n\nHello,\nall.\n\nBye.\n-- \nAnn\n"))
    assert extracted.text == f"{SHOWN}\n\nHello,\nall.\n\nBye.\n--\nAnn"
    assert [block.kind for block in extracted.blocks] == [BlockKind.METADATA, BlockKind.PARAGRAPH, BlockKind.PARAGRAPH]
    assert (extracted.title, extracted.effective_date) == ("Leave", "2026-03-01")


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        (b"=?utf-8?Q?Gr=C3=B6=C3=9Fe?= of =?iso-8859-1?B?TWHf?=", "Größe of Maß"),
        (b"=?utf-8?B?R3LDtg==?=\n =?utf-8?B?w59l?=", "Größe"),
        (b"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        (b"folded\n over\n\tlines", "folded over lines"),
        ("Größe".encode(), "Größe"),
        ("Größe und Maß für die Räume".encode("cp1252"), "Größe und Maß für die Räume"),
        (b"=?no-such-charset?Q?x=E4?=", "x�"),
        (b"=?utf-8?B?R3LD?=", "Gr�"),
        (b"=?utf-8?B?R3LDtsOfZQ==?=\n =?utf-8?B??=\n ", "Größe"),
        (b"=?utf-8?B?R?= x", "=?utf-8?B?R?= x"),
        (b"=?utf-8?Q?a=00b?=", "a b"),
    ],
)
def test_a_subject_is_read_whatever_it_is_written_in(subject: bytes, shown: str) -> None:
    assert extract(b"From: a@example.com\nMIME-Version: 1.0\nSubject: " + subject + b"\n\nx").title == shown


def test_bare_bytes_in_the_header_are_in_the_charset_of_the_text() -> None:
    fields = "From: Иван <ivan@example.com>\nSubject: Отпуск\nMIME-Version: 1.0\n".encode("cp1251")
    for body in (
        part("text/plain; charset=windows-1251", "Привет".encode("cp1251")),
        multipart("mixed", part("text/plain; charset=windows-1251", "Привет".encode("cp1251"))),
    ):
        assert extract(fields + body).text == "From: Иван <ivan@example.com>\nSubject: Отпуск\n\nПривет"


def test_a_line_that_is_no_field_does_not_end_the_header() -> None:
    header = b"Received: by x\nodd Delivered-To: y\nFrom: Ann <ann@example.com>\nSubject: Leave\nX-A: b\n"
    assert (
        extract(header + b"\nFrom here: on\nit is text.\n").text
        == "From: Ann <ann@example.com>\nSubject: Leave\n\nFrom here: on\nit is text."
    )


def test_blank_lines_and_a_mailbox_separator_before_the_header_do_no_harm() -> None:
    assert body_of(b"\r\n\r\n" + mail(b"\nHello")) == "Hello"
    assert body_of(b"From ann@example.com Sun Mar  1 23:30:00 2026\n" + mail(b"\nHello")) == "Hello"


def test_line_ends_of_other_systems() -> None:
    for end in (b"\r\n", b"\r"):
        assert extract(mail(b"\nHello,\n\nall\n").replace(b"\n", end)).text == f"{SHOWN}\n\nHello,\n\nall"
    assert body_of(mail(b"\nHello,\r\r\nyou\r\r\n\r\r\nall\r\r\n")) == "Hello,\nyou\n\nall"


def test_a_date_that_is_none_is_shown_and_not_believed() -> None:
    extracted = extract(b"From: a@example.com\nDate: when it suits\nMessage-ID: <x>\nSubject: Leave\n\nx")
    assert "Date: when it suits" in extracted.text
    assert extracted.effective_date is None


@pytest.mark.parametrize("field", ["Content-Type: text/plain" + ";a=1" * 100_000, "X: " + "=?a?q?" * 100_000])
def test_a_field_without_an_end_is_cut(field: str) -> None:
    assert body_of(mail(f"{field}\n\nHello".encode())) == "Hello"


@pytest.mark.parametrize("field", ["Content-Type: text/plain", "Content-Disposition: inline"])
def test_quotation_marks_that_never_close_take_no_time(field: str) -> None:
    odd = f'{field}; a="{";" * 1_000_000}\n\nHello'.encode()
    assert body_of(mail(multipart("mixed", odd))) == "Hello"


def test_thousands_of_recipients_are_cut() -> None:
    data = b"From: a@example.com\nTo: " + b"bob@example.com, " * 5_000 + b"\nMessage-ID: <x>\nSubject: Leave\n\nHello"
    assert len(extract(data).text) < 1_200


# --- body ---


@pytest.mark.parametrize(
    ("content_type", "encoding", "body"),
    [
        ("text/plain; charset=utf-8", "base64", base64.encodebytes("Größe".encode())),
        ("text/plain; charset=utf-8", "quoted-printable", quopri.encodestring("Größe".encode())),
        ("text/plain; charset=iso-8859-1", "8bit", "Größe".encode("latin-1")),
        ("text/plain; charset=utf-16", "base64", base64.encodebytes("Größe".encode("utf-16"))),
        ("text/plain; charset=utf-7", "7bit", b"Gr+APYA3w-e"),
        ('text/plain; charset="windows-1252"', "8bit", "Größe".encode("cp1252")),
        ("text/plain", "8bit", "Größe".encode()),
        ("text/plain; charset=no-such-thing", "8bit", "Größe".encode()),
        ("nonsense", "8bit", "Größe".encode()),
        ("text/html; charset=utf-8", "8bit", "<p>Gr&ouml;ße</p>".encode()),
        ("text/html", "8bit", "<meta charset=iso-8859-2><p>Größe</p>".encode("iso-8859-2")),
    ],
)
def test_a_body_is_read_in_its_encoding(content_type: str, encoding: str, body: bytes) -> None:
    assert body_of(mail(part(content_type, body, f"Content-Transfer-Encoding: {encoding}"))) == "Größe"


def test_a_page_that_is_said_to_be_plain_is_a_page() -> None:
    assert body_of(mail(part("text/plain", "\n<html><body><p>R&amp;D</p></body></html>"))) == "R&D"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_message_saved_in_another_encoding(encoding: str) -> None:
    assert body_of(mail(PLAIN).decode().encode(encoding)) == "Größe\n\nsecond paragraph"


def test_a_byte_that_is_wrong_in_its_charset_is_marked_and_the_rest_is_read() -> None:
    assert body_of(mail(b"Content-Type: text/plain; charset=utf-8\n\nGr\xc3\xb6\xdfe")) == "Grö�e"


def test_a_part_that_cannot_be_decoded_leaves_the_others() -> None:
    odd = part("text/plain", b"caf\xe9 \x80 \x8e")
    page = part("text/html", "<p>Hi</p>")
    assert body_of(mail(multipart("alternative", odd, page))) == "Hi"
    for parts in ((odd, page), (page, odd)):
        assert body_of(mail(multipart("mixed", *parts))) == "Hi\n\nAttachments: text/plain"
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(multipart("mixed", odd, attachment("filename=a.pdf"))))
    assert rejected.value.code == "undecodable"


def test_a_part_that_names_no_charset_is_in_that_of_the_others() -> None:
    page = part("text/html; charset=iso-8859-2", "<p>Zapłata</p>".encode("iso8859_2"))
    data = multipart("mixed", part("text/plain; charset=us-ascii", "Hi"), part("text/plain", b"\xb1 \x80"), page)
    assert body_of(mail(data)) == "Hi\n\ną\n\nZapłata"


def test_a_body_whose_encoding_nobody_names_or_knows_is_undecodable() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(b"\ncaf\xe9 \x80 \x8e"))
    assert rejected.value.code == "undecodable"


@pytest.mark.parametrize(
    ("encoding", "content"),
    [("quoted printable", b"caf=C3=A9"), ("quoted-printable;", b"caf=C3=A9"), ('"base64"', b"Y2Fmw6k="),
     ("base64 (of mine)", b"Y2Fmw6k=")],
)  # fmt: skip
def test_a_transfer_encoding_is_told_whatever_stands_around_it(encoding: str, content: bytes) -> None:
    data = mail(
        f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n".encode() + content
    )
    assert body_of(data) == "café"


def test_base64_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    assert body_of(mail(b"Content-Transfer-Encoding: base64\n\nSGVsbG8gYWxs!!\nIQ")).startswith("Hello all")


def test_the_same_in_two_forms_is_read_once() -> None:
    assert body_of(mail(multipart("alternative", PLAIN, PAGE))) == "Größe\n\nsecond paragraph"
    assert body_of(mail(multipart("alternative", PAGE, PLAIN))) == "Größe\n\nsecond paragraph"


def test_a_page_alone_is_read_as_a_page() -> None:
    extracted = extract(mail(multipart("alternative", PAGE)))
    assert extracted.text == f"{SHOWN}\n\nGröße\n\nsecond paragraph"
    assert extracted.blocks[1].kind is BlockKind.HEADING


@pytest.mark.parametrize("stub", ["", "This message is HTML."])
def test_a_plain_form_that_only_points_to_the_page_gives_way_to_it(stub: str) -> None:
    page = part("text/html", f"<p>{'The policy holds for everybody. ' * 5}</p>")
    assert body_of(mail(multipart("alternative", part("text/plain", stub), page))).startswith("The policy holds")


def test_a_plain_form_that_says_something_else_gives_way_to_the_page() -> None:
    page = part("text/html", "<p>Invoice 4711 is due on 5 May.</p>")
    for stub in ("Your program shows no HTML, view it online.", "[cid:image001.png]"):
        assert body_of(mail(multipart("alternative", part("text/plain", stub), page))).startswith("Invoice 4711")


RATES = "Dear all,\n\nthese rates hold from May.\n\nKind regards, the travel desk"
RATES_PAGE = "<p>Dear all,</p><p>these rates hold from May.</p>{}<p>Kind regards, the travel desk</p>"
TABLE = "<table><tr><td>Country</td><td>Rate</td></tr><tr><td>Norway</td><td>71 EUR</td></tr></table>"
TABLE_TEXT = "| Country | Rate |\n| --- | --- |\n| Norway | 71 EUR |"
PREVIEW = "<div style='display:none'>Hotels, trains, meals, taxis, parking: all that changes</div>"
LAYOUT = (
    "<table><tr><td><table><tr><td width=10>&nbsp;</td><td><p>Dear all,</p><p>these rates hold from May.</p></td>"
    "<td width=10>&nbsp;</td></tr></table></td></tr><tr><td>Kind regards, the travel desk</td></tr></table>"
)


def forms(plain: str, page: str) -> str:
    alternative = multipart("alternative", part("text/plain; charset=utf-8", plain), part("text/html", page))
    return body_of(mail(alternative))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(RATES_PAGE.format(""), id="the same"),
        pytest.param(LAYOUT, id="in layout tables"),
        pytest.param(PREVIEW + RATES_PAGE.format("<img src=x width=1 height=1 alt=''>"), id="with what is hidden"),
        pytest.param(f"<a href=x>View in your browser</a>{RATES_PAGE.format('')}", id="with a link to itself"),
        pytest.param(RATES_PAGE.format("")[:40], id="cut off"),
        pytest.param("<html><body><style>p {color: red}</style></body></html>", id="empty"),
        pytest.param(" ", id="blank"),
        pytest.param("<p>Dear</p><table><tr><td>Rates</td><td>May</td></tr><tr><td>1</td><td>2</td></tr>", id="less"),
    ],
)
def test_the_plain_form_is_read_where_the_page_says_no_more(page: str) -> None:
    assert forms(RATES, page) == RATES


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param("Please view this mail in an HTML reader.", id="stub"),
        pytest.param("", id="empty"),
        pytest.param("[cid:image001.png@01D9]\n<https://example.com/track/abc>", id="addresses"),
        pytest.param(RATES, id="no table"),
        pytest.param(RATES.replace("\n\nKind", "\n\nCountry\nRate\nNorway\n71 EUR\n\nKind"), id="flattened"),
    ],
)
def test_the_page_is_read_where_its_table_tells_more(plain: str) -> None:
    written = RATES.replace("\n\nKind", f"\n\n{TABLE_TEXT}\n\nKind")
    assert forms(plain, RATES_PAGE.format(TABLE)) == written
    assert forms(plain, RATES_PAGE.format(TABLE.replace("</td>", "").replace("</table>", ""))).count("Norway") == 1


def test_a_paragraph_that_stands_in_the_page_alone_is_read() -> None:
    more = "Receipts go to the desk within ten days after your journey ends."
    assert forms(RATES, RATES_PAGE.format(f"<p>{more}</p>")) == RATES.replace("\n\nKind", f"\n\n{more}\n\nKind")


def test_a_plain_form_of_other_lines_than_the_page_is_the_same() -> None:
    plain = "差旅费的报销标准\n从五月起生效。"
    assert forms(plain, f"<meta charset=utf-8><p>{plain.replace(chr(10), '')}</p>".encode().decode()) == plain


def test_two_forms_that_stand_one_by_one_are_read_once() -> None:
    page = part("text/html; charset=utf-8", "<p>Größe</p><p>second <b>paragraph</b></p>")
    assert body_of(mail(multipart("mixed", PLAIN, page))) == "Größe\n\nsecond paragraph"
    notice = part("text/html", "<p>second</p>")
    assert body_of(mail(multipart("mixed", PLAIN, notice))) == "Größe\n\nsecond paragraph\n\nsecond"
    picture = part("image/png; name=logo.png", "x", "Content-ID: <a>")
    assert forms_beside("This mail is a page.", RATES_PAGE.format(""), picture) == RATES
    assert forms_beside(RATES, RATES_PAGE.format(""), picture, attachment("filename=a.pdf")) == (
        f"{RATES}\n\nAttachments: a.pdf"
    )


def forms_beside(plain: str, page: str, *others: bytes) -> str:
    return body_of(mail(multipart("related", part("text/plain", plain), part("text/html", page), *others)))


def test_a_plain_form_that_is_the_page_itself_is_not_read_as_text() -> None:
    page = RATES_PAGE.format("")
    assert forms(f"<html>{page}</html>", page) == RATES


def test_a_stub_may_be_long() -> None:
    stub = (
        "This email contains HTML which your mail client is unable to display. To read it please use a client that "
        "supports HTML, or copy the following address into your browser: https://example.com/news/2026/03. If you no "
        "longer wish to receive these mails, reply with the word REMOVE in the subject."
    )
    news = "The canteen is closed on Friday, because of the inventory."
    assert forms(stub, f"<p>{news}</p>") == news


def test_a_form_that_is_parted_by_a_file_is_read_whole() -> None:
    for kind, shown in (("text/plain", "before\n\nafter"), ("text/html", "before\n\nafter")):
        cells = [part(kind, each if kind == "text/plain" else f"<p>{each}</p>") for each in ("before", "after")]
        mixed = multipart("mixed", cells[0], attachment("filename=a.pdf"), cells[1], boundary="b2")
        assert body_of(mail(multipart("alternative", mixed))) == f"{shown}\n\nAttachments: a.pdf"


def test_the_page_of_related_parts_may_come_after_its_picture() -> None:
    assert body_of(mail(multipart("related", part("image/png", "x"), part("text/html", "<p>page")))) == "page"


def test_a_text_with_a_name_is_the_body_where_it_is_shown_or_nothing_else_is() -> None:
    named = part("text/plain; name=body.txt", "body", "Content-Disposition: inline")
    assert body_of(mail(multipart("mixed", named))) == "body"
    assert body_of(mail(multipart("mixed", PLAIN, named))).endswith("paragraph\n\nbody")
    other = part("text/plain; name=log.txt", "log")
    assert body_of(mail(multipart("mixed", PLAIN, other))).endswith("paragraph\n\nAttachments: log.txt")


def test_a_page_with_its_pictures_and_files() -> None:
    related = multipart(
        "related",
        PAGE,
        part("image/png; name=logo.png", "x", "Content-ID: <a>", "Content-Disposition: inline"),
        boundary="b2",
    )
    assert body_of(mail(multipart("mixed", related, attachment("filename=plan.pdf")))) == (
        "Größe\n\nsecond paragraph\n\nAttachments: plan.pdf"
    )


def test_text_after_an_attachment_is_read_in_its_place() -> None:
    assert body_of(
        mail(multipart("mixed", part("text/plain", "one"), attachment("filename=a.pdf"), part("text/plain", "two")))
    ) == ("one\n\ntwo\n\nAttachments: a.pdf")


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ("filename=plan.pdf", "plan.pdf"),
        ('filename="a plan; final.pdf"', "a plan; final.pdf"),
        ("filename*=utf-8''Urlaub%20f%C3%BCr%20alle.pdf", "Urlaub für alle.pdf"),
        ("filename=\"? f.pdf\"; filename*=utf-8''%E2%82%AC%20f.pdf", "€ f.pdf"),
        ("filename*0*=utf-8''Urlaub%20;\n filename*1*=f%C3%BCr.pdf", "Urlaub für.pdf"),
        ('filename="=?utf-8?B?w5xiZXJzaWNodC5wZGY=?="', "Übersicht.pdf"),
        ("filename*=no-such-charset''x.pdf", "x.pdf"),
        ('filename="Übersicht.pdf"', "Übersicht.pdf"),
        ("", "application/pdf"),
    ],
)
def test_attachments_are_named(parameter: str, name: str) -> None:
    assert body_of(mail(multipart("mixed", PLAIN, attachment(parameter)))).endswith(f"\n\nAttachments: {name}")


def test_the_files_of_a_form_that_is_not_read_are_named_too() -> None:
    mixed = multipart("mixed", PAGE, attachment("filename=a.pdf"), boundary="b2")
    assert body_of(mail(multipart("alternative", PLAIN, mixed))).endswith("second paragraph\n\nAttachments: a.pdf")


def test_a_forwarded_message_is_a_section() -> None:
    inner = b"From: eve@example.com\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\n" + multipart(
        "mixed", part("text/plain", "Inner."), attachment("filename=b.pdf"), boundary="b2"
    )
    extracted = extract(mail(multipart("mixed", part("text/plain", "See below."), part("message/rfc822", inner))))
    assert extracted.text.removeprefix(SHOWN) == (
        "\n\nSee below.\n\nGrüße\n\nFrom: eve@example.com\nSubject: Grüße\n\nInner.\n\nAttachments: b.pdf"
    )
    assert extracted.blocks[-1].headings == ("Grüße",)


def test_a_message_forwarded_in_one_form_is_a_section_of_its_own() -> None:
    inner = part("message/rfc822", b"Subject: Hi\n" + part("text/html", "<p>Inner.</p>"))
    page = multipart("mixed", part("text/html", "<p>See below.</p>"), inner, boundary="b2")
    data = mail(multipart("alternative", part("text/plain", "See below."), page))
    assert body_of(data) == "See below.\n\nHi\n\nSubject: Hi\n\nInner."


def test_a_forwarded_message_may_be_in_base64() -> None:
    inner = base64.b64encode(b"From: eve@example.com\nSubject: Hi\n\nInner.")
    data = mail(multipart("mixed", part("message/rfc822", inner, "Content-Transfer-Encoding: base64")))
    assert body_of(data) == "Hi\n\nFrom: eve@example.com\nSubject: Hi\n\nInner."


def test_each_message_of_a_mailbox_is_a_section() -> None:
    one, two = (f"From a@b.c Mon Mar  4 10:00:00 2024\n{SHOWN} {n}\n\nBody {n}\n>From here\n\n" for n in (1, 2))
    extracted = extract((one + two).encode())
    assert [block.headings for block in extracted.blocks][-1] == ("Leave 2",)
    assert extracted.text == "\n\n".join(f"Leave {n}\n\n{SHOWN} {n}\n\nBody {n}\nFrom here" for n in (1, 2))
    assert extracted.title is None


def test_a_message_that_cannot_be_read_leaves_the_others_of_its_mailbox() -> None:
    separator = b"From a@b.c Mon Mar  4 10:00:00 2024\n"
    nested = b"".join(b"Subject: Deep\nContent-Type: message/rfc822\n\n" for _ in range(200))
    mailbox = b"\n\n".join(
        [
            separator + HEAD + b"\ncaf\xe9 \x80 \x8e",
            separator + nested,
            separator + b"Subject: Next\nFrom: eve@example.com\n\nStill here.\n",
        ]
    )
    undecodable, corrupt, read = (each.strip() for each in extract(mailbox).text.rpartition("Not read: corrupt"))
    assert undecodable == f"Leave\n\n{SHOWN}\n\nNot read: undecodable"
    assert corrupt == "Not read: corrupt"
    assert read == "Next\n\nFrom: eve@example.com\nSubject: Next\n\nStill here."


@pytest.mark.parametrize(
    "head",
    [
        b"Subject: Exported From Wiki\nDate: Sun, 1 Mar 2026 23:30:00 -0500\n",
        b"From: <Saved by Blink>\nSnapshot-Content-Location: https://example.com/\nSubject: Saved\n",
    ],
)
def test_a_page_saved_with_its_pictures_is_read_as_a_page(head: bytes) -> None:
    page = (
        "<html lang=pl><head><title>Urlop – intranet</title></head><body><nav><a href=/>Start</a></nav><h1>Urlop</h1>"
        "<p>Zapłata.</p></body></html>"
    )
    location = "Content-Location: https://example.com/leave"
    parts = (
        part("text/html; charset=iso-8859-2", page.replace("–", "-").encode("iso8859_2"), location),
        part("image/png", "iVBORw0KGgo=", "Content-Transfer-Encoding: base64", "Content-Location: https://e.com/a.png"),
    )
    extracted = extract(mail(multipart("related; type=text/html", *parts), head=head + b"MIME-Version: 1.0\n"))
    assert (extracted.title, extracted.language, extracted.effective_date) == ("Urlop", "pl", None)
    assert extracted.text == "Urlop\n\nZapłata."


def test_a_mail_with_a_page_that_has_a_place_is_a_mail_still() -> None:
    page = part("text/html", "<p>Hi</p>", "Content-Location: https://example.com/")
    assert body_of(mail(multipart("related", page))) == "Hi"


def test_an_invitation_says_when_and_where() -> None:
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\n"
        "SUMMARY:Review\\, quarterly\r\nDTSTART;TZID=Europe/Berlin:20260302T090000\r\nDTEND:20260302T093000Z\r\n"
        'LOCATION:Room 5\r\nORGANIZER;CN="Ann: Lead":mailto:ann@example.com\r\n'
        "DESCRIPTION:Bring\\, numbers\r\n"
        "ATTENDEE;ROLE=REQ:MAILTO:bob@example.com\r\nATTENDEE;CN=E\r\n ve:mailto:eve@example.com\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    shown = (
        "Event: Review, quarterly\nStart: 2026-03-02 09:00 Europe/Berlin\nEnd: 2026-03-02 09:30 UTC\n"
        "Location: Room 5\nOrganizer: Ann: Lead\nAttendees: bob@example.com, Eve"
    )
    calendar = part("text/calendar; method=REQUEST", event)
    assert (
        body_of(mail(multipart("alternative", part("text/plain", "Please come."), calendar)))
        == f"Please come.\n\n{shown}"
    )
    described = f"{shown}\nDescription: Bring, numbers"
    assert body_of(mail(part("text/calendar", event))) == described
    empty = part("text/html", "<html><body><div></div></body></html>")
    assert body_of(mail(multipart("alternative", part("text/plain", "\n"), empty, calendar))) == described


def test_an_invitation_with_a_name_is_read_and_one_that_is_cancelled_says_so() -> None:
    event = "BEGIN:VEVENT\nSUMMARY:Review\nSTATUS:{}\nDTSTART:20260302T093000Z\nEND:VEVENT\n"
    calendar = part("text/calendar; name=invite.ics", event.format("CANCELLED"))
    assert body_of(mail(multipart("mixed", part("text/plain", "Dear all"), calendar))) == (
        "Dear all\n\nEvent: Review\nStart: 2026-03-02 09:30 UTC\nStatus: CANCELLED"
    )
    assert "Status" not in body_of(mail(part("text/calendar", event.format("CONFIRMED"))))


def test_an_event_that_repeats_says_how_often_and_its_alarm_is_left_out() -> None:
    event = (
        "BEGIN:VEVENT\nSUMMARY:Review\nDTSTART:20260302T093000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=10\n"
        "BEGIN:VALARM\nSUMMARY:Alarm\nDESCRIPTION:Reminder\nDURATION:PT5M\nEND:VALARM\nDESCRIPTION:Numbers\nEND:VEVENT\n"
    )
    assert body_of(mail(part("text/calendar", event))) == (
        "Event: Review\nStart: 2026-03-02 09:30 UTC\nDuration: PT1H\nRepeats: FREQ=WEEKLY, COUNT=10\n"
        "Description: Numbers"
    )


def test_lines_that_flow_are_joined() -> None:
    body = "One paragraph \nof two lines.\n\n> quoted\n stuffed\n-- \nAnn"
    assert body_of(mail(part("text/plain; format=flowed", body))) == (
        "One paragraph of two lines.\n\n> quoted\nstuffed\n--\nAnn"
    )
    assert body_of(mail(part("text/plain; format=flowed", "> twelve \n> thousand\n>> and \nGreat."))) == (
        "> twelve thousand\n>> and\nGreat."
    )
    assert body_of(mail(part("text/plain; format=flowed; delsp=yes", "年次有給 \n休暇"))) == "年次有給休暇"


def test_signatures_and_reports_for_programs_are_left_out() -> None:
    signed = multipart("signed", PLAIN, part("application/pkcs7-signature; name=smime.p7s", "x"))
    assert body_of(mail(signed)) == "Größe\n\nsecond paragraph"
    report = multipart(
        "report", part("text/plain", "Not delivered."), part("message/delivery-status", "Action: failed\n")
    )
    assert body_of(mail(report)) == "Not delivered."


@pytest.mark.parametrize(
    "content",
    [
        multipart("encrypted; protocol=application/pgp-encrypted", part("application/pgp-encrypted", "Version: 1")),
        part("application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m", "x"),
    ],
)
def test_a_message_that_only_a_key_opens_is_encrypted(content: bytes) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(content))
    assert rejected.value.code == "encrypted"


SIGNED_DATA, ENVELOPED_DATA, DATA = (bytes.fromhex(f"06092a864886f70d0107{last}") for last in ("02", "03", "01"))


def element(tag: int, *content: bytes) -> bytes:
    """Of DER, of any length below 64 KB."""
    whole = b"".join(content)
    return bytes([tag, 0x82]) + len(whole).to_bytes(2, "big") + whole


def open_element(tag: int, *content: bytes) -> bytes:
    """Of BER, which ends where its content does."""
    return bytes([tag, 0x80]) + b"".join(content) + b"\x00\x00"


def envelope(content: bytes, field: str = "application/pkcs7-mime; smime-type=signed-data") -> bytes:
    return part(field, base64.encodebytes(content), "Content-Transfer-Encoding: base64")


def signed_data(content: bytes, element: Callable[..., bytes] = element, *, kind: bytes = SIGNED_DATA) -> bytes:
    inner = element(0x30, DATA, element(0xA0, content))
    return element(0x30, kind, element(0xA0, element(0x30, b"\x02\x01\x01", element(0x31), inner, element(0x31))))


INNER = part("text/plain; charset=utf-8", "Leave is 28 days.")


@pytest.mark.parametrize(
    "signed",
    [
        pytest.param(signed_data(b"\x04" + bytes([len(INNER)]) + INNER), id="DER"),
        pytest.param(
            signed_data(
                open_element(0x24, b"\x04\x0a" + INNER[:10], b"\x04" + bytes([len(INNER) - 10]) + INNER[10:]),
                open_element,
            ),
            id="BER in pieces",
        ),
    ],
)
def test_a_message_inside_of_its_signature_is_read(signed: bytes) -> None:
    assert body_of(mail(envelope(signed))) == "Leave is 28 days."
    assert body_of(mail(envelope(signed, "application/x-pkcs7-mime; name=smime.p7m"))) == "Leave is 28 days."


def test_what_a_list_has_added_to_a_signed_message_is_read_too() -> None:
    signed = envelope(signed_data(b"\x04" + bytes([len(INNER)]) + INNER))
    certificates = envelope(
        element(0x30, SIGNED_DATA, element(0xA0, element(0x30, b"\x02\x01\x01", element(0x31), element(0x30, DATA))))
    )
    data = mail(multipart("mixed", signed, certificates, part("text/plain", "list footer")))
    assert body_of(data) == "Leave is 28 days.\n\nlist footer"


def test_a_message_that_cannot_be_opened_leaves_those_beside_it() -> None:
    kinds = (signed_data(b"", kind=ENVELOPED_DATA), signed_data(INNER)[:30])
    forwarded = [part("message/rfc822", b"Subject: Secret\n" + envelope(each)) for each in kinds]
    text = body_of(mail(multipart("mixed", *forwarded, part("text/plain", "See above."))))
    assert text.count("Secret") == 4
    assert text.endswith("Not read: corrupt\n\nSee above.")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (signed_data(b"", kind=ENVELOPED_DATA), "encrypted"),
        (signed_data(INNER)[:30], "corrupt"),
        (signed_data(b"\x24\x80" * 1_000), "corrupt"),
        (element(0x30, SIGNED_DATA), "corrupt"),
    ],
)
def test_an_envelope_that_cannot_be_opened_says_so(content: bytes, code: str) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(envelope(content)))
    assert rejected.value.code == code


def test_a_text_is_read_out_of_its_pgp_signature() -> None:
    signed = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nLeave is 28 days.\n- -- \n- Ann\n"
        "-----BEGIN PGP SIGNATURE-----\nVersion: 2\n\niQEzBA==\n=AbCd\n-----END PGP SIGNATURE-----\n"
    )
    assert body_of(mail(f"\n{signed}\nlist footer\n".encode())) == "Leave is 28 days.\n--\nAnn\n\nlist footer"
    assert body_of(mail(f"\n{signed}".replace("\n", "\r\n").encode())) == "Leave is 28 days.\n--\nAnn"


def test_a_text_that_pgp_has_encrypted_is_encrypted() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(b"\n-----BEGIN PGP MESSAGE-----\n\nhQEMA5vJ0\n-----END PGP MESSAGE-----\n"))
    assert rejected.value.code == "encrypted"


def test_a_file_within_the_text_is_named() -> None:
    lines = b"".join(binascii.b2a_uu(bytes(range(each, each + 45))) for each in range(0, 180, 45))
    text = b"\nThe plan:\n\nbegin 644 the plan.pdf\n" + lines + b"`\nend\n\nIt begins:\nbegin 644 now\nand ends.\n"
    expected = "The plan:\n\nIt begins:\nbegin 644 now\nand ends.\n\nAttachments: the plan.pdf"
    assert body_of(mail(text)) == expected
    assert body_of(mail(text.replace(b"\n", b"\r\n"))) == expected


# --- broken ---


@pytest.mark.parametrize(
    ("content", "body"),
    [
        pytest.param(b"Content-Type: multipart/mixed\n\nno boundary", "no boundary", id="no boundary"),
        pytest.param(b"Content-Type: multipart/mixed; boundary=b\n\nno parts", "no parts", id="no parts"),
        pytest.param(
            b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nno end", "no end", id="no end"
        ),
        pytest.param(b"Content-Type: multipart/alternative; boundary=b\n\n--b--\n", "", id="no alternative"),
        pytest.param(b"Content-Type: message/rfc822\n\n", "", id="nothing forwarded"),
        pytest.param(
            b"Content-Type: text/plain; charset*=utf-8''utf-8; charset*0=x\n\nHello", "Hello", id="a charset twice"
        ),
        pytest.param(
            b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHello\n--b\nContent-Type: image/png\n"
            b"Content-Disposition: attachment; filename*=utf-8''a; filename*0=b\n\nx\n--b--\n",
            "Hello\n\nAttachments: image/png",
            id="a name twice",
        ),
        pytest.param(b"Content-Transfer-Encoding: x-unknown\n\nHello", "Hello", id="unknown transfer encoding"),
    ],
)  # fmt: skip
def test_broken_structure_keeps_its_text(content: bytes, body: str) -> None:
    assert body in body_of(mail(content))


@pytest.mark.parametrize("depth", [150, 3_000])
def test_parts_nested_without_an_end_are_corrupt(depth: int) -> None:
    opened = "".join(f'Content-Type: multipart/mixed; boundary="b{each}"\n\n--b{each}\n' for each in range(depth))
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(opened.encode() + PLAIN))
    assert rejected.value.code == "corrupt"


def test_a_boundary_that_nobody_can_tell_is_corrupt() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(b"Content-Type: multipart/mixed; boundary*=b; boundary*0=b\n\n--b\n\nHello"))
    assert rejected.value.code == "corrupt"


@pytest.mark.parametrize("levels", [150, 3_000])
def test_messages_nested_without_an_end_are_corrupt(levels: int) -> None:
    """However deep the interpreter may go, which libraries change."""
    with pytest.raises(DocumentRejected) as rejected:
        extract(mail(b"Content-Type: message/rfc822\n\n" * levels))
    assert rejected.value.code == "corrupt"


def test_hundreds_of_mails_beside_each_other_are_not_nested() -> None:
    forwarded = (
        part("message/rfc822", multipart("mixed", part("text/plain", f"Mail {each}"), boundary=f"inner{each}"))
        for each in range(300)
    )
    text = body_of(mail(multipart("digest", *forwarded)))
    assert text.count("Mail ") == 300
    assert text.endswith("Mail 299")


WHOLE = mail(multipart("mixed", multipart("alternative", PLAIN, PAGE, boundary="b2"), attachment("filename=a.pdf")))


@given(st.integers(200, len(WHOLE) - 1), st.binary(max_size=3))
def test_a_damaged_message_is_read_or_ends_with_a_documented_code(at: int, value: bytes) -> None:
    for data in (WHOLE[:at], WHOLE[:at] + value + WHOLE[at + 1 :]):
        try:
            assert "Leave" in extract(data).text
        except DocumentRejected as rejected:
            code = rejected.code
            assert code in {"corrupt", "undecodable", "unsupported_type"}


# --- boundaries and headers that are broken ---

TWO_PARTS = (
    b"--x1\nContent-Type: text/plain\n\nHello\n--x1\nX-Mailer: y\nContent-Type: application/pdf; name=a.pdf\n"
    b"Content-Transfer-Encoding: base64\n\nJVBERg==\n--x1--\n"
)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"Content-Type: multipart/mixed\n\n" + TWO_PARTS, id="none"),
        pytest.param(b"Content-Type: multipart/mixed; boundary=x2\n\nPreamble\n\n" + TWO_PARTS, id="another"),
        pytest.param(
            b'Content-Type: multipart/mixed; boundary="x\xc2\xb5"\n\n' + TWO_PARTS.replace(b"x1", b"x\xc2\xb5"),
            id="not ASCII",
        ),
        pytest.param((b"Content-Type: multipart/mixed\n\n" + TWO_PARTS).replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(
            multipart("mixed", b"Content-Type: multipart/mixed; boundary=\n\n" + TWO_PARTS), id="a part has none"
        ),
        pytest.param(b"Content-Type: multipart/mixed\n\n" + TWO_PARTS.replace(b"--x1--", b"--x1"), id="no end"),
    ],
)
def test_a_boundary_that_isnt_named_is_the_first_line_that_looks_like_one(content: bytes) -> None:
    assert body_of(mail(content)) == "Hello\n\nAttachments: a.pdf"


def test_a_multipart_without_any_boundary_is_its_text() -> None:
    body = b"Content-Type: multipart/mixed\n\nHello\n-- \nAnn\n--note\nnot: a field"
    assert body_of(mail(body)) == "Hello\n--\nAnn\n--note\nnot: a field"


@pytest.mark.parametrize("cut", [b"--mimepart_1-", b"--mimepart", b"--mimepart_1--"])
def test_what_is_left_of_the_last_boundary_is_no_text(cut: bytes) -> None:
    head = b"Content-Type: multipart/mixed; boundary=mimepart_1\n\n--mimepart_1\n"
    assert body_of(mail(head + part("text/plain", "Hello\n--Ann\n\n") + cut + b"\n\n")) == "Hello\n--Ann"


@pytest.mark.parametrize("gap", ["\n", "\n   \n\n", "   \n\n", "\n\n\n"])
def test_fields_after_a_blank_line_are_fields_where_the_header_lacks_them(gap: str) -> None:
    for line_end in ("\n", "\r\n"):
        head = f"From ann Thu Feb 22 11:20:31 2007\nMime-Version: 1.0\nMessage-Id: <1@example.com>\n{gap}{SHOWN}\n"
        data = (head + "Content-Type: text/plain;\n\tformat=flowed\n\nHello \nyou\n").replace("\n", line_end)
        assert extract(data.encode()).text == f"{SHOWN}\n\nHello you"


def test_fields_that_the_header_has_already_are_text() -> None:
    quoted = "From: Cy <cy@example.com>\nTo: ann@example.com\nSubject: Re\nContent-Type: text/plain"
    assert body_of(mail(f"\n{quoted}\n\nSee above.".encode())) == f"{quoted}\n\nSee above."
    assert body_of(mail(b"\nMemo: one\nPlace: here\n\nx")) == "Memo: one\nPlace: here\n\nx"


@pytest.mark.parametrize("doctype", [b'<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "x.dtd">\n', b""])
def test_what_apple_mail_adds_to_a_message_is_no_text(doctype: bytes) -> None:
    flags = b'<plist version="1.0">\n<dict><key>flags</key><integer>1</integer></dict>\n</plist>\n'
    message = mail(b"Content-Type: text/plain\n\nHello\n")
    data = b'%-10d\n%b<?xml version="1.0" encoding="UTF-8"?>\n%b%b' % (len(message), message, doctype, flags)
    assert body_of(data) == "Hello"
