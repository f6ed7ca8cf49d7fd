"""Containers: what kind they hold, and that none of them outgrows its limits."""

from __future__ import annotations

import contextlib

import pytest
from lxml import etree

from citewell.errors import DocumentRejected
from citewell.extract.archives import Archive
from citewell.extract.formats import Format
from citewell.extract.options import Limits, ReadOptions
from citewell.extract.sniffing import format_of
from citewell.extract.xml import iterate, parse, recovered
from tests.documents.archives import understated, with_flag, zipped
from tests.documents.outlook import compound_file

LIMITS = Limits(unpacked_bytes=10_000_000, ratio=100)


def _types(main: str) -> dict[str, str]:
    return {
        "[Content_Types].xml": f'<Types><Default Extension="xlsx" ContentType="application/vnd.openxmlformats-'
        f'officedocument.spreadsheetml.sheet"/><Override PartName="/main.xml" ContentType="{main}"/></Types>'
    }


def _code(data: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        format_of(data, ReadOptions(limits=LIMITS))
    return rejected.value.code


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        (
            _types("application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"),
            Format.DOCX,
        ),
        (_types("application/vnd.ms-word.document.macroEnabled.main+xml"), Format.DOCX),
        (
            _types("application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml"),
            Format.PPTX,
        ),
        (_types("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"), Format.XLSX),
        ({"word/document.xml": "<document/>"}, Format.DOCX),
        ({"\\PPT\\Presentation.xml": "<presentation/>"}, Format.PPTX),
        ({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"}, Format.ODT),
        ({"mimetype": "application/vnd.oasis.opendocument.text-template", "content.xml": "<a/>"}, Format.ODT),
    ],
    ids=str,
)
def test_a_package_is_known_by_what_it_says_of_itself(parts: dict[str, str], kind: Format) -> None:
    assert format_of(zipped(parts), ReadOptions()) is kind


@pytest.mark.parametrize(
    ("main_type", "kind"),
    [
        *(
            (f"application/vnd.openxmlformats-officedocument.{name}.main+xml", kind)
            for name, kind in (
                ("wordprocessingml.template", Format.DOCX),
                ("presentationml.template", Format.PPTX),
                ("spreadsheetml.template", Format.XLSX),
            )
        ),
        *(
            (f"application/vnd.ms-{name}.main+xml", kind)
            for name, kind in (
                ("word.template.macroEnabledTemplate", Format.DOCX),
                ("powerpoint.presentation.macroEnabled", Format.PPTX),
                ("powerpoint.slideshow.macroEnabled", Format.PPTX),
                ("powerpoint.template.macroEnabled", Format.PPTX),
                ("excel.sheet.macroEnabled", Format.XLSX),
                ("excel.template.macroEnabled", Format.XLSX),
            )
        ),
    ],
)
def test_templates_shows_and_files_with_macros_are_read_as_what_they_hold(main_type: str, kind: Format) -> None:
    assert format_of(zipped(_types(main_type)), ReadOptions()) is kind


def test_an_office_document_may_hold_a_part_that_others_name_themselves_by() -> None:
    parts = {"mimetype": "application/zip", "[Content_Types].xml": "<Types/>", "word/document.xml": "<a/>"}
    assert format_of(zipped(parts), ReadOptions()) is Format.DOCX


@pytest.mark.parametrize(
    "parts",
    [
        {"leave.docx": "PK"},
        {"AndroidManifest.xml": "<a/>"},
        {"mimetype": "application/epub+zip", "word/document.xml": "<a/>"},
        {"mimetype": "application/vnd.oasis.opendocument.spreadsheet"},
        {"mimetype": "application/vnd.oasis.opendocument.presentation"},
        _types("application/vnd.ms-excel.sheet.binary.macroEnabled.main"),
        _types("application/vnd.ms-visio.drawing.main+xml"),
    ],
    ids=str,
)
def test_an_archive_that_is_no_such_document_is_an_unsupported_type(parts: dict[str, str]) -> None:
    assert _code(zipped(parts)) == "unsupported_type"


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("EncryptionInfo", "EncryptedPackage"), "encrypted"),
        (("WordDocument", "1Table"), "unsupported_type"),
        (("Workbook",), "unsupported_type"),
        (("anything",), "unsupported_type"),
    ],
)
def test_a_compound_file_is_known_by_the_streams_at_its_top(names: tuple[str, ...], code: str) -> None:
    assert _code(compound_file(dict.fromkeys(names, b""))) == code


