"""The extracting process over real pipes: whatever a parser does there is one document's end and nobody else's."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.core.values import BlockKind, ExtractedText
from citewell.edges.extractor_process import ExtractorProcess, Ocr
from citewell.errors import ConfigurationError, DocumentRejected, ExtractorUnavailable, OutOfTime
from citewell.extract import extract
from citewell.extract.options import Limits
from citewell.settings import child_environment
from tests.documents.archives import zipped
from tests.documents.pdfs import pdf, picture, text
from tests.misbehaving import sitecustomize

LINUX = sys.platform == "linux"
"""Elsewhere nothing bounds a process's memory, and nothing ends it with the one that started it."""

MISBEHAVING = str(Path(sitecustomize.__file__).parent)
DOCUMENT = "# Leave\n\n- 30 days 😀\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".encode()


def a_process(*, seconds: float = 60, memory_mb: int = 512, limits: Limits | None = None) -> ExtractorProcess:
    environment = child_environment()
    environment["PYTHONPATH"] = os.pathsep.join((MISBEHAVING, environment["PYTHONPATH"]))
    return ExtractorProcess(limits=limits or Limits(), seconds=seconds, memory_mb=memory_mb, environment=environment)


@pytest.fixture
def process() -> Iterator[ExtractorProcess]:
    process = a_process()
    yield process
    process.close()


@pytest.fixture
def hasty() -> Iterator[ExtractorProcess]:
    process = a_process(seconds=1.5)
    yield process
    process.close()


def read(process: ExtractorProcess, document: bytes | str, *, seconds: float = 600) -> ExtractedText:
    data = document.encode() if isinstance(document, str) else document
    return process.extract(data, content_type=None, seconds=seconds)


def rejected(process: ExtractorProcess, document: bytes | str) -> tuple[str, str]:
    with pytest.raises(DocumentRejected) as caught:
        read(process, document)
    return caught.value.code, str(caught.value)


def child_of(process: ExtractorProcess) -> int:
    found = re.search(r"process (\d+)", read(process, "tell the environment").text)
    assert found
    return int(found[1])


def is_alive(pid: int) -> bool:
    if not LINUX:
        return subprocess.run(["ps", "-p", str(pid)], capture_output=True, check=False).returncode == 0
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def soon_gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_a_document_reads_as_it_does_here(process: ExtractorProcess) -> None:
    assert read(process, DOCUMENT) == extract(DOCUMENT)
    assert BlockKind.TABLE in {block.kind for block in read(process, DOCUMENT).blocks}


def test_the_content_type_reaches_the_reader(process: ExtractorProcess) -> None:
    document = "Привет, мир".encode("koi8-r")
    text = process.extract(document, content_type="text/plain; charset=koi8-r", seconds=60).text
    assert text == "Привет, мир"


def test_the_limits_reach_the_reader() -> None:
    process = a_process(limits=Limits(unpacked_bytes=1))
    try:
        assert rejected(process, b"PK\x03\x04" + bytes(100))[0] == "corrupt"
        assert rejected(process, _zip_of(b"two"))[0] == "archive_bomb"
    finally:
        process.close()


def _zip_of(content: bytes) -> bytes:
    return zipped({"word/document.xml": content})


def test_a_large_document_goes_through_whole(process: ExtractorProcess) -> None:
    document = "\n\n".join(f"Paragraph {number} of a long document." for number in range(50_000))
    extracted = read(process, document)
    assert len(extracted.text) == len(document)
    assert len(extracted.blocks) == 50_000


def test_a_rejection_comes_back_with_its_code_and_the_process_stays(process: ExtractorProcess) -> None:
    child = child_of(process)
    assert rejected(process, b"\x89PNG\r\n\x1a\n") == ("unsupported_type", "PNG image: this format can't be read")
    assert rejected(process, "") == ("empty", "the object holds no bytes")
    assert child_of(process) == child


