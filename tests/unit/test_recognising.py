"""Reading the picture of a page: what Tesseract is given, and what becomes of its answer and its failures."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from pathlib import Path

import pytest

from citewell.errors import ConfigurationError, DocumentRejected
from citewell.extract import recognising
from citewell.extract.pictures import png_of_grey
from citewell.extract.recognising import check, recognise

PNG = png_of_grey(bytes([0, 255, 9, 128, 64, 9]), columns=2, rows=2, stride=3)


def program(folder: Path, body: str) -> str:
    path = folder / "tesseract"
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\npicture = sys.stdin.buffer.read()\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_a_page_is_given_as_it_is_and_its_text_comes_back(tmp_path: Path) -> None:
    stand_in = program(tmp_path, "print('Urlaub für alle\\n\\n', len(picture), *sys.argv[1:], '\\f')")
    words = recognise(PNG, program=stand_in, languages="eng+deu")
    assert words == f"Urlaub für alle\n\n {len(PNG)} stdin stdout -l eng+deu --psm 3"


def test_nothing_recognised_is_empty(tmp_path: Path) -> None:
    assert recognise(PNG, program=program(tmp_path, "print(' \\n\\f')"), languages="eng") == ""


@pytest.mark.parametrize("end", ["sys.exit(1)", "os.kill(os.getpid(), 9)"])
def test_a_program_that_fails_of_one_picture_is_a_parser_that_crashed(tmp_path: Path, end: str) -> None:
    stand_in = program(tmp_path, f"if len(picture) == {len(PNG)}: {end}")
    with pytest.raises(DocumentRejected) as rejected:
        recognise(PNG, program=stand_in, languages="eng")
    assert rejected.value.code == "parser_crashed"
    check(program=stand_in, languages="eng")


@pytest.mark.parametrize("end", ["sys.exit(127)", "os.kill(os.getpid(), 9)"])
def test_a_program_that_fails_of_any_picture_is_the_deployments_fault(tmp_path: Path, end: str) -> None:
    stand_in = program(tmp_path, end)
    with pytest.raises(ConfigurationError, match="can't be used: exit code"):
        recognise(PNG, program=stand_in, languages="eng")
    with pytest.raises(ConfigurationError, match="can't be used: exit code"):
        check(program=stand_in, languages="eng")


@pytest.mark.parametrize("code", [0, 1])
def test_a_language_that_is_not_installed_is_named_though_another_is(tmp_path: Path, code: int) -> None:
    said = "Error opening data file xxx\\nFailed loading language 'xxx'"
    stand_in = program(tmp_path, f'print("{said}", file=sys.stderr)\nprint("half of it")\nsys.exit({code})')
    for languages in ("eng+xxx", "xxx"):
        message = rf"no data for xxx: .*CITEWELL_OCR_LANGUAGES \({re.escape(languages)}\)"
        with pytest.raises(ConfigurationError, match=message):
            recognise(PNG, program=stand_in, languages=languages)
        with pytest.raises(ConfigurationError, match=message):
            check(program=stand_in, languages=languages)


def test_its_libraries_and_languages_are_those_that_stand_beside_it_and_nothing_else_of_the_worker_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    for folder in ("bin", "lib", "share/tessdata"):
        (tmp_path / folder).mkdir(parents=True)
    names = ("LD_LIBRARY_PATH", "TESSDATA_PREFIX", "AWS_SECRET_ACCESS_KEY")
    shown = f"print(*(f'{{n}}={{os.environ.get(n)}}' for n in {names}))"
    assert recognise(PNG, program=program(tmp_path / "bin", shown), languages="eng") == (
        f"LD_LIBRARY_PATH={tmp_path}/lib TESSDATA_PREFIX={tmp_path}/share/tessdata AWS_SECRET_ACCESS_KEY=None"
    )


def test_a_program_that_is_not_there_is_the_deployments_fault_too(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere.*No such file"):
        recognise(PNG, program=str(tmp_path / "nowhere"), languages="eng")


def test_a_page_that_takes_too_long_is_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognising, "_SECONDS", 0.5)
    with pytest.raises(DocumentRejected) as rejected:
        recognise(PNG, program=program(tmp_path, "time.sleep(60)"), languages="eng")
    assert rejected.value.code == "too_slow"


def test_a_picture_is_a_png_of_its_pixels() -> None:
    assert PNG.startswith(b"\x89PNG\r\n\x1a\n")
    parts = {}
    at = 8
    while at < len(PNG):
        (length,) = struct.unpack(">I", PNG[at : at + 4])
        kind, data = PNG[at + 4 : at + 8], PNG[at + 8 : at + 8 + length]
        assert struct.unpack(">I", PNG[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + data),)
        parts[kind] = data
        at += 12 + length
    assert parts[b"IHDR"] == struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    assert zlib.decompress(parts[b"IDAT"]) == bytes([0, 0, 255, 0, 128, 64])
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
