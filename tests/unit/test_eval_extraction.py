from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.options import Limits
from eval.__main__ import main
from eval.dataset import DatasetError
from eval.extraction import Reading, as_read, judge, read, read_manifest, squeezed


def _document() -> ExtractedText:
    builder = TextBuilder(Limits())
    builder.page(1)
    builder.heading(1, "1. Leave")
    builder.paragraph("Everyone’s “annual” leave is 30\u00a0days \u2013 no less.")
    builder.paragraph("休暇は 三十日です")
    builder.page(2)
    builder.table([["Year", "Days", "Note"], ["2025", "30", "full"], ["2026", "31", ""]])
    return builder.finish()


def _read(_: bytes) -> ExtractedText:
    return _document()


def _rejecting(code: str) -> Reading:
    return Reading(None, code, "a reason", 0.1)


def _manifest(folder: Path, expect: dict[str, Any], **fields: Any) -> Path:
    (folder / "a.txt").write_bytes(b"bytes")
    (folder / "manifest.jsonl").write_text(json.dumps({"file": "a.txt", "expect": expect, **fields}) + "\n\n")
    return folder / "manifest.jsonl"


def _missed(folder: Path, expect: dict[str, Any], reading: Reading | None = None, *, ocr: bool = False) -> list[Any]:
    (file,) = read_manifest(_manifest(folder, expect))
    return [each.missed for each in judge(file, reading or read(file.data, _read), ocr=ocr)]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("ﬁne", "fine"),
        ("soft\u00adhyphen zero\u200bwidth \u202bbidi\u202c", "softhyphen zerowidth bidi"),
        ("‘a’ “b” c–d", "'a' \"b\" c-d"),
        (" a \n\t b\u00a0c ", "a b c"),
    ],
)
def test_texts_are_compared_as_a_reader_sees_them(given: str, read: str) -> None:
    assert as_read(given) == read
    assert squeezed(given) == read.replace(" ", "")


@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        ({"text": [{"page": 1, "contains": 'Everyone\'s "annual" leave is 30 days - no less.'}]}, None),
        ({"text": [{"page": None, "contains": "休 暇は三十日"}]}, None),
        ({"text": [{"page": 2, "contains": "annual"}]}, "it is on page 1 instead"),
        ({"text": [{"page": 1, "contains": "monthly"}]}, "it is on no page"),
        ({"text": [{"page": None, "contains": "annualleave"}]}, "it isn't in the text"),
        ({"order": [["annual", "Year"]]}, None),
        ({"order": [["Year", "annual"]]}, "the other way round"),
        ({"order": [["Year", "nowhere"]]}, "'nowhere' isn't in the text"),
        ({"table_rows": [["2025", "full"]]}, None),
        ({"table_rows": [["30", "2025"]]}, "its cells aren't on one line in this order"),
        ({"table_rows": [["2025", "31"]]}, "its cells aren't on one line in this order"),
        ({"table_rows": [["2025", "32"]]}, "not in the text: 32"),
        ({"headings": ["Leave"]}, None),
        ({"headings": ["annual"]}, "it is there, but no heading"),
        ({"not_contains": ["<td>"]}, None),
        ({"not_contains": ["“annual”"]}, "it is there"),
    ],
    ids=str,
)
def test_an_expectation_holds_or_says_why_not(tmp_path: Path, expect: dict[str, Any], reason: str | None) -> None:
    assert _missed(tmp_path, expect) == [reason]


def test_every_expectation_of_a_file_that_was_rejected_is_missed_with_its_code(tmp_path: Path) -> None:
    expect = {"text": [{"page": 1, "contains": "annual"}], "not_contains": ["<td>"]}
    assert _missed(tmp_path, expect, _rejecting("corrupt")) == ["corrupt (a reason)"] * 2