def test_the_process_has_no_credentials(process: ExtractorProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("CITEWELL_DATABASE_URL", "secret")
    told = set(read(process, "tell the environment").text.splitlines()[:-1])
    assert told <= {"PYTHONPATH", "LD_LIBRARY_PATH", "LC_CTYPE", "PWD", "SHLVL", "_"}


def test_what_libraries_print_is_no_answer(process: ExtractorProcess) -> None:
    assert read(process, "print much").text == "print much"
    assert read(process, DOCUMENT) == extract(DOCUMENT)


@pytest.mark.parametrize("deed", ["sleep", "hold the interpreter", "start a program"])
def test_a_document_that_takes_too_long_is_ended_and_the_next_is_read(hasty: ExtractorProcess, deed: str) -> None:
    child = child_of(hasty)
    assert rejected(hasty, deed) == ("too_slow", "reading it takes over 1.5 seconds")
    assert soon_gone(child)
    assert read(hasty, DOCUMENT) == extract(DOCUMENT)


def test_the_workers_own_time_being_up_says_nothing_of_the_document(process: ExtractorProcess) -> None:
    with pytest.raises(OutOfTime):
        read(process, "sleep", seconds=1.0)
    with pytest.raises(OutOfTime):
        read(process, DOCUMENT, seconds=-5.0)
    assert read(process, DOCUMENT) == extract(DOCUMENT)


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("die", "the process that read it died: SIGSEGV"),
        ("abort", "the process that read it died: SIGABRT"),
        ("exit", "the process that read it died: exit code 3"),
        ("fail", "the reader failed with KeyError in sitecustomize.py:"),
        ("nest without end", "the reader failed with "),
        ("answer nonsense", "the reader's answer makes no sense"),
        ("answer without end", "the reader's answer makes no sense"),
    ],
)
def test_a_parser_that_crashes_ends_its_document_and_the_next_is_read(
    process: ExtractorProcess, deed: str, reason: str
) -> None:
    code, message = rejected(process, deed)
    assert code == "parser_crashed"
    assert message.startswith(reason)
    assert "words" not in message
    assert read(process, DOCUMENT) == extract(DOCUMENT)


@pytest.mark.parametrize(
    "deed",
    ["die of memory", "be killed", *(["ask for all memory", "take memory by and by"] if LINUX else [])],
)
def test_a_document_that_takes_too_much_memory_is_too_large_and_the_next_is_read(
    process: ExtractorProcess, deed: str
) -> None:
    assert rejected(process, deed) == ("too_large", "reading it takes more memory than is allowed")
    assert read(process, DOCUMENT) == extract(DOCUMENT)


def test_a_crash_is_no_lack_of_memory_because_the_one_who_started_it_has_much(process: ExtractorProcess) -> None:
    held = bytearray(os.urandom(1 << 20) * 600)
    assert rejected(process, "die")[0] == "parser_crashed"
    assert len(held) > 512 << 20


def test_a_process_that_died_in_between_is_replaced(process: ExtractorProcess) -> None:
    child = child_of(process)
    os.kill(child, signal.SIGKILL)
    assert soon_gone(child)
    assert read(process, DOCUMENT) == extract(DOCUMENT)


def test_a_missing_library_is_the_deployments_fault_and_no_documents(process: ExtractorProcess) -> None:
    with pytest.raises(ConfigurationError, match="the library no_such_library isn't installed"):
        read(process, "lack a library")


def test_pages_without_text_go_to_the_program_that_recognises_it(tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.buffer.read()\nprint('Scanned', *sys.argv[3:5])\n")
    program.chmod(0o755)
    ocr = Ocr(str(program), "eng+deu")
    process = ExtractorProcess(limits=Limits(), seconds=60, memory_mb=512, environment=child_environment(), ocr=ocr)
    extracted = read(process, pdf(text(72, 700, "Written"), picture()))
    assert extracted.text.split() == ["Written", "Scanned", "-l", "eng+deu"]
    assert [block.page for block in extracted.blocks] == [1, 2]
    assert extracted.unread_pages == ()
    assert process.version != a_process().version, "what is indexed is read again once pictures are read, too"
    process.close()


def test_a_check_loads_what_reads_documents_of_every_kind(process: ExtractorProcess) -> None:
    child = child_of(process)
    process.check(seconds=60)
    assert soon_gone(child), "the next document begins with a process that has loaded nothing yet"


def test_a_check_finds_a_library_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "lxml.py").write_text("raise ImportError('no libxml2 here', name='lxml')")
    environment = child_environment()
    environment["PYTHONPATH"] = os.pathsep.join((str(tmp_path), environment["PYTHONPATH"]))
    lacking = ExtractorProcess(limits=Limits(), seconds=60, memory_mb=512, environment=environment)
    with pytest.raises(ConfigurationError, match="the library lxml isn't installed"):
        lacking.check(seconds=60)
    assert read(lacking, DOCUMENT) == extract(DOCUMENT)
    lacking.close()


