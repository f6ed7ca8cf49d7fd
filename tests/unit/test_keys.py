"""What a key and an object's metadata say of a document."""

from __future__ import annotations

from email.header import Header

import pytest

from citewell.core.keys import Tenancy, default_title, document_key, groups_of, metadata_of
from citewell.core.values import DocumentKey, Metadata
from citewell.errors import DocumentRejected


@pytest.mark.parametrize(
    ("key", "tenancy", "document"),
    [
        ("handbook/leave.md", Tenancy.SINGLE, DocumentKey("default", "handbook/leave.md")),
        ("acme/handbook/leave.md", Tenancy.PREFIX, DocumentKey("acme", "handbook/leave.md")),
        ("acme/handbook/", Tenancy.PREFIX, None),
        ("handbook/", Tenancy.SINGLE, None),
        ("/", Tenancy.SINGLE, None),
        ("", Tenancy.SINGLE, None),
        ("leave.md", Tenancy.PREFIX, None),
        ("/leave.md", Tenancy.PREFIX, None),
        ("a\0b", Tenancy.SINGLE, None),
        ("a\ud800b", Tenancy.SINGLE, None),
        ("//odd", Tenancy.SINGLE, DocumentKey("default", "//odd")),
        ("acme//odd", Tenancy.PREFIX, DocumentKey("acme", "/odd")),
    ],
)
def test_a_key_names_a_document_or_none(key: str, tenancy: Tenancy, document: DocumentKey | None) -> None:
    assert document_key(key, tenancy) == document


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("handbook/sick_leave-policy.md", "Sick leave policy"),
        ("README", "README"),
        ("a/.hidden", ".hidden"),
        ("v1.2 notes.txt", "V1.2 notes"),
        ("報告書.md", "報告書"),
        ("a/---.md", "a/---.md"),
    ],
)
def test_the_default_title_is_the_file_name_in_words(source: str, title: str) -> None:
    assert default_title(source) == title


def test_metadata_is_read_in_any_case_and_other_keys_are_ignored() -> None:
    assert metadata_of(
        {
            "Title": "  Sick   leave ",
            "COLLECTION": "hr",
            "groups": "managers, hr,, hr ,Board",
            "Effective-Date": "2025-01-31",
            "series": "leave",
            "language": "de-AT",
            "uploaded-by": "x" * 9_000,
        }
    ) == Metadata(
        title="Sick leave",
        collection="hr",
        groups=("Board", "hr", "managers"),
        effective_date="2025-01-31",
        series="leave",
        language="de-at",
    )


def test_metadata_may_come_as_pairs_and_may_be_missing_or_blank() -> None:
    assert metadata_of([("title", ""), ("groups", " "), ("effective-date", ""), ("language", "")]) == Metadata()
    assert metadata_of(()) == Metadata()


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_encoded_values_are_decoded(encoding: str) -> None:
    assert metadata_of({"title": Header("Größe & Gewicht", encoding).encode()}).title == "Größe & Gewicht"


def test_groups_are_decoded_before_they_are_split() -> None:
    encoded = Header("führung, einkauf", "utf-8").encode()
    assert metadata_of({"groups": encoded}).groups == ("einkauf", "führung")
    assert groups_of({"groups": encoded, "effective-date": "nonsense"}) == ("einkauf", "führung")


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"groups": ","}, id="groups without a name"),
        pytest.param({"groups": " , ,"}, id="groups of blanks"),
        pytest.param({"groups": "=?utf-8?q?=2C?="}, id="groups that decode to a comma"),
        pytest.param({"effective-date": "31.01.2025"}, id="another date format"),
        pytest.param({"effective-date": "2025-02-30"}, id="no such day"),
        pytest.param({"effective-date": "2025-01-31T00:00"}, id="a time"),
        pytest.param({"title": "x" * 501}, id="a long title"),
        pytest.param({"language": "German, I think"}, id="no language tag"),
        pytest.param({"title": "=?no-such-charset?q?a?="}, id="an unknown charset"),
        pytest.param({"title": "=?utf-8?b?/w==?="}, id="bytes that are no utf-8"),
        pytest.param({"title": "=?utf-7?q?+2AA-?="}, id="half a surrogate pair"),
        pytest.param({"collection": r"=?unicode_escape?q?=5Cud800?="}, id="half a surrogate pair, escaped"),
    ],
)
def test_a_value_that_cannot_be_meant_rejects_the_document(metadata: dict[str, str]) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        metadata_of(metadata)
    assert (rejected.value.code, rejected.value.stage) == ("bad_metadata", "metadata")


@pytest.mark.parametrize("nothing", ["=?utf-8?q??=", "=?utf-8?q?_?=", "=?utf-8?q?=00?=", "=?utf-8?q?=0D=0A=07?="])
def test_groups_that_encode_to_nothing_are_not_everyone(nothing: str) -> None:
    with pytest.raises(DocumentRejected):
        metadata_of({"groups": nothing})
