"""Only citations that lead to a source that was sent survive, and each survives as one form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citewell.core.citing import check_answer, check_citations, cited_numbers, without_marks
from citewell.core.prompting import SENTINEL
from citewell.core.refusing import REFUSAL
from citewell.core.values import Answer, Generation, StopReason, Usage
from tests.passages import a_passage

PASSAGES = [a_passage("Sixty EUR."), a_passage("Second class."), a_passage("Ten days.")]


def reply(text: str, stop_reason: StopReason = StopReason.END) -> Generation:
    return Generation(text=text, stop_reason=stop_reason, usage=Usage(100, 20), model="claude-haiku-4-5")


def check(text: str, stop_reason: StopReason = StopReason.END) -> Answer:
    return check_answer(reply(text, stop_reason), PASSAGES)


@pytest.mark.parametrize(
    ("written", "normalised", "cited"),
    [
        ("60 EUR [1].", "60 EUR [1].", (1,)),
        ("60 EUR [1, 2].", "60 EUR [1][2].", (1, 2)),
        ("60 EUR [1; 3].", "60 EUR [1][3].", (1, 3)),
        ("60 EUR [1 and 2].", "60 EUR [1][2].", (1, 2)),
        ("60 EUR [1][2].", "60 EUR [1][2].", (1, 2)),
        ("60 EUR [1], [2].", "60 EUR [1][2].", (1, 2)),
        ("60 EUR [1-3].", "60 EUR [1][2][3].", (1, 2, 3)),
        ("60 EUR [1–3].", "60 EUR [1][2][3].", (1, 2, 3)),
        ("60 EUR [3-1].", "60 EUR [1][2][3].", (1, 2, 3)),
        ("60 EUR [ 2 ].", "60 EUR [2].", (2,)),
        ("60 EUR[1].", "60 EUR[1].", (1,)),
        ("60 EUR [^1].", "60 EUR [1].", (1,)),
        ("60 EUR [Source 1, source 2].", "60 EUR [1][2].", (1, 2)),
        ("60 EUR [01].", "60 EUR [1].", (1,)),
        ("60 EUR ([1]).", "60 EUR ([1]).", (1,)),
        ("60 欧元【1】。", "60 欧元[1]。", (1,)),
        ("60 欧元【1、2】。", "60 欧元[1][2]。", (1, 2)),
        ("60 欧元［２］。", "60 欧元[2]。", (2,)),
        ("60 EUR 【1†expenses.md 3】.", "60 EUR [1].", (1,)),
        ("60 EUR [2][1][2].", "60 EUR [2][1].", (1, 2)),
        ("First [2]. Then [1]. Again [2].", "First [2]. Then [1]. Again [2].", (1, 2)),
    ],
)
def test_every_way_to_cite_becomes_the_same_mark(written: str, normalised: str, cited: tuple[int, ...]) -> None:
    checked = check_citations(written, sources=3)
    assert (checked.text, checked.cited, checked.invented) == (normalised, cited, 0)


@pytest.mark.parametrize(
    ("written", "left", "invented"),
    [
        ("60 EUR [9].", "60 EUR.", 1),
        ("60 EUR [9] a day.", "60 EUR a day.", 1),
        ("60 EUR [0].", "60 EUR.", 1),
        ("60 EUR [1, 9].", "60 EUR [1].", 1),
        ("60 EUR [1], [9], [2].", "60 EUR [1][2].", 1),
        ("60 EUR [2-9].", "60 EUR [2][3].", 1),
        ("60 EUR [7-9].", "60 EUR.", 2),
        ("60 EUR ([9]).", "60 EUR.", 1),
        ("[9] 60 EUR.", "60 EUR.", 1),
        ("- [9] 60 EUR.", "- 60 EUR.", 1),
        ("The fees [2024] rose.", "The fees rose.", 1),
        ("60 EUR [1-9999999999].", "60 EUR [1].", 1),
        (f"60 EUR [{'9' * 5000}].", "60 EUR.", 1),
        ("5[9]0 EUR", "5 0 EUR", 1),
        ("die Regel[9] „Reise“", "die Regel „Reise“", 1),
        ("a[9](b)", "a (b)", 1),
        ("[[9]1] EUR", "[1] EUR", 1),
        ("[1[9]] EUR", "[1] EUR", 1),
    ],
)
def test_a_number_without_a_source_is_removed_and_counted(written: str, left: str, invented: int) -> None:
    checked = check_citations(written, sources=3)
    assert (checked.text, checked.invented) == (left, invented)


@pytest.mark.parametrize(
    "text",
    [
        "See [the travel page](https://example.com/travel).",
        "See [1.5](https://example.com/a[1]b).",
        "In force since [2024-05-01].",
        "He wrote [sic] and [...].",
        "Use `argv[1]` here.",
        "Use ``argv[7] ` x`` here.",
        "```python\nprint(argv[8])\n```",
        "~~~\nargv[8]\n~~~",
        "```\nargv[8] and no end",
        "An empty [] and an open [1",
    ],
)
def test_links_dates_and_code_are_no_citations(text: str) -> None:
    checked = check_citations(text, sources=3)
    assert (checked.text, checked.cited, checked.invented) == (text, (), 0)


def test_a_mark_that_is_a_link_loses_its_address() -> None:
    assert check_citations("60 EUR [1](https://evil.example/x).", sources=3).text == "60 EUR [1]."
    assert check_citations("60 EUR [9](/x) a day.", sources=3).text == "60 EUR a day."


def test_a_mark_never_becomes_a_link_with_the_parenthesis_that_follows() -> None:
    assert check_citations("The limit [1](60) holds.", sources=3).text == "The limit [1] (60) holds."


def test_a_mark_never_becomes_a_link_with_the_bracket_that_follows() -> None:
    checked = check_citations("60 EUR [1][x] a day [2].\n\n[x]: https://evil.example", sources=3)
    assert checked.text == "60 EUR [1] [x] a day [2].\n\n[x]: https://evil.example"


@pytest.mark.parametrize(
    "definition",
    [
        "[1]: https://evil.example",
        "  [1]:https://evil.example",
        "[^1]: https://evil.example",
        "[1]:\nhttps://evil.example",
        "> [1]: https://evil.example 'The policy'",
        "- 2. [1]: https://evil.example",
        "[2][1]: https://evil.example",
    ],
)
def test_no_line_of_an_answer_gives_its_marks_an_address(definition: str) -> None:
    checked = check_citations(f"The limit is 60 EUR [1].\n\n{definition}", sources=3)
    assert 1 in checked.cited
    assert "href" not in MarkdownIt("commonmark").render(checked.text)


def test_a_colon_inside_a_sentence_stays_at_its_mark() -> None:
    assert check_citations("As it says in [1]: 60 EUR.", sources=3).text == "As it says in [1]: 60 EUR."


def test_one_stray_backtick_does_not_hide_the_marks_of_a_later_paragraph() -> None:
    assert check_citations("It is 5` long [1].\n\nAnd 6` wide [2].", sources=3).cited == (1, 2)


def test_an_answer_lists_its_citations_once_each_in_order() -> None:
    answer = check("Second class [2]. Sixty EUR [1]. Again [2].")
    assert [(each.n, each.passage.text) for each in answer.citations] == [(1, "Sixty EUR."), (2, "Second class.")]
    assert (answer.reason, answer.invented, answer.model, answer.usage) == (None, 0, "claude-haiku-4-5", Usage(100, 20))


def test_invented_numbers_are_counted_in_an_answer_that_also_cites_a_source() -> None:
    answer = check("Sixty EUR [1][8]. Ten days [9].")
    assert (answer.text, answer.invented, answer.reason) == ("Sixty EUR [1]. Ten days.", 2, None)


@pytest.mark.parametrize("text", ["Sixty EUR.", "Sixty EUR [4].", "```\nx[1]\n```"])
def test_an_answer_that_cites_nothing_valid_is_refused(text: str) -> None:
    answer = check(text)
    assert (answer.text, answer.citations, answer.reason) == (REFUSAL, (), "the answer cited no source")
    assert answer.usage == Usage(100, 20)


def test_a_refused_answer_still_counts_what_it_invented() -> None:
    assert check("Sixty EUR [4][5].").invented == 2


@pytest.mark.parametrize(
    "text",
    [
        SENTINEL,
        f"{SENTINEL}.",
        f"**{SENTINEL}**",
        f'"{SENTINEL}"',
        "NOT\\_IN\\_SOURCES",
        f"{SENTINEL}\n\nPlease ask people@example.com.",
        f"I could not find that. {SENTINEL}",
        f"{SENTINEL}. The sources only speak of meals [1] and trains [2].",
    ],
)
def test_the_models_own_verdict_is_a_refusal_of_its_own_kind(text: str) -> None:
    answer = check(text)
    assert (answer.text, answer.citations) == (REFUSAL, ())
    assert answer.reason == "the sources do not contain the answer"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "The limit is 60 EUR [1]. The sources don't say what a visa costs.",
            "The limit is 60 EUR [1]. The sources don't say what a visa costs.",
        ),
        (
            f"The limit is 60 EUR [1]. {SENTINEL}: what a visa costs.",
            "The limit is 60 EUR [1]. The rest is not in the available documents: what a visa costs.",
        ),
        (
            f"The limit is 60 EUR [1]. The price of a visa is {SENTINEL}.",
            "The limit is 60 EUR [1]. The price of a visa is not in the available documents.",
        ),
    ],
)
def test_an_answer_to_a_part_of_the_question_is_an_answer(text: str, shown: str) -> None:
    answer = check(text)
    assert (answer.text, answer.reason) == (shown, None)
    assert [each.n for each in answer.citations] == [1]


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_reply_is_refused_as_such(text: str) -> None:
    assert check(text).reason == "the model gave an empty reply"


def test_a_reply_that_the_model_declined_is_refused_whatever_it_says() -> None:
    assert check("I can't help with that [1].", StopReason.REFUSAL).reason == "the model declined to answer"


def test_an_unknown_stop_reason_is_judged_by_the_text() -> None:
    assert check("Sixty EUR [1].", StopReason.OTHER).text == "Sixty EUR [1]."


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        ("Sixty EUR [1]. Second class [2]. Ten da", "Sixty EUR [1]. Second class [2]. …"),
        ("Sixty EUR [1]. It is simple. Ten da", "Sixty EUR [1]. …"),
        ("Sixty EUR. [1] Second cl", "Sixty EUR. [1] …"),
        ("Sixty EUR [1]. Second class [2", "Sixty EUR [1]. …"),
        ("Sixty EUR [1]. It costs 3.", "Sixty EUR [1]. …"),
        ("Sixty EUR [1]. Second class [2].", "Sixty EUR [1]. Second class [2]. …"),
        ("- Sixty EUR [1]\n- Second class [2]\n- Ten", "- Sixty EUR [1]\n- Second class [2] …"),
        ("六十欧元[1]。二等座[2]。十", "六十欧元[1]。二等座[2]。 …"),
        ("Sixty EUR [1].\n```\nrun a\nrun [2", "Sixty EUR [1]. …"),
    ],
)
def test_an_answer_cut_by_the_output_limit_ends_with_its_last_complete_cited_sentence(cut: str, kept: str) -> None:
    answer = check(cut, StopReason.MAX_TOKENS)
    assert (answer.text, answer.reason) == (kept, None)
    assert [each.n for each in answer.citations] == sorted(set(cited_numbers(kept)))


def test_a_cut_answer_without_a_complete_cited_sentence_is_refused() -> None:
    assert check("Sixty EUR by [1] and then per", StopReason.MAX_TOKENS).reason == (
        "the answer was cut off before it cited a source"
    )


def test_a_cut_answer_without_any_citation_is_refused() -> None:
    assert (
        check("Let me think about", StopReason.MAX_TOKENS).reason == "the answer was cut off before it cited a source"
    )


def test_what_is_quoted_keeps_its_references_without_looking_like_ours() -> None:
    assert without_marks("As shown in [3] and [1, 2]; see `a[1]`.") == "As shown in (3) and (1, 2); see `a[1]`."


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "[1]",
            "[2]",
            "[9]",
            "[",
            "]",
            "1",
            "9",
            ",",
            "-",
            " ",
            "\n",
            "\n\n",
            "`",
            "```",
            "~~~",
            "(",
            ")",
            "(/x)",
            ".",
            ":",
        ]
    )
    | st.sampled_from(
        ["[1-3]", "[0]", "【1】", "［", "】", "^", "Source ", "word", "。", SENTINEL, "[a](b)", "†", "\\"]
    )
    | st.text(max_size=3),
    max_size=25,
).map("".join)


@settings(max_examples=400)
@given(FRAGMENTS, st.integers(0, 4))
def test_no_number_survives_without_a_source_and_checking_again_changes_nothing(text: str, sources: int) -> None:
    checked = check_citations(text, sources=sources)
    assert set(cited_numbers(checked.text)) == set(checked.cited) <= set(range(1, sources + 1))
    again = check_citations(checked.text, sources=sources)
    assert (again.text, again.cited, again.invented) == (checked.text, checked.cited, 0)


@settings(max_examples=400)
@given(FRAGMENTS, st.sampled_from(StopReason))
def test_marks_in_the_text_and_citations_beside_it_are_always_the_same_numbers(text: str, stop: StopReason) -> None:
    answer = check(text, stop)
    assert [each.n for each in answer.citations] == sorted(set(cited_numbers(answer.text)))
    assert all(each.passage is PASSAGES[each.n - 1] for each in answer.citations)
    assert bool(answer.citations) == (answer.reason is None)
    assert (answer.text == REFUSAL) == (answer.reason is not None)
    assert SENTINEL not in answer.text


@given(st.text(alphabet="abc [].,`()", max_size=60))
def test_text_outside_of_marks_is_kept(text: str) -> None:
    words = re.findall(r"[abc]+", text)
    assert re.findall(r"[abc]+", check_citations(text, sources=3).text) == words