def test_a_language_that_is_missing_is_the_deployments_fault_and_a_check_finds_it(tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    said = "sys.stderr.write(\"Failed loading language 'xxx'\\\\n\"); sys.exit(1)"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.buffer.read()\n{said}\n")
    program.chmod(0o755)
    ocr = Ocr(str(program), "xxx")
    process = ExtractorProcess(limits=Limits(), seconds=60, memory_mb=512, environment=child_environment(), ocr=ocr)
    with pytest.raises(ConfigurationError, match="no data for xxx"):
        read(process, pdf(picture()))
    with pytest.raises(ConfigurationError, match="no data for xxx"):
        process.check(seconds=60)
    assert read(process, DOCUMENT) == extract(DOCUMENT)
    process.close()


def test_a_check_finds_a_library_that_fails_while_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "lxml.py").write_text("raise OSError('no libxml2 here')")
    environment = child_environment()
    environment["PYTHONPATH"] = os.pathsep.join((str(tmp_path), environment["PYTHONPATH"]))
    lacking = ExtractorProcess(limits=Limits(), seconds=60, memory_mb=512, environment=environment)
    with pytest.raises(ExtractorUnavailable, match="OSError in lxml.py:1"):
        lacking.check(seconds=60)
    lacking.close()


def test_a_check_that_takes_too_long_says_nothing_of_any_document(process: ExtractorProcess) -> None:
    with pytest.raises(ExtractorUnavailable):
        process.check(seconds=0.001)
    assert read(process, DOCUMENT) == extract(DOCUMENT)


def test_a_process_that_does_not_start_rejects_no_document() -> None:
    process = ExtractorProcess(limits=Limits(), seconds=5, memory_mb=512, environment={"PYTHONHOME": "/nowhere"})
    with pytest.raises(ExtractorUnavailable):
        read(process, DOCUMENT)
    with pytest.raises(ExtractorUnavailable):
        process.check(seconds=60)


def test_a_process_is_of_its_thread_and_another_gets_one_that_outlives_it(process: ExtractorProcess) -> None:
    children: list[int] = []
    thread = threading.Thread(target=lambda: children.append(child_of(process)))
    thread.start()
    thread.join()
    assert read(process, DOCUMENT) == extract(DOCUMENT)
    assert soon_gone(children[0])


if LINUX:

    def test_a_process_that_has_grown_is_replaced(process: ExtractorProcess) -> None:
        child = child_of(process)
        assert read(process, "keep memory").text == "keep memory"
        assert child_of(process) == child, "it has room left"
        read(process, "keep memory")
        assert child_of(process) != child
        assert soon_gone(child)

    def test_what_a_parser_started_ends_with_it(hasty: ExtractorProcess) -> None:
        child = child_of(hasty)
        assert rejected(hasty, "start a program")[0] == "too_slow"
        deadline = time.monotonic() + 20
        while (left := _of_session(child)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not left

    def _of_session(session: int) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == session and fields[0] != "Z":
                    found.append(int(entry.name))
        return found

    def test_a_killed_worker_leaves_no_process_behind() -> None:
        program = (
            "from tests.integration.test_extractor_process import a_process, child_of, read\n"
            "process = a_process()\n"
            "print(child_of(process), flush=True)\n"
            "read(process, 'hold the interpreter')\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            child = int(worker.stdout.readline())
            assert is_alive(child)
            worker.kill()
        assert soon_gone(child)
