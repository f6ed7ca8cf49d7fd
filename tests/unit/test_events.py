from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import DocumentKey
from citewell.errors import InvalidRequest
from citewell.events import Sweep, object_event, object_keys, sweep_message, sweep_of


def _message(*keys: str, bucket: str = "docs") -> str:
    return json.dumps({"Records": [{"s3": {"bucket": {"name": bucket}, "object": {"key": key}}} for key in keys]})


@pytest.mark.parametrize(
    ("encoded", "key"),
    [
        ("handbook/expenses.md", "handbook/expenses.md"),
        ("late+fees+%26+refunds.md", "late fees & refunds.md"),
        ("100%25+sure%2Bmaybe.md", "100% sure+maybe.md"),
        ("%E8%AF%B7%E5%81%87.md", "请假.md"),
    ],
)
def test_keys_arrive_url_encoded(encoded: str, key: str) -> None:
    assert object_keys(_message(encoded), bucket="docs") == [key]


def test_a_key_named_twice_is_looked_at_once_and_the_order_is_kept() -> None:
    assert object_keys(_message("b", "a", "b"), bucket="docs") == ["b", "a"]


def test_the_test_event_of_s3_asks_for_nothing() -> None:
    assert object_keys(json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"}), bucket="docs") == []


@pytest.mark.parametrize(
    "message",
    ["", "not json", "[" * 100_000, "[]", "null", "{}", '{"Records": 1}', '{"Records": [{}]}',
     '{"Records": [{"s3": {"bucket": {}}}]}', _message("%ff%fe"), _message("a", bucket="someone-elses")],
)  # fmt: skip
def test_anything_else_is_refused(message: str) -> None:
    with pytest.raises(InvalidRequest):
        object_keys(message, bucket="docs")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_what_reindex_enqueues_is_read_back(key: str) -> None:
    assert object_keys(object_event("docs", key), bucket="docs") == [key]


@given(st.text(), st.text(), st.text())
def test_a_sweep_is_read_back_as_it_was_asked_for(prefix: str, tenant: str, source: str) -> None:
    sweep = Sweep(prefix, after=DocumentKey(tenant, source))
    assert sweep_of(sweep_message(sweep)) == sweep


@pytest.mark.parametrize(
    "message",
    ["", "[", "null", "7", "[]", '"sweep"', "{}", '{"citewell": "check"}', '{"citewell": "sweep"}', "[" * 100_000,
     '{"citewell": "sweep", "prefix": null, "after": ["", ""]}', '{"citewell": "sweep", "prefix": "", "after": ""}',
     '{"citewell": "sweep", "prefix": "", "after": ["a"]}', '{"citewell": "sweep", "prefix": "", "after": [1, 2]}'],
)  # fmt: skip
def test_what_is_no_sweep_asks_for_none(message: str) -> None:
    assert sweep_of(message) is None
    assert sweep_of(object_event("docs", "a.md")) is None
