"""What the hashes tell apart, and what they don't."""

from __future__ import annotations

import uuid

import pytest

from citewell.core.hashing import chunk_id, content_hash, pipeline_version, reuse_key
from citewell.core.values import Block, BlockKind, DocumentKey, ExtractedText, Metadata, TextKind

KEY = DocumentKey("acme", "handbook/leave.md")


def read(text: str, *, heading: str = "Leave", page: int = 1, unread: tuple[int, ...] = ()) -> ExtractedText:
    blocks = (Block(BlockKind.PARAGRAPH, 0, len(text), (heading,), page),)
    return ExtractedText(text, blocks, pages=2, unread_pages=unread)


@pytest.mark.parametrize(
    "other",
    [
        (read("text!"), "title", Metadata(), "p"),
        (read("text", heading="Sick"), "title", Metadata(), "p"),
        (read("text", page=2), "title", Metadata(), "p"),
        (read("text", unread=(2,)), "title", Metadata(), "p"),
        (read("text"), "title!", Metadata(), "p"),
        (read("text"), "title", Metadata(groups=("hr",)), "p"),
        (read("text"), "title", Metadata(collection="hr"), "p"),
        (read("text"), "title", Metadata(effective_date="2025-01-01"), "p"),
        (read("text"), "title", Metadata(series="leave"), "p"),
        (read("text"), "title", Metadata(language="de"), "p"),
        (read("text"), "title", Metadata(), "q"),
        (read("texttitle"), "", Metadata(), "p"),
    ],
)
def test_whatever_changes_answers_citations_or_access_changes_the_content_hash(
    other: tuple[ExtractedText, str, Metadata, str],
) -> None:
    assert content_hash(*other) != content_hash(read("text"), "title", Metadata(), "p")


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
    assert content_hash(read("ä"), "t", Metadata(), "p").hex().startswith("f9f3aae3e2de829c")
    assert reuse_key("m", 3, TextKind.PASSAGE, "ä").hex().startswith("15980f85d3d4f845")
    assert len(reuse_key("m", 3, TextKind.PASSAGE, "ä")) == len(content_hash(read(""), "", Metadata(), "")) == 32


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
