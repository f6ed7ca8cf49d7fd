"""What the hashes tell apart, and what they don't."""

from __future__ import annotations

import uuid

import pytest

from citewell.core.hashing import chunk_id, content_hash, pipeline_version, reuse_key
from citewell.core.values import DocumentKey, Metadata, TextKind

KEY = DocumentKey("acme", "handbook/leave.md")


@pytest.mark.parametrize(
    "other",
    [
        ("text!", "title", Metadata(), "p"),
        ("text", "title!", Metadata(), "p"),
        ("text", "title", Metadata(groups=("hr",)), "p"),
        ("text", "title", Metadata(collection="hr"), "p"),
        ("text", "title", Metadata(effective_date="2025-01-01"), "p"),
        ("text", "title", Metadata(series="leave"), "p"),
        ("text", "title", Metadata(language="de"), "p"),
        ("text", "title", Metadata(), "q"),
        ("texttitle", "", Metadata(), "p"),
    ],
)
def test_whatever_changes_answers_or_access_changes_the_content_hash(other: tuple[str, str, Metadata, str]) -> None:
    assert content_hash(*other) != content_hash("text", "title", Metadata(), "p")


@pytest.mark.parametrize(
    "other",
    [
        ("model-2", 384, TextKind.PASSAGE, "text"),
        ("model", 385, TextKind.PASSAGE, "text"),
        ("model", 384, TextKind.QUERY, "text"),
        ("model", 384, TextKind.PASSAGE, "text "),
        ('model",384', 384, TextKind.PASSAGE, "text"),
    ],
)
def test_a_vector_is_reused_only_for_the_same_string_embedded_the_same_way(
    other: tuple[str, int, TextKind, str],
) -> None:
    assert reuse_key(*other) != reuse_key("model", 384, TextKind.PASSAGE, "text")


def test_hashes_are_32_bytes_and_stay_the_same_across_releases() -> None:
    assert content_hash("ä", "t", Metadata(), "p").hex().startswith("8a92d5dbb19513a2")
    assert reuse_key("m", 3, TextKind.PASSAGE, "ä").hex().startswith("15980f85d3d4f845")
    assert len(reuse_key("m", 3, TextKind.PASSAGE, "ä")) == len(content_hash("", "", Metadata(), "")) == 32


def test_a_chunk_id_is_a_uuid_that_stays_the_same_across_releases() -> None:
    name = chunk_id(KEY, ("Leave", "Sick"), 0, 1)
    assert str(uuid.UUID(name)) == name
    assert name == "70b06c8c-6555-54cd-b108-256beee871a8"


def test_chunk_ids_differ_by_everything_that_names_a_chunk() -> None:
    ids = {
        chunk_id(KEY, ("A", "B"), 0, 0),
        chunk_id(KEY, ("A > B",), 0, 0),
        chunk_id(KEY, ("B", "A"), 0, 0),
        chunk_id(KEY, ("A", "B"), 1, 0),
        chunk_id(KEY, ("A", "B"), 0, 1),
        chunk_id(DocumentKey("acme", "handbook/leave2.md"), ("A", "B"), 0, 0),
        chunk_id(DocumentKey("acme/handbook", "leave.md"), ("A", "B"), 0, 0),
    }
    assert len(ids) == 7


def test_any_string_can_be_hashed() -> None:
    assert reuse_key("m", 1, TextKind.QUERY, "\ud800") != reuse_key("m", 1, TextKind.QUERY, "\\ud800")


def test_the_pipeline_names_every_stage() -> None:
    version = pipeline_version(
        extractor="1", chunker="2", header="3", keywords="4", generation="5", max_tokens=450, overlap_tokens=40
    )
    assert version == "e1.c2.h3.k4.g5.450-40"
