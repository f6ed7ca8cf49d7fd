"""Documents of every kind, damaged at random: each is read, or refused with a documented code.

    make fuzz      many more examples, other ones each time

They are read where ingest reads them, so that neither a hang nor a death of a parser ends the test.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.core.values import ExtractedText
from citewell.edges.extractor_process import ExtractorProcess
from citewell.errors import DocumentRejected
from citewell.extract.formats import Format
from citewell.extract.options import Limits
from citewell.settings import child_environment
from tests.documents.archives import zipped
from tests.documents.samples import SAMPLES

README = Path(__file__).parents[2] / "README.md"
SECONDS, MEMORY_MB = 20.0, 512
LIMITS = Limits(pages=100, characters=1_000_000, unpacked_bytes=20_000_000)
MOST_EDITS = 6
LENGTHS = (1, 1, 1, 1, 0.1, 0.5, 0.9, 0.99)
"""Shares of the damaged document that are left of it."""

TOKENS = (
    b"\0", b"\xff\xff\xff\xff", b"<", b"]]>", b"&#0;", b"&lt;", b"<!ENTITY a 'b'>", b"99999999999999999999", b"-1",
    b"1e999", b"NaN", b"\xed\xa0\x80", b"\xe2\x80\xae", b"{", b"[" * 2000, b"<b>" * 2000, b"\\'", b"\\u-1?", b'"',
    b"\r\n\r\n", b"obj", b"endobj", b"stream", b"1048576", b"../../", b"\xef\xbb\xbf", b"A1:XFD1048576",
    b'rowspan="99999"', b"%PDF-1.7",
)  # fmt: skip

EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),  # where, as a share of the whole
        st.integers(0, 200),  # how many bytes go
        st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8), st.integers(0, 500)),  # what comes: a number repeats
    ),
    min_size=1,
    max_size=MOST_EDITS,
)


@pytest.fixture(scope="module")
def process() -> Iterator[ExtractorProcess]:
    process = ExtractorProcess(limits=LIMITS, seconds=SECONDS, memory_mb=MEMORY_MB, environment=child_environment())
    yield process
    process.close()


def edited(data: bytes, edits: list[tuple[float, int, bytes | int]]) -> bytes:
    for share, gone, new in edits:
        at = int(share * len(data))
        repeated = data[at : at + new] * 2 if isinstance(new, int) else new
        data = data[:at] + repeated + data[at + gone :]
    return data


def edited_part(package: bytes, part: int, edits: list[tuple[float, int, bytes | int]]) -> bytes:
    """The package anew, one part of it edited: an edit of its bytes would mostly damage a checksum."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = list(parts)[part % len(parts)]
    return zipped({**parts, name: edited(parts[name], edits)})


@cache
def documented_codes() -> frozenset[str]:
    readme = README.read_text(encoding="utf-8")
    table = readme[readme.index("| Code | What to do |") : readme.index("### Ask")]
    return frozenset(re.findall(r"`(\w+)`", table))


def read(process: ExtractorProcess, data: bytes) -> ExtractedText | DocumentRejected:
    try:
        return process.extract(data, content_type=None, seconds=10 * SECONDS)
    except DocumentRejected as error:
        return error


def test_there_is_a_sample_of_every_kind() -> None:
    assert SAMPLES.keys() == set(Format)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sample_is_read_whole(process: ExtractorProcess, kind: Format) -> None:
    extracted = read(process, SAMPLES[kind])
    assert isinstance(extracted, ExtractedText)
    assert "Leave" in extracted.text or "leave" in extracted.text
    assert "30" in extracted.text or "thirty" in extracted.text


@pytest.mark.parametrize("kind", SAMPLES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(edits=EDITS, part=st.integers(0, 30), inside=st.booleans(), length=st.sampled_from(LENGTHS))
def test_a_damaged_document_is_read_or_refused_with_a_documented_code(
    process: ExtractorProcess,
    kind: Format,
    edits: list[tuple[float, int, bytes | int]],
    part: int,
    inside: bool,
    length: float,
) -> None:
    sample = SAMPLES[kind]
    packed = sample.startswith(b"PK") and inside
    data = edited_part(sample, part, edits) if packed else edited(sample, edits)
    if not packed:
        data = data[: int(length * len(data))]
    outcome = read(process, data)
    if isinstance(outcome, DocumentRejected):
        assert outcome.code in documented_codes()
        assert not str(outcome).startswith("the reader failed"), f"no parser's death, but a reader's fault: {outcome}"
    else:
        check_form(outcome)
        assert read(process, data) == outcome, "the same bytes give the same text"


def check_form(extracted: ExtractedText) -> None:
    """What every reader owes to those who split and store its text."""
    text, end = extracted.text, 0
    assert "\0" not in text
    text.encode("utf-8")
    assert unicodedata.is_normalized("NFC", text)
    for block in extracted.blocks:
        assert not text[end : block.start].strip(), "text outside of every block"
        assert end <= block.start < block.end <= len(text)
        end = block.end
    assert not text[end:].strip()
