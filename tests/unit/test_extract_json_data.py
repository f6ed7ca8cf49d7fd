"""JSON and JSON Lines as lines and tables."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract, html_values
from citewell.extract.options import Limits, ReadOptions


def text_of(data: str) -> str:
    return extract(data.encode()).text


def test_nested_objects_are_lines_that_say_where_a_value_stands() -> None:
    assert text_of('{"leave": {"days": 25, "carry over": {"until": "31 March"}}, "remote": true, "cap": null}') == (
        "leave.days: 25\nleave.carry over.until: 31 March\nremote: true"
    )


def test_a_notebook_is_read_as_its_reader_sees_it() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Leave\n", "\n", "Days by year.\n", "\n", "## Data"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "source": "print('<b>25</b>')\n# done",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m<b>25</b>\x1b[0m\n"]},
                {
                    "output_type": "execute_result",
                    "data": {"text/html": "<table>", "text/plain": ["  days\n", "0   25"]},
                },
                {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
                {"output_type": "display_data", "data": {"text/markdown": "**Sum:** 25", "text/plain": "<Markdown>"}},
                {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["..."]},
            ],
        },
        {"cell_type": "heading", "level": 2, "source": "End"},
        {"cell_type": "raw", "source": "```"},
    ]
    metadata = {"kernelspec": {"language": "python"}}
    extracted = extract(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode())
    assert extracted.title == "Leave"
    assert [(extracted.text[block.start : block.end], block.headings[1:]) for block in extracted.blocks] == [
        ("# Leave", ()),
        ("Days by year.", ()),
        ("## Data", ("Data",)),
        ("```python\nprint('<b>25</b>')\n# done\n```", ("Data",)),
        ("```\n<b>25</b>\n```", ("Data",)),
        ("```\n  days\n0   25\n```", ("Data",)),
        ("**Sum:** 25", ("Data",)),
        ("```\nKeyError: 'x'\n```", ("Data",)),
        ("## End", ("End",)),
        ("```", ("End",)),
    ]


@pytest.mark.parametrize(
    ("notebook", "text"),
    [
        ({"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}]}, "```\nx = 1\n```"),
        ({"cells": [{"cell_type": "code", "source": "say('```')"}]}, "````\nsay('```')\n````"),
        ({"cells": [{"cell_type": "markdown", "source": True}, 7, {"cell_type": "markdown", "source": "Hi"}]}, "Hi"),
    ],
)
def test_notebooks_of_all_kinds(notebook: dict[str, object], text: str) -> None:
    assert text_of(json.dumps({**notebook, "nbformat": 3, "big": 10**30})) == text


@pytest.mark.parametrize("cells", [[], {}, None, [{"cell_type": "code", "source": [], "outputs": {"a": 1}}]])
def test_a_notebook_without_text_is_empty(cells: object) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        text_of(json.dumps({"cells": cells, "nbformat": 4}))
    assert rejected.value.code == "empty"


def test_parts_of_a_document_are_blocks_of_their_own() -> None:
    extracted = extract(b'{"leave": {"days": 25, "paid": true}, "travel": {"cap": 60, "unit": "EUR"}}')
    assert [extracted.text[block.start : block.end] for block in extracted.blocks] == [
        "leave.days: 25\nleave.paid: true",
        "travel.cap: 60\ntravel.unit: EUR",
    ]


def test_records_that_are_alike_are_a_table_under_their_path() -> None:
    data = {"sites": [{"city": "Bern", "size": {"desks": 12}}, {"city": "Oslo", "size": {"desks": 30}, "note": "new"}]}
    assert text_of(json.dumps(data)) == (
        "sites:\n\n| city | size.desks | note |\n| --- | --- | --- |\n| Bern | 12 |  |\n| Oslo | 30 | new |"
    )


def test_records_that_are_not_alike_are_lines() -> None:
    assert text_of('[{"a": 1, "b": 2}, {"c": 3, "d": 4}, {"e": 5, "f": 6}]') == (
        "[0].a: 1\n[0].b: 2\n\n[1].c: 3\n[1].d: 4\n\n[2].e: 5\n[2].f: 6"
    )


def test_rows_that_are_alike_are_a_table() -> None:
    assert text_of('[["city", "desks"], ["Bern", 12]]') == "| city | desks |\n| --- | --- |\n| Bern | 12 |"


def test_short_values_stand_on_one_line_and_long_ones_each_on_their_own() -> None:
    assert text_of('{"tags": ["leave", "sick", ""], "empty": [], "none": {}}') == "tags: leave, sick"
    long = "word " * 60 + "end"
    assert text_of(json.dumps({"notes": [long, long]})) == f"notes[0]: {long}\nnotes[1]: {long}"


def test_a_value_that_is_html_is_its_text() -> None:
    posts = [
        {"id": 1, "body": "<p>25 days &amp; more.</p><ul><li>full time</li></ul><script>x</script>"},
        {"id": 2, "body": "<p>If a &lt; b</p>"},
        {"id": 3, "body": "<p><br></p>"},
        {"id": 4, "body": "Use <b> for bold &amp; <i> for italics."},
    ]
    assert text_of(json.dumps(posts)).split("\n") == [
        "[0].id: 1", "[0].body: 25 days & more.", "- full time", "",
        "[1].id: 2", "[1].body: If a < b", "",
        "[2].id: 3", "",
        "[3].id: 4", "[3].body: Use <b> for bold &amp; <i> for italics.",
    ]  # fmt: skip


def test_very_many_values_that_are_html_are_read_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_values, "_MOST", 1)
    assert text_of('{"a": "<p>x</p>", "b": "<p>y</p>"}') == "a: x\nb: <p>y</p>"


def test_many_short_values_fill_lines() -> None:
    numbers = [f"{number:05}" for number in range(200)]
    lines = text_of(json.dumps({"vector": numbers})).split("\n")
    assert [len(line) <= len("vector: ") + 400 for line in lines] == [True] * 4
    assert ", ".join(line.removeprefix("vector: ") for line in lines) == ", ".join(numbers)


def test_a_text_that_is_given_by_its_lines_is_one() -> None:
    cell = {"cell_type": "code", "source": ["import x\n", "\n", "x.run()\n"]}
    assert text_of(json.dumps({"cells": [cell]})) == "cells[0].cell_type: code\ncells[0].source: import x\nx.run()"


def test_a_record_with_a_long_text_is_no_row() -> None:
    long = "word " * 100 + "end"
    assert text_of(json.dumps([{"id": 1, "text": long}, {"id": 2, "text": long}])).startswith(
        f"[0].id: 1\n[0].text: {long}"
    )


def test_a_key_that_stands_twice_keeps_both_values() -> None:
    assert text_of('{"cap": 60, "cap": 80}') == "cap: 60\ncap: 80"
    assert (
        text_of('[{"cap": 60, "cap": 80}, {"cap": 1, "cap": 2}]')
        == "[0].cap: 60\n[0].cap: 80\n\n[1].cap: 1\n[1].cap: 2"
    )


@pytest.mark.parametrize("number", ["31415926535" * 200, "-" + "9" * 2_000, "9" * 2_000 + ".5", "9" * 2_000 + "e7"])
def test_a_number_of_any_length_is_no_files_bytes(number: str) -> None:
    assert text_of(f'{{"prime": {number}}}') == f"prime: {number}"
    assert text_of(f'{{"prime": "{number}"}}') == f"prime: {number}"


def test_numbers_stay_as_they_are_written() -> None:
    digits = "12345678901234567890123456789.10"
    assert text_of(f'{{"iban": {digits}, "big": {"9" * 900}, "small": 1e-400}}').split("\n") == [
        f"iban: {digits}", f"big: {'9' * 900}", "small: 1e-400"
    ]  # fmt: skip


def test_lines_of_json_are_one_array() -> None:
    assert text_of('{"city": "Bern", "desks": 12}\n\n{"city": "Oslo", "desks": 30}\n') == (
        "| city | desks |\n| --- | --- |\n| Bern | 12 |\n| Oslo | 30 |"
    )


def test_the_title_is_the_documents_own() -> None:
    assert extract(b'{"title": "Leave policy", "days": 25}').title == "Leave policy"
    assert extract(b'{"title": {"en": "Leave"}, "days": 25}').title is None


@pytest.mark.parametrize(
    "text",
    [
        "[draft] Leave is 25 days.",
        "[1] Smith, J. (2020). Leave.\n[2] Roe, R. (2021). Travel.",
        '{"leave": 25, // comment\n}',
        '["leave": 25',
        '{"leave": 25} and more',
        '{"a": 1}\nno json here',
        "{% include leave %}",
        "[[wiki link]]",
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
def test_a_text_that_merely_begins_with_a_bracket_stays_text(text: str) -> None:
    assert text_of(text) == text


def test_deep_documents_have_bounded_paths() -> None:
    text = text_of('{"level":' * 400 + '"leave"' + "}" * 400)
    assert text.startswith("…")
    assert text.endswith(".level: leave")
    assert len(text) < 200


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert text_of('{"\\ud83d": "a\\ude00b"}') == "�: a�b"
    assert text_of('{"face": "\\ud83d\\ude00"}') == "face: 😀"


def test_a_files_bytes_in_letters_are_left_out() -> None:
    assert text_of(json.dumps({"name": "plan.png", "data": "iVBORw0KGgo" * 200})) == "name: plan.png"
    assert text_of(json.dumps({"name": "x", "src": "data:image/png;base64," + "iVBORw0KGgo" * 200})) == "name: x"
    prose = "Nothing but words and white space as any text has it " * 40
    assert text_of(json.dumps({"text": prose})) == f"text: {prose.strip()}"


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"a": []}', b'{"a": ""}'])
def test_json_that_says_nothing_is_empty(data: bytes) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data)
    assert rejected.value.code == "empty"


def test_more_text_than_the_limit_is_too_large() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(json.dumps({"a": ["word " * 100] * 100}).encode(), ReadOptions(limits=Limits(characters=1_000)))
    assert rejected.value.code == "too_large"


VALUES = st.recursive(
    st.integers()
    | st.booleans()
    | st.text(st.characters(codec="ascii", categories=("Ll", "Lu")), min_size=1, max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
)


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves(each)]
    return [json.dumps(value).strip('"')]


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, min_size=1))
def test_no_value_is_lost(document: dict[str, object]) -> None:
    if found := leaves(document):
        text = text_of(json.dumps(document))
        assert all(leaf in text for leaf in found)
        assert BlockKind.CODE not in {block.kind for block in extract(json.dumps(document).encode()).blocks}