@pytest.mark.parametrize(
    ("expect", "reading", "missed"),
    [
        ({"error": "encrypted"}, _rejecting("encrypted"), [None]),
        ({"error": "encrypted"}, _rejecting("corrupt"), ["it ended as corrupt (a reason)"]),
        ({"error": "encrypted"}, None, ["it ended as text"]),
        ({"error": "archive_bomb", "or_error": ["corrupt"]}, _rejecting("corrupt"), [None]),
        ({"error": "archive_bomb", "or_text": True}, None, [None]),
        ({"or_error": "corrupt", "or_text": True}, _rejecting("too_slow"), ["it ended as too_slow (a reason)"]),
        ({"or_error": ["corrupt"], "headings": ["Leave"]}, _rejecting("corrupt"), [None]),
        ({"or_error": ["corrupt"], "headings": ["Leave"]}, None, [None]),
        ({"or_error": ["corrupt"], "headings": ["Leave"]}, _rejecting("encrypted"), ["encrypted (a reason)"]),
    ],
    ids=str,
)
def test_a_file_may_end_in_the_codes_that_the_manifest_allows(
    tmp_path: Path, expect: dict[str, Any], reading: Reading | None, missed: list[str | None]
) -> None:
    assert _missed(tmp_path, expect, reading) == missed


def test_with_ocr_the_words_on_a_scan_are_expected_instead_of_its_rejection(tmp_path: Path) -> None:
    expect = {"error": "no_text_layer", "ocr_text": ["annual leave"]}
    assert _missed(tmp_path, expect, _rejecting("no_text_layer")) == [None]
    assert _missed(tmp_path, expect, _rejecting("no_text_layer"), ocr=True) == ["no_text_layer (a reason)"]
    expect["ocr_text"] = ['"annual" leave']
    assert _missed(tmp_path, expect, ocr=True) == [None]


def test_an_expectation_given_twice_counts_twice(tmp_path: Path) -> None:
    assert _missed(tmp_path, {"headings": ["Leave", "Leave"]}) == [None, None]


def test_a_reader_that_raises_anything_else_has_failed() -> None:
    def extract(_: bytes) -> ExtractedText:
        raise RecursionError("too deep")

    reading = read(b"", extract)
    assert (reading.extracted, reading.code, reading.problem) == (None, None, "RecursionError: too deep")


def test_a_rejection_is_kept_with_its_code() -> None:
    def extract(_: bytes) -> ExtractedText:
        raise DocumentRejected("corrupt", "cut off")

    reading = read(b"", extract)
    assert (reading.code, reading.problem) == ("corrupt", "cut off")


def test_a_file_that_is_another_than_the_manifest_names_is_refused(tmp_path: Path) -> None:
    assert read_manifest(_manifest(tmp_path, {}, sha256=hashlib.sha256(b"bytes").hexdigest()))
    with pytest.raises(DatasetError, match=r"manifest.jsonl:1: a.txt isn't the file"):
        read_manifest(_manifest(tmp_path, {}, sha256="00"))


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"file": "a.txt"}', '{"file": "a.txt", "expect": {"order": [[1]]}}']
)
def test_a_manifest_that_is_none_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    _manifest(tmp_path, {}).write_text(line)
    with pytest.raises(DatasetError, match=r"manifest.jsonl:1: "):
        read_manifest(tmp_path / "manifest.jsonl")


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    manifest = _manifest(tmp_path, {})
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DatasetError, match=r"a.txt can't be read"):
        read_manifest(manifest)


def test_the_command_prints_misses_and_shares_and_ends_with_1_under_the_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = [{"contains": "bytes"}, {"contains": "bits"}, {"contains": "pieces", "needs": "comments"}]
    manifest = _manifest(tmp_path, {"text": text})
    report = tmp_path / "out" / "report.json"
    assert main(["files", str(manifest), "--json", str(report)]) == 1
    out = capsys.readouterr().out
    assert "missed: a.txt: 'bits': it isn't in the text" in out
    assert "missed: a.txt: 'pieces' (needs comments): it isn't in the text" in out
    assert "files: 1 of 2 expectations met (50.0%); apart: comments 0 of 1;" in out
    written = json.loads(report.read_text())
    assert (written["met"], written["share"], written["files"][0]["characters"]) == (1, 0.5, 5)
    assert main(["files", str(manifest), "--at-least", "0.5"]) == 0


def test_the_command_takes_the_files_whose_name_holds_a_string(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = _manifest(tmp_path, {"text": [{"contains": "bytes"}]})
    assert main(["files", str(manifest), "--only", "a."]) == 0
    assert main(["files", str(manifest), "--only", ".pdf"]) == 2
    assert "names no file with '.pdf' in its name" in capsys.readouterr().err
