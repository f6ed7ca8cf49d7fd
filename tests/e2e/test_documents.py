"""What happens to a document in the bucket: a person can see each step of it."""

from __future__ import annotations

from email.header import Header

import pytest

from tests.e2e.conftest import LocalCloud

pytestmark = pytest.mark.usefixtures("keyless")

PARAGRAPHS = [
    f"The {name} room on floor {number} seats {10 * number} people. It has a {name} door and can be booked by "
    f"everybody, at the desk or by phone, up to {number} weeks ahead."
    for number, name in enumerate(("amber", "blue", "crimson", "green", "ivory"), start=2)
]
ROOMS = "# Meeting rooms\n\n" + "\n\n".join(
    f"## Room {number}\n\n{paragraph}" for number, paragraph in enumerate(PARAGRAPHS, start=1)
)


def test_a_new_document_is_indexed_and_can_be_asked_about(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/rooms.md", ROOMS)
    document = cloud.settled("e2e/rooms.md", version=version)

    assert (document["status"], document["result"], document["error"]) == ("READY", "INDEXED", None)
    assert document["chunks"] == document["embedded"] >= 1
    answer = cloud.api.ask("How many people does the crimson meeting room seat?")
    assert "40" in answer["answer"]
    assert answer["citations"][0]["source"] == "e2e/rooms.md"
    cited = answer["citations"][0]
    assert PARAGRAPHS[2] in cited["text"] or "crimson" in cited["text"]
    assert ROOMS[cited["start"] : cited["end"]].strip() == cited["text"].strip()


def test_the_same_file_again_is_unchanged_and_nothing_is_embedded(cloud: LocalCloud) -> None:
    cloud.settled("e2e/again.md", version=cloud.upload("e2e/again.md", ROOMS))

    document = cloud.settled("e2e/again.md", version=cloud.upload("e2e/again.md", ROOMS))

    assert (document["status"], document["result"], document["embedded"]) == ("READY", "UNCHANGED", 0)


def test_an_edited_paragraph_is_embedded_and_nothing_else(cloud: LocalCloud) -> None:
    cloud.settled("e2e/edited.md", version=cloud.upload("e2e/edited.md", ROOMS))

    edited = ROOMS.replace("seats 50 people", "seats 55 people")
    document = cloud.settled("e2e/edited.md", version=cloud.upload("e2e/edited.md", edited))

    assert (document["status"], document["result"]) == ("READY", "UPDATED")
    assert 1 <= document["embedded"] <= 2


def test_other_metadata_alone_is_a_change_that_embeds_nothing(cloud: LocalCloud) -> None:
    text = ROOMS.replace("room", "hall")
    cloud.settled("e2e/moved.md", version=cloud.upload("e2e/moved.md", text, collection="before"))

    version = cloud.upload("e2e/moved.md", text, collection="after")
    document = cloud.settled("e2e/moved.md", version=version)

    assert (document["result"], document["embedded"]) == ("UPDATED", 0)
    question = {"question": "How many people does the crimson meeting hall seat?", "sources": ["e2e/moved.md"]}
    found = cloud.post("/ask", {**question, "collections": ["after"]}).json()
    assert [citation["source"] for citation in found["citations"]][:1] == ["e2e/moved.md"]
    assert cloud.post("/ask", {**question, "collections": ["before"]}).json()["citations"] == []


def test_a_title_that_is_not_ascii_arrives(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/titled.md", ROOMS, title=Header("Größe 会议室", "utf-8").encode())

    assert cloud.settled("e2e/titled.md", version=version)["title"] == "Größe 会议室"


@pytest.mark.parametrize("key", ["e2e/ü b+c (1)%25.md", "e2e/会议室.md"], ids=["signs", "chinese"])
def test_a_key_with_any_characters_is_found_under_its_name(cloud: LocalCloud, key: str) -> None:
    document = cloud.settled(key, version=cloud.upload(key, f"# {key}\n\nThis file has a remarkable name."))

    assert (document["source"], document["status"]) == (key, "READY")


def test_a_deleted_document_leaves_the_answers(cloud: LocalCloud) -> None:
    secret = "# Launch\n\nThe code word of the launch of the heron satellite is tangerine."
    question = "What is the code word of the launch of the heron satellite?"
    cloud.settled("e2e/launch.md", version=cloud.upload("e2e/launch.md", secret))
    assert "tangerine" in cloud.api.ask(question)["answer"]

    cloud.aws.s3.delete_object(Bucket=cloud.stack.bucket, Key="e2e/launch.md")
    cloud.eventually(lambda: cloud.api.document("e2e/launch.md") is None, "the document is gone")

    assert "tangerine" not in cloud.api.ask(question)["answer"]


def test_what_cannot_be_read_is_failed_with_a_code(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/picture.md", b"\x89PNG\r\n\x1a\n" + bytes(64))
    document = cloud.settled("e2e/picture.md", version=version)

    assert (document["status"], document["chunks"]) == ("FAILED", 0)
    assert document["error"]["code"] == "unsupported_type"


def test_a_document_for_some_groups_is_shown_to_nobody_yet(cloud: LocalCloud) -> None:
    text = "# Bonus\n\nThe bonus of the pelican team is 4711 euros."
    cloud.upload("e2e/bonus.md", text, groups="hr")
    # Messages of one queue may overtake each other: what comes last must be seen, and what came first be done.
    cloud.settled("e2e/after.md", version=cloud.upload("e2e/after.md", "# After\n\nThis came after the bonus."))
    cloud.eventually(lambda: cloud.is_idle(), "ingest is idle")

    assert cloud.api.document("e2e/bonus.md") is None
    assert "4711" not in cloud.api.ask("What is the bonus of the pelican team?")["answer"]


def test_every_passage_that_was_read_out_can_be_looked_at(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/shown.md", ROOMS)
    document = cloud.settled("e2e/shown.md", version=version)

    page = cloud.get("/documents/e2e/shown.md/chunks").json()

    assert page["source"] == "e2e/shown.md"
    assert len(page["chunks"]) == document["chunks"]
    assert all(paragraph in "\n".join(chunk["text"] for chunk in page["chunks"]) for paragraph in PARAGRAPHS)