def test_an_outlook_message_is_a_compound_file_too() -> None:
    assert format_of(compound_file({"__properties_version1.0": b""}), ReadOptions()) is Format.MSG


@pytest.mark.parametrize("length", [8, 60, 513, 700, 1100])
def test_a_compound_file_that_is_cut_off_is_corrupt_or_still_tells_its_kind(length: int) -> None:
    assert _code(compound_file({"EncryptedPackage": b""})[:length]) in ("corrupt", "encrypted")


def test_an_open_document_with_a_password_is_encrypted() -> None:
    manifest = '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": manifest}
    assert _code(zipped(parts)) == "encrypted"


def test_a_locked_archive_is_encrypted() -> None:
    assert _code(with_flag(zipped({"word/document.xml": "<a/>"}), 1)) == "encrypted"


def test_an_archive_that_is_cut_off_is_corrupt() -> None:
    whole = zipped({"word/document.xml": "<a/>" * 1000})
    assert {_code(whole[:length]) for length in (4, 30, len(whole) // 2, len(whole) - 1)} == {"corrupt"}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"[Content_Types].xml": b" " * 5_000_000}, id="one part that grows too much"),
        pytest.param(
            {"mimetype": b"", **{f"part{number}": bytes(range(250)) * 3_999 for number in range(11)}},
            id="parts that add up",
        ),
        pytest.param({"mimetype": b"", **{f"{number}": b"" for number in range(20_001)}}, id="too many parts"),
    ],
)
def test_an_archive_that_outgrows_its_limits_is_a_bomb(parts: dict[str, bytes]) -> None:
    assert _code(zipped(parts)) == "archive_bomb"


def test_an_archive_that_is_no_document_is_unsupported_whatever_is_wrong_with_it() -> None:
    assert _code(zipped({"log.txt": b" " * 50_000_000})) == "unsupported_type"
    assert _code(with_flag(zipped({"log.txt": b"a"}), 1)) == "unsupported_type"


def test_a_small_part_may_be_compressed_as_well_as_it_can() -> None:
    assert Archive(zipped({"a": b" " * 1_000_000}), LIMITS).read("a") == b" " * 1_000_000


def test_archives_in_an_archive_are_not_opened() -> None:
    inner = zipped({"a": b" " * 5_000_000})
    assert Archive(zipped({"inner.zip": inner}), LIMITS).read("inner.zip") == inner


def test_a_part_is_found_however_its_name_is_written() -> None:
    archive = Archive(zipped({"Word\\Document.xml": "text"}), LIMITS)
    assert "/word/document.xml" in archive
    assert archive.read("word/DOCUMENT.xml") == b"text"
    assert [*archive] == ["Word\\Document.xml"]


def test_a_part_that_is_missing_or_damaged_is_corrupt() -> None:
    whole = zipped({"a": b"leave policy " * 100})
    damaged = whole.replace(whole[40:44], b"\xff\xff\xff\xff")
    for data, name in ((whole, "b"), (damaged, "a")):
        with pytest.raises(DocumentRejected) as rejected:
            Archive(data, LIMITS).read(name)
        assert rejected.value.code == "corrupt"


