"""What can be quoted from a passage on its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.excerpting import Excerpt, excerpts, plain


def texts(passage: str) -> list[str]:
    return [each.text for each in excerpts(passage)]


def test_a_wrapped_paragraph_is_cut_into_its_sentences() -> None:
    assert texts("The limit is\n60 EUR. It covers\nall meals.\n\nTips are extra.") == [
        "The limit is 60 EUR.",
        "It covers all meals.",
        "Tips are extra.",
    ]


def test_headings_and_rules_are_not_quoted() -> None:
    assert texts("# Expenses\n\n## Meals\n\nSixty EUR.\n\n---\n\nTitle\n=====\n") == ["Sixty EUR.", "Title"]


def test_a_row_is_quoted_with_the_names_of_its_columns() -> None:
    table = "| What | Rate |\n|---|---:|\n| Private car | 0.38 EUR per kilometre |\n| Bicycle | |\n"
    assert texts(table) == ["What: Private car; Rate: 0.38 EUR per kilometre.", "What: Bicycle."]


def test_a_row_whose_head_is_in_another_passage_is_quoted_by_its_cells() -> None:
    assert texts("| Private car | 0.38 EUR |\n| Bicycle | 0.10 EUR |") == [
        "Private car; 0.38 EUR.",
        "Bicycle; 0.10 EUR.",
    ]


def test_a_cell_may_hold_an_escaped_border_and_end_in_a_full_stop() -> None:
    assert texts("| Key | Use |\n|---|---|\n| a \\| b | Press it. |") == ["Key: a | b; Use: Press it."]


def test_list_items_carry_the_sentence_that_announces_them() -> None:
    passage = "Some things cost you. Not paid:\n\n- fines\n- gifts between\n  colleagues\n\nThe end."
    assert excerpts(passage) == [
        Excerpt("Some things cost you."),
        Excerpt("fines", lead_in="Not paid:"),
        Excerpt("gifts between colleagues", lead_in="Not paid:"),
        Excerpt("The end."),
    ]


def test_numbered_items_are_cut_into_sentences_too() -> None:
    assert texts("1. Open a claim. Name it.\n2) Send it.") == ["Open a claim.", "Name it.", "Send it."]


def test_code_is_quoted_line_by_line_in_backticks() -> None:
    passage = "Run:\n\n```sh\nostctl drain `node`\n\nostctl stop\n```\n\nDone."
    assert excerpts(passage) == [
        Excerpt("`ostctl drain node`", lead_in="Run:"),
        Excerpt("`ostctl stop`", lead_in="Run:"),
        Excerpt("Done."),
    ]


def test_a_fence_without_an_end_is_code_to_the_end() -> None:
    assert texts("~~~\na[1]\n| b |") == ["`a[1]`", "`| b |`"]


def test_lines_of_a_script_without_spaces_are_joined_without_one() -> None:
    assert texts("访客须由接待人提前\n一天登记。谢谢。") == ["访客须由接待人提前一天登记。", "谢谢。"]


def test_html_is_quoted_without_its_tags() -> None:
    assert texts("<h2>Leave &amp; rest</h2><p>You have <b>25 days</b>.</p><ul><li>More</li></ul>") == [
        "Leave & rest",
        "You have 25 days.",
        "More",
    ]


@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        ("**60 EUR** a *day*", "60 EUR a day"),
        ("[the page](https://example.com/x) and ![alt](y.png)", "the page and alt"),
        ("snake_case_name and _emphasis_", "snake_case_name and emphasis"),
        (r"1\. not a list \*here\*", "1. not a list *here*"),
        ("use `argv[1]` here", "use `argv[1]` here"),
        ("a stray ` backtick", "a stray backtick"),
        ("~~~ no fence", "no fence"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_inline_marks_go_and_text_stays(marked: str, bare: str) -> None:
    assert plain(marked) == bare


def test_code_that_a_sentence_end_parts_opens_none_in_either_sentence() -> None:
    assert excerpts("Type `stop now. Then` wait for the `ok:\n- done") == [
        Excerpt("Type stop now."),
        Excerpt("done", lead_in="Then wait for the ok:"),
    ]
    assert texts("Type `ls` now. Then wait.") == ["Type `ls` now.", "Then wait."]


def test_nothing_to_quote_gives_nothing() -> None:
    assert excerpts("") == []
    assert excerpts("\n\n# Heading\n\n---\n* * *\n") == []


PIECES = st.lists(
    st.sampled_from(["# ", "- ", "1. ", "| a | b |", "|---|---|", "```", "~~~", "\n", "\n\n", "`", "**", "word ", ". "])
    | st.sampled_from(["<p>", "&amp;", ":", "。", "[x](y)", "|", "  "])
    | st.text(max_size=4),
    max_size=20,
).map("".join)


@given(PIECES)
def test_every_excerpt_is_one_line_with_something_to_read_and_no_open_code(passage: str) -> None:
    for excerpt in excerpts(passage):
        assert any(map(str.isalnum, excerpt.text))
        assert "\n" not in excerpt.text + excerpt.lead_in
        assert excerpt.text.count("`") % 2 == excerpt.lead_in.count("`") % 2 == 0
        assert "~~~" not in excerpt.text or excerpt.text.startswith("`")
