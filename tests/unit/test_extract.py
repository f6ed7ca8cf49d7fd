"""From bytes to text: types, encodings, normalisation."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import ReadOptions

REAL_FILES = Path(__file__).parents[3] / "shared" / "data" / "files"


def text_of(data: bytes, content_type: str | None = None) -> str:
    return extract(data, ReadOptions(content_type=content_type)).text


def code_of(data: bytes, content_type: str | None = None) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data, ReadOptions(content_type=content_type))
    return rejected.value.code


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("leave.txt", "30 days")
    return buffer.getvalue()


# --- types ---


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(zipped(), id="zip archive"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", id="png"),
        pytest.param(b"\xff\xd8\xff\xe0\x00\x10JFIF", id="jpeg"),
        pytest.param(gzip.compress(b"# Leave"), id="gzip"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(9), id="executable"),
        pytest.param(b"SQLite format 3\x00" + bytes(80), id="sqlite"),
        pytest.param(b"ID3\x03\x00\x00\x00\x00\x0f\x76TSSE", id="mp3"),
        pytest.param(b"\x00\x00\x00\x20ftypisom", id="mp4"),
        pytest.param(b'<?xml version="1.0"?>\n<note>Leave</note>', id="xml"),
        pytest.param(b"\x1f\x9d\x90VRs\xebw\x99", id="compress"),
        pytest.param(b"\x8c\r\x04\t\x03\x02\xb5\xac\xc6\xfc", id="a few bytes without NUL"),
        pytest.param(b"<note><to>Ann</to>\n</note>\n", id="xml without a declaration"),
        pytest.param(b"<!-- c --><root a='1'><b/></root>", id="xml after a comment"),
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'></svg>", id="svg"),
        pytest.param(b"Leave\x00policy\x00\x01\x02\x03\xff\xfe\xfd", id="bytes with NULs"),
        pytest.param(bytes(1000), id="nothing but NULs"),
        pytest.param(b"\x01\x02\x03\x04\x05\x06\x07\x08 a", id="mostly control characters"),
    ],
)
def test_what_is_not_text_is_an_unsupported_type_whatever_its_name(data: bytes) -> None:
    assert code_of(data) == "unsupported_type"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"<p align=center>Leave</p>\n\n# Leave", id="readme that begins with a tag"),
        pytest.param(b"From: Ann\nTo: Bob\nSubject: Leave\n\nI am off.", id="a note like a mail"),
        pytest.param(b"BM stands for Bench Mark.", id="begins like a bitmap"),
        pytest.param(b"PK is short for primary key.", id="begins like a zip"),
        pytest.param(b"RIFF RAFF", id="begins like a wave file"),
    ],
)
def test_text_that_resembles_another_format_is_kept_as_it_is(data: bytes) -> None:
    assert text_of(data) == data.decode()


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"\x0c\x0c", "\u200b\u2060\u00ad\n".encode()]
)
def test_nothing_to_read_is_empty(data: bytes) -> None:
    assert code_of(data) == "empty"


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("<!-- note -->\n" * 1_000, id="comments"),
        pytest.param("<!-- " * 3_000, id="comments that never end"),
        pytest.param("<!--" + "-->" * 3_000, id="ends of comments"),
        pytest.param("Services:\n" + "    - a service\n" * 900, id="one header, many indented lines"),
        pytest.param("Services:\n" + " " * 16_000, id="one header, a line of spaces"),
        pytest.param("a" * 16_000, id="a header's name that never ends"),
    ],
)
def test_a_head_that_begins_like_another_format_is_told_in_linear_time(head: str) -> None:
    assert text_of(f"{head}\n# Leave".encode()).endswith("\n# Leave")


def test_a_drawing_after_many_comments_is_still_a_drawing() -> None:
    assert code_of(b"<?xml version='1.0'?>" + b"<!-- - > -- ->\n-->" * 500 + b"<svg >") == "unsupported_type"


# --- encodings ---

GERMAN = "Die tägliche Obergrenze für Mahlzeiten beträgt 60 €."
RUSSIAN = "Ежегодный отпуск составляет двадцать восемь дней. Заявление подаётся руководителю."
JAPANESE = "年次有給休暇は二十日です。申請は上司に提出してください。"
CHINESE = "年假为二十天。请向主管提交申请。"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, CHINESE + "\n", "Leave is 25 days.\n"])
def test_unicode_is_read_with_and_without_a_byte_order_mark(encoding: str, text: str) -> None:
    assert text_of(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        ("He said “hello” – don’t worry… it’s £5.", "cp1252"),
        ("Le café est fermé à Noël, c’est décidé. L’équipe dit à bientôt.", "cp1252"),
        ("El niño comió en la cocina. ¿Qué pasó ayer?", "latin-1"),
        ("• first item\n• second item", "cp1252"),
        ("Les congés sont posés à l'avance.", "latin-1"),
        ("Après le congé, les salariés ont très peu de progrès à faire dans le système.", "latin-1"),
        ("La società rimborsa le spese: la policy è valida dal 2024.", "latin-1"),
        ("Zmluva č. 5 sa končí vŕtaním, ďalšia sa začína na jeseň.", "cp1250"),
        ("Zażółć gęślą jaźń. Proszę wypełnić wniosek urlopowy przed końcem miesiąca.", "cp1250"),
        ("Zażółć gęślą jaźń. Proszę wypełnić wniosek urlopowy przed końcem miesiąca.", "iso8859_2"),
        ("Çalışanların yıllık izin hakkı yirmi gündür. İzin için başvurunuz.", "cp1254"),
        ("Az éves szabadság hűvös időben is kivehető. A kérelmet írja alá, és őrizze meg.", "cp1250"),
        ("Az éves szabadság le nem telt része hűvös időre, le a hegyre, per nap adható. Őrizze meg.", "iso8859_2"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp866"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"),
        ("年假為二十天。請向主管提交申請。", "big5"),
        ("연차 휴가는 이십 일입니다. 신청서를 관리자에게 제출하십시오.", "euc_kr"),
        ("名前、年齢、住所\n佐藤太郎、30、東京\n三木英子、30、大阪\n", "cp932"),
    ],
)
def test_a_legacy_encoding_is_told_where_only_one_reading_makes_sense(text: str, encoding: str) -> None:
    assert text_of(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param("Привет, мир", "cp1251", id="too short to tell"),
        pytest.param("你好世界", "gb18030", id="too few characters"),
        pytest.param("Le café est fermé à Noël", "mac_roman", id="an old Mac's"),
        pytest.param("Die Größe beträgt fünf Meter", "cp850", id="DOS"),
        pytest.param("počitnice", "cp1250", id="č or è"),
        pytest.param("Az időjárás hűvös; Schäfer úr őrzi.", "cp1250", id="Hungarian with a letter of others"),
        pytest.param(
            "חופשה שנתית היא עשרים ושמונה ימים בשנה לכל עובד ◌".replace("◌", "ּ") * 9, "cp1255", id="pointed Hebrew"
        ),
    ],
)
def test_text_whose_encoding_is_not_certain_is_refused_not_mangled(text: str, encoding: str) -> None:
    assert code_of(text.encode(encoding)) == "undecodable"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(
            "Sixty euro – no \x80 more".encode().replace(b"\xc2", b""), id="as many wrong bytes as right ones"
        ),
        pytest.param(b"Well done \xed\xa0\xbd and thanks", id="half a surrogate pair"),
        pytest.param(b"Well done \xed\xa0\xbd\xed\xb8\x80 and thanks", id="a surrogate pair, encoded by halves"),
    ],
)
def test_broken_utf_8_is_not_taken_for_an_older_encoding(data: bytes) -> None:
    assert code_of(data) == "undecodable"


def test_a_wrong_byte_in_a_thousand_of_plain_ones_is_marked() -> None:
    text = "Leave is 25 days. " * 60
    assert text_of(f"{text}Magalh".encode() + b"\x8ees") == f"{text}Magalh\ufffdes"
    assert code_of(f"{text[:900]}Magalh".encode() + b"\x8ees") == "undecodable"


def test_utf_8_with_a_wrong_byte_in_many_is_marked_there() -> None:
    assert text_of("“Größe”, “Maß” ".encode() + b"\xff and more") == "“Größe”, “Maß” \ufffd and more"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("The company’s limit is “60”.".encode()[:-3], "The company’s limit is “60"),
        ("Leave policy".encode("utf-16")[:-1], "Leave polic"),
        (b"\xef\xbb\xbfGr\xc3\xb6\xc3", "Grö"),
    ],
)
def test_a_character_that_is_cut_off_at_the_end_is_left_out(data: bytes, text: str) -> None:
    assert text_of(data) == text


def test_a_stray_nul_parts_words() -> None:
    assert text_of(b"line one\nline\x00two\nline three") == "line one\nline two\nline three"


def test_a_currency_sign_may_follow_a_letter() -> None:
    assert text_of("Le budget est de 120k€ par année.".encode("cp1252")) == "Le budget est de 120k€ par année."


def test_terminal_escapes_do_not_hide_that_a_text_is_utf_8() -> None:
    assert text_of("\x1b[32m✓\x1b(B\x1b[m All checks for Zürich passed".encode()) == (
        " [32m✓ (B [m All checks for Zürich passed"
    )


def test_random_bytes_are_refused() -> None:
    noise = bytes((index * index * 31 + index * 7) % 255 + 1 for index in range(999))
    assert code_of(noise) in {"undecodable", "unsupported_type"}


@pytest.mark.parametrize(
    "content_type",
    ["text/plain; charset=windows-1251", 'text/markdown; charset="windows-1251"', "text/plain;CHARSET=cp1251; x=y"],
)
def test_a_declared_charset_decides_what_the_bytes_leave_open(content_type: str) -> None:
    assert text_of("Привет, мир".encode("cp1251"), content_type) == "Привет, мир"


def test_latin_1_is_read_as_browsers_do() -> None:
    assert text_of("“ça coûte 5 €”".encode("cp1252"), "text/plain; charset=iso-8859-1") == "“ça coûte 5 €”"


@pytest.mark.parametrize("charset", ["rot13", "unicode_escape", "idna", "no-such-thing", "hex", "utf-7"])
def test_a_declared_charset_that_is_none_is_ignored(charset: str) -> None:
    assert text_of(GERMAN.encode("cp1252"), f"text/plain; charset={charset}") == GERMAN


def test_utf_8_wins_over_a_wrong_declaration() -> None:
    assert text_of(GERMAN.encode(), "text/plain; charset=windows-1252") == GERMAN


def test_a_wrong_declaration_does_not_hide_what_the_bytes_say() -> None:
    assert text_of(GERMAN.encode("cp1252"), "text/plain; charset=utf-8") == GERMAN


def outcome(data: bytes) -> str:
    try:
        return extract(data).text
    except DocumentRejected as rejected:
        return f"\x00{rejected.code}"


@given(st.binary(max_size=300))
def test_any_bytes_are_either_read_or_refused_with_a_documented_code(data: bytes) -> None:
    text = outcome(data)
    if "\x00" in text:
        assert text in {"\x00empty", "\x00unsupported_type", "\x00undecodable", "\x00corrupt"}
    else:
        assert text.encode()


# --- normalisation ---


def test_line_ends_become_newlines_and_a_form_feed_a_new_paragraph() -> None:
    assert text_of(b"one\r\ntwo\rthree\x0cfour\x0bfive\n") == "one\ntwo\nthree\n\nfour\nfive\n"


def test_text_becomes_nfc() -> None:
    assert text_of("Cafe\u0301".encode()) == "Café"


def test_control_characters_part_words_and_a_stray_byte_order_mark_goes() -> None:
    assert text_of("one\x1b[0mtwo\ufeffthree\x85four plus enough ordinary text".encode()) == (
        "one [0mtwothree\nfour plus enough ordinary text"
    )


def test_a_megabyte_of_combining_marks_is_normalised_in_linear_time() -> None:
    text = text_of(("a" + "\u0301\u0316" * 500_000).encode())
    assert text.count("\u0316") == 500_000


# --- real files ---


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("txt-windows-1252.txt", "is a “windows” encoding"),
        ("csv-shift-jis.csv", "| 髙橋淳 | 35 | 名古屋 |"),
        ("csv-utf16be.csv", "Stanley Cups"),
        ("csv-utf8-bom.csv", "ʤ"),
        ("txt-naughty-strings.txt", "田中さんにあげて下さい"),
        ("markdown-features.md", "Café naïve résumé"),
    ],
)
def test_real_files_are_read(name: str, words: str) -> None:
    path = REAL_FILES / name
    if path.exists():
        assert words in text_of(path.read_bytes())


@pytest.mark.parametrize("name", ["elf-named.pdf", "png-named.txt", "doc-legacy.doc", "xls-legacy.xls"])
def test_real_files_of_other_formats_are_refused(name: str) -> None:
    path = REAL_FILES / name
    if path.exists():
        assert code_of(path.read_bytes()) == "unsupported_type"


def test_the_same_bytes_give_the_same_text_and_blocks() -> None:
    data = b"# A\n\ntext\n\n## B\n\n| a |\n| - |\n| 1 |\n"
    assert extract(data) == extract(data, ReadOptions(content_type="text/plain"))
    assert [block.kind for block in extract(data).blocks] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.HEADING,
        BlockKind.TABLE,
    ]
