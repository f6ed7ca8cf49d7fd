from __future__ import annotations

from email.header import decode_header
from pathlib import Path

from infra.local.handbook import pages


def test_pages_carry_the_metadata_that_is_given_for_them(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"b.md": {"title": "Größe 中文", "groups": "hr"}}', encoding="utf-8")
    (tmp_path / "a.txt").write_bytes(b"one")
    (tmp_path / "b.md").write_bytes(b"two")

    first, second = pages(tmp_path)

    assert (first.key, first.content, first.metadata) == ("handbook/a.txt", b"one", {})
    assert first.etag == '"f97c5d29941bfb1b2fdab0874906ab82"'  # md5 of "one"
    assert second.metadata["groups"] == "hr"
    ((title, charset),) = decode_header(second.metadata["title"])
    assert isinstance(title, bytes)
    assert title.decode(charset or "") == "Größe 中文"


def test_every_page_of_the_handbook_can_be_uploaded() -> None:
    found = list(pages())

    assert len(found) >= 25
    assert len({page.key for page in found}) == len(found)
    assert all(value.isascii() for page in found for value in page.metadata.values())