@pytest.mark.parametrize("at", range(46))
@pytest.mark.parametrize("value", [b"\0", b"\x7f", b"\xff"])
def test_a_directory_with_a_wrong_byte_is_corrupt_or_harmless(at: int, value: bytes) -> None:
    whole = zipped({"word/document.xml": "text"})
    start = whole.index(b"PK\x01\x02") + at
    with contextlib.suppress(DocumentRejected):
        assert Archive(whole[:start] + value + whole[start + 1 :], LIMITS).read("word/document.xml") == b"text"


def test_a_part_without_a_name_is_one_that_nobody_asks_for() -> None:
    assert Archive(zipped({"": "text", "folder/": "", "a": "b"}), LIMITS).read("a") == b"b"


def test_a_directory_that_understates_a_part_is_taken_at_its_word() -> None:
    assert Archive(understated("a", b"x" * 3_000_000, size=100), LIMITS).read("a") == b"x" * 100


def test_what_nobody_reads_may_be_compressed_as_well_as_it_can() -> None:
    archive = Archive(zipped({"blank.bmp": b" " * 5_000_000, "a": "text"}), LIMITS)
    assert archive.read("a") == b"text"
    with pytest.raises(DocumentRejected) as rejected:
        archive.read("blank.bmp")
    assert rejected.value.code == "archive_bomb"


# --- XML ---

BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'
OUTSIDE = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'
PARAMETERS = b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd"> %x;]><a/>'


@pytest.mark.parametrize("data", [BOMB, OUTSIDE, PARAMETERS, BOMB.decode().encode("utf-16")])
def test_xml_that_declares_entities_is_a_bomb(data: bytes) -> None:
    for read in (parse, lambda data: list(iterate(data, "a"))):
        with pytest.raises(DocumentRejected) as rejected:
            read(data)
        assert rejected.value.code == "archive_bomb"


def test_a_document_type_without_entities_is_read_and_fetches_nothing() -> None:
    root = parse(b'<!DOCTYPE a PUBLIC "-//X//EN" "http://127.0.0.1:9/x.dtd"><a>b<!-- c --><?d e?>f</a>')
    assert "".join(root.itertext()) == "bf"


@pytest.mark.parametrize("data", [b"", b"<a>", b"<a></b>", b"\x00\x01", b"<a>&undeclared;</a>", b"<a>" * 5000])
def test_xml_that_is_not_well_formed_is_corrupt(data: bytes) -> None:
    for read in (parse, lambda data: list(iterate(data, "b"))):
        with pytest.raises(DocumentRejected) as rejected:
            read(data)
        assert rejected.value.code == "corrupt"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"a &#x0B; b &#31;", "a   b  "),
        (b"a \x0b b", "a   b"),
        (b"rent & lease &amp; more &#38;", "rent & lease & more &"),
        (b"&#xD800;&#x1F600;&#10;&", " \U0001f600\n&"),
    ],
)
def test_what_some_programs_take_for_xml_is_mended(written: bytes, text: str) -> None:
    data = b"<a><b>first</b><b>" + written + b"</b></a>"
    assert parse(data)[1].text == text
    assert [element.text for element in iterate(data, "b")] == ["first", text]


def test_a_text_that_is_too_long_is_too_large() -> None:
    for read in (parse, lambda data: list(iterate(data, "a"))):
        with pytest.raises(DocumentRejected) as rejected:
            read(b"<a>" + b"x" * 10_100_000 + b"</a>")
        assert rejected.value.code == "too_large"


def test_of_damaged_xml_what_is_left_can_be_recovered() -> None:
    root = recovered(b"<a><b>c</b><b>d")
    assert root is not None
    assert [element.text for element in root] == ["c", "d"]
    assert recovered(b"garbage") is None
    assert recovered(b"") is None


def test_elements_come_one_by_one_and_whole() -> None:
    data = b"<t>" + b"<r><c>1</c><c>2</c></r>" * 3 + b"</t>"
    assert [etree.tostring(row, method="text") for row in iterate(data, "r")] == [b"12"] * 3
