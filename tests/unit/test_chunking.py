"""The chunker's rules, and the properties that hold for any text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.boundaries import splits_character
from citewell.core.chunking import TokenStarts, split_chunks
from citewell.core.tokens import estimate_token_starts
from citewell.core.values import BlockKind, Chunk, ExtractedText
from citewell.errors import ConfigurationError
from citewell.extract.building import TextBuilder
from citewell.extract.markdown import read_markdown
from citewell.extract.options import Limits


def words(text: str) -> list[int]:
    """A tokenizer for tests: a token a word, long words a token each eight letters."""
    return [match.start() for match in re.finditer(r"\S{1,8}", text)]


def chunked(text: str, *, title: str | None = None, max_tokens: int = 40, overlap_tokens: int = 0) -> list[Chunk]:
    return split_chunks(
        read_markdown(text), title=title, max_tokens=max_tokens, overlap_tokens=overlap_tokens, token_starts=words
    )


def sentence(number: int, length: int = 8) -> str:
    return " ".join([f"S{number}"] + ["word"] * (length - 2) + ["end."])


def paragraphs(count: int, sentences: int = 1) -> list[str]:
    return [" ".join(sentence(10 * number + each) for each in range(sentences)) for number in range(count)]


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


# --- sections ---


def test_each_heading_begins_a_section_and_a_section_that_fits_stays_whole() -> None:
    chunks = chunked("intro\n\n# A\n\none\n\ntwo\n\n## B\n\nthree\n\n# C\n\nfour\n")
    assert texts(chunks) == ["intro", "# A\n\none\n\ntwo", "## B\n\nthree", "# C\n\nfour"]
    assert [chunk.section for chunk in chunks] == [(), ("A",), ("A", "B"), ("C",)]
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2, 3]


def test_a_heading_with_only_a_deeper_heading_under_it_opens_that_ones_section() -> None:
    chunks = chunked("# A\n\n## B\n\n### C\n\none\n\n### D\n\ntwo\n")
    assert texts(chunks) == ["# A\n\n## B\n\n### C\n\none", "### D\n\ntwo"]
    assert [chunk.section for chunk in chunks] == [("A", "B", "C"), ("A", "B", "D")]


def test_a_heading_without_text_before_one_of_its_own_level_is_a_section_of_its_own() -> None:
    chunks = chunked("## A\n\n## B\n\none\n\n## C\n")
    assert texts(chunks) == ["## A", "## B\n\none", "## C"]


def test_front_matter_opens_the_section_that_follows() -> None:
    chunks = chunked("---\ntitle: A\n---\n\n# A\n\none\n\n## B\n\ntwo\n")
    assert texts(chunks) == ["---\ntitle: A\n---\n\n# A\n\none", "## B\n\ntwo"]
    assert chunks[0].section == ("A",)


def test_front_matter_that_does_not_fit_leaves_its_section_whole() -> None:
    fields = "\n".join(f"key{number}: value" for number in range(12))
    chunks = chunked(f"---\n{fields}\n---\n\n# A\n\n{sentence(1, 20)}\n")
    assert texts(chunks) == [f"---\n{fields}\n---", f"# A\n\n{sentence(1, 20)}"]


def test_sections_of_the_same_name_are_told_apart_by_their_occurrence() -> None:
    chunks = chunked("# A\n\none\n\n# A\n\ntwo\n\n# A\n\nthree\n")
    assert [(chunk.section, chunk.occurrence, chunk.part) for chunk in chunks] == [
        (("A",), 0, 0),
        (("A",), 1, 0),
        (("A",), 2, 0),
    ]


def test_pieces_of_a_section_are_numbered() -> None:
    chunks = chunked("# A\n\n" + "\n\n".join(paragraphs(12)))
    assert len(chunks) > 2
    assert [chunk.part for chunk in chunks] == list(range(len(chunks)))


# --- cuts ---


def test_a_long_section_is_cut_between_paragraphs() -> None:
    text = "\n\n".join(paragraphs(20))
    assert all(chunk.text.startswith("S") and chunk.text.endswith("end.") for chunk in chunked(text))


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- {sentence(number, 6)}\n  {sentence(100 + number, 6)}" for number in range(12)]
    assert all(chunk.text.startswith("- ") for chunk in chunked("\n".join(items)))


def test_a_long_paragraph_is_cut_at_line_ends_before_sentences() -> None:
    lines = [f"L{number} first part. Second part of line" for number in range(20)]
    assert all(chunk.text.startswith("L") for chunk in chunked("\n".join(lines)))


def test_a_long_line_is_cut_between_sentences() -> None:
    chunks = chunked(" ".join(sentence(number) for number in range(20)))
    assert all(chunk.text.startswith("S") and chunk.text.endswith("end.") for chunk in chunks)


def test_text_without_spaces_is_cut_at_its_sentence_ends() -> None:
    text = "".join(f"第{number}条員工每年享有二十五天的年假。" for number in range(60))
    chunks = split_chunks(
        read_markdown(text), title=None, max_tokens=60, overlap_tokens=0, token_starts=estimate_token_starts
    )
    assert len(chunks) > 10
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_a_long_sentence_is_cut_between_words() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    assert " ".join(texts(chunked(text))) == text


def test_a_long_word_is_cut_but_not_inside_a_character() -> None:
    text = "e\u0301\u0316👩\u200d🔬" * 200
    chunks = chunked(text)
    assert len(chunks) > 3
    assert not any(splits_character(text, chunk.start) for chunk in chunks)
    assert "".join(texts(chunks)) == text


def test_a_run_of_combining_marks_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 2_000
    assert "".join(texts(chunked(text))) == text


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("```\n" + "\n\n".join(f"x = {number}" for number in range(9)) + "\n```", id="fence"),
        pytest.param("| a | b |\n|---|---|\n" + "\n".join(f"| {number} | x |" for number in range(5)), id="table"),
    ],
)
def test_code_and_tables_that_fit_are_not_cut_through(block: str) -> None:
    text = "\n\n".join([*paragraphs(3), block, *paragraphs(5), block, *paragraphs(2)])
    chunks = chunked(text, overlap_tokens=8)
    assert len(chunks) > 3
    assert sum(chunk.text.count(block) for chunk in chunks) == 2
    assert not any(("x = " in chunk.text or "| x" in chunk.text) and block not in chunk.text for chunk in chunks)


def test_a_whole_block_may_take_the_room_that_overlap_would() -> None:
    code = "```\n" + "\n".join(f"line {number}" for number in range(18)) + "\n```"
    chunks = chunked("\n\n".join([*paragraphs(4), code, *paragraphs(4)]), overlap_tokens=10)
    assert any(chunk.text == code for chunk in chunks)


def test_a_table_that_does_not_fit_is_cut_between_rows_and_each_part_begins_with_its_head() -> None:
    rows = [f"| row {number} | value. Of {number} |" for number in range(40)]
    chunks = chunked("\n".join(["| name | value |", "|---|---|", *rows]))
    assert len(chunks) > 5
    assert all(chunk.text.startswith("| name | value |\n|---|---|\n| row ") for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.splitlines()[2:]] == rows


def test_a_heading_is_not_parted_from_its_text() -> None:
    chunks = chunked("# A\n\n" + sentence(1, 36) + "\n\n" + sentence(2, 30))
    assert chunks[0].text.startswith("# A\n\nS1")


# --- header ---


def test_the_header_names_title_and_path_and_is_embedded_but_not_shown() -> None:
    [chunk] = chunked("## Meals\n\n60 EUR\n", title="Expenses")
    assert chunk.header == "Expenses > Meals"
    assert chunk.text == "## Meals\n\n60 EUR"
    assert chunk.embedded_text == "Expenses > Meals\n\n## Meals\n\n60 EUR"


def test_the_title_is_not_said_twice() -> None:
    [chunk] = chunked("# The  Expenses\n\n## Meals\n\n60 EUR\n", title="the expenses")
    assert chunk.header == "The Expenses > Meals"


def test_a_text_without_title_or_headings_has_no_header() -> None:
    [chunk] = chunked("60 EUR")
    assert chunk.header == ""
    assert chunk.embedded_text == "60 EUR"


def test_a_long_path_loses_its_middle_first() -> None:
    text = "".join(f"{'#' * level} level {level} of the path\n\n" for level in range(1, 7)) + "text"
    [chunk] = chunked(text, title="Title", max_tokens=80)
    assert chunk.header == "Title > … > level 5 of the path > level 6 of the path"


def test_a_long_title_is_cut_to_leave_the_text_its_room() -> None:
    chunks = chunked("## Meals\n\n60 EUR", title="title " * 200)
    assert [len(words(chunk.header)) <= 10 for chunk in chunks] == [True]
    assert chunks[0].header.endswith("Meals")


# --- overlap ---


def test_overlap_is_taken_backwards_at_a_sentence_and_leaves_the_cuts_where_they_were() -> None:
    text = "# A\n\n" + " ".join(sentence(number) for number in range(40))
    plain = chunked(text, max_tokens=40, overlap_tokens=0)
    overlapping = chunked(text, max_tokens=50, overlap_tokens=10)
    assert [chunk.end for chunk in plain] == [chunk.end for chunk in overlapping]
    for before, chunk in pairwise(overlapping):
        assert chunk.text.startswith("S")
        assert before.end > chunk.start


def test_overlap_does_not_cross_a_heading() -> None:
    chunks = chunked("# A\n\none two three\n\n# B\n\nfour five six\n", overlap_tokens=10)
    assert texts(chunks) == ["# A\n\none two three", "# B\n\nfour five six"]


def test_a_long_head_is_repeated_without_its_dashes() -> None:
    head = "| " + " | ".join(f"c{number}" for number in range(6)) + " |"
    rows = ["| " + " | ".join(f"{row}.{number}" for number in range(6)) + " |" for row in range(20)]
    chunks = chunked("\n".join([head, "|" + " --- |" * 6, *rows]), max_tokens=80)
    assert len(chunks) > 3
    assert all(chunk.text.splitlines()[0] == head for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.splitlines()[1:] if "---" not in row] == rows


def test_a_table_that_just_fits_is_not_cut_for_the_head_of_another() -> None:
    def table(name: str, rows: int) -> str:
        return "\n".join([f"| {name} | value |", "|---|---|", *(f"| {name} {row} | v{row} |" for row in range(rows))])

    for rows in range(1, 9):
        chunks = chunked(f"{table('small', rows)}\n\n{table('large', 40)}")
        lines = [line for chunk in chunks for line in chunk.text.splitlines()]
        assert all(line.startswith("|") and line.endswith("|") for line in lines)
        assert sum("small" in line and "value" not in line for line in lines) == rows


def test_a_head_that_would_fill_the_parts_of_its_table_is_not_repeated() -> None:
    head = "| " + " ".join(f"column{number}" for number in range(15)) + " | value |\n|---|---|"
    chunks = chunked("\n".join([head, *(f"| row {number} | value of {number} |" for number in range(40))]))
    assert sum("column0" in chunk.text for chunk in chunks) == 1


# --- pages ---


def paged(*pages: Sequence[tuple[BlockKind, str]]) -> ExtractedText:
    builder = TextBuilder(Limits())
    for number, blocks in enumerate(pages, start=1):
        builder.page(number)
        for kind, text in blocks:
            if kind is BlockKind.HEADING:
                builder.heading(1, text)
            else:
                builder.paragraph(text)
    return builder.finish(pages=len(pages))


def pages_of(extracted: ExtractedText, *, overlap_tokens: int = 0) -> list[tuple[int | None, str]]:
    chunks = split_chunks(extracted, title=None, max_tokens=40, overlap_tokens=overlap_tokens, token_starts=words)
    return [(chunk.page, chunk.text) for chunk in chunks]


def test_no_chunk_has_text_of_two_pages_not_even_by_its_overlap() -> None:
    first, second = paragraphs(6), paragraphs(9)[6:]
    extracted = paged([(BlockKind.PARAGRAPH, text) for text in first], [(BlockKind.PARAGRAPH, text) for text in second])
    found = pages_of(extracted, overlap_tokens=10)
    assert {page for page, _ in found} == {1, 2}
    assert not any(text in chunk for page, chunk in found for text in (second if page == 1 else first))


def test_a_section_goes_on_over_a_page_under_the_same_heading() -> None:
    extracted = paged([(BlockKind.HEADING, "Leave"), (BlockKind.PARAGRAPH, "one")], [(BlockKind.PARAGRAPH, "two")])
    chunks = split_chunks(extracted, title=None, max_tokens=40, overlap_tokens=0, token_starts=words)
    assert [(each.section, each.occurrence, each.page) for each in chunks] == [(("Leave",), 0, 1), (("Leave",), 1, 2)]


def test_a_heading_at_the_foot_of_a_page_goes_with_its_text_whose_page_counts() -> None:
    extracted = paged([(BlockKind.PARAGRAPH, "one"), (BlockKind.HEADING, "Leave")], [(BlockKind.PARAGRAPH, "two")])
    assert pages_of(extracted) == [(1, "one"), (2, "Leave\n\ntwo")]


def test_a_heading_with_nothing_after_it_has_its_own_page() -> None:
    extracted = paged([(BlockKind.PARAGRAPH, "one")], [(BlockKind.HEADING, "The end")])
    assert pages_of(extracted) == [(1, "one"), (2, "The end")]


# --- sizes ---


@pytest.mark.parametrize(("max_tokens", "overlap_tokens"), [(15, 0), (40, 21), (40, -1)])
def test_sizes_that_leave_no_room_are_a_configuration_error(max_tokens: int, overlap_tokens: int) -> None:
    with pytest.raises(ConfigurationError, match="overlap"):
        chunked("text", max_tokens=max_tokens, overlap_tokens=overlap_tokens)


def test_a_word_that_the_tokenizer_gives_up_on_is_not_one_huge_chunk() -> None:
    """BERT's WordPiece makes one unknown token of any word of more than a hundred letters."""
    chunks = split_chunks(
        read_markdown("a" * 100_000), title=None, max_tokens=100, overlap_tokens=0, token_starts=lambda _: [0]
    )
    assert max(len(chunk.text) for chunk in chunks) <= 1_600


def test_a_cut_word_that_takes_more_tokens_than_before_is_cut_again() -> None:
    def context(text: str) -> list[int]:
        """Long words are a token each four letters, shorter ones a token a letter: cutting makes tokens."""
        starts: list[int] = []
        for match in re.finditer(r"\S+", text):
            step = 4 if len(match[0]) > 100 else 1
            starts.extend(range(match.start(), match.end(), step))
        return starts

    text = "ab" * 400
    chunks = split_chunks(read_markdown(text), title=None, max_tokens=24, overlap_tokens=0, token_starts=context)
    assert max(len(context(chunk.embedded_text)) for chunk in chunks) <= 24
    assert "".join(texts(chunks)) == text


# --- properties ---

WORD = st.text(alphabet="abcdefgh", min_size=1, max_size=9)
SENTENCE = st.lists(WORD, min_size=1, max_size=15).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPH = st.lists(SENTENCE, min_size=1, max_size=6).map(" ".join)
BLOCK = st.one_of(
    PARAGRAPH,
    st.lists(SENTENCE, min_size=1, max_size=8).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(WORD, min_size=1, max_size=30).map(lambda lines: "```\n" + "\n".join(lines) + "\n```"),
    st.lists(WORD, min_size=1, max_size=30).map(
        lambda rows: "\n".join(["| a |", "|---|", *(f"| {r} |" for r in rows)])
    ),
    st.text(alphabet="人员工年假天。，", min_size=1, max_size=200),
    st.text(alphabet="xyz", min_size=50, max_size=400),
    st.tuples(st.integers(1, 6), WORD).map(lambda heading: "#" * heading[0] + " " + heading[1]),
)
DOCUMENT = st.one_of(
    st.lists(BLOCK, max_size=25).map("\n\n".join),
    st.text(alphabet=st.sampled_from("ab#-|`> \t\n\n.é人。👩\u200d\u0301"), max_size=400),
)
SIZES = st.tuples(st.integers(16, 90), st.floats(0, 0.5)).map(lambda sizes: (sizes[0], int(sizes[0] * sizes[1])))


@given(DOCUMENT, SIZES, st.sampled_from([None, "A title", "a"]), st.sampled_from([words, estimate_token_starts]))
def test_nothing_is_lost_no_size_exceeded_and_every_span_exact(
    text: str, sizes: tuple[int, int], title: str | None, token_starts: TokenStarts
) -> None:
    extracted = read_markdown(text)
    chunks = split_chunks(
        extracted, title=title, max_tokens=sizes[0], overlap_tokens=sizes[1], token_starts=token_starts
    )
    assert_sound(extracted, chunks, max_tokens=sizes[0], token_starts=token_starts)
    assert chunks == split_chunks(
        extracted, title=title, max_tokens=sizes[0], overlap_tokens=sizes[1], token_starts=token_starts
    )


def assert_sound(
    extracted: ExtractedText, chunks: Sequence[Chunk], *, max_tokens: int, token_starts: TokenStarts
) -> None:
    names = {(chunk.section, chunk.occurrence, chunk.part) for chunk in chunks}
    assert len(names) == len(chunks)
    position = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        span = extracted.text[chunk.start : chunk.end]
        assert chunk.text.endswith(span)
        lead = chunk.text.removesuffix(span)
        assert not lead or lead in heads_of_tables(extracted, before=chunk.start)
        assert chunk.text == chunk.text.strip()
        assert chunk.text
        assert not extracted.text[position : chunk.start].strip()
        assert chunk.end > position
        assert len(token_starts(chunk.embedded_text)) <= max_tokens
        position = chunk.end
    assert not extracted.text[position:].strip()


def heads_of_tables(extracted: ExtractedText, *, before: int) -> list[str]:
    tables = [block for block in extracted.blocks if block.kind is BlockKind.TABLE and block.start < before < block.end]
    heads = [extracted.text[each.start : each.end].splitlines(keepends=True)[:2] for each in tables]
    return ["".join(head[:lines]) for head in heads for lines in (1, 2)]


HOSTILE = {
    "one line of words": "word " * 100_000,
    "one line without a space": "a" * 500_000,
    "one line of chinese": "年假" * 100_000,
    "one line of full stops": "." * 100_000,
    "headings": "# h\n\n" * 5_000,
    "short paragraphs": "".join(f"p {number}\n\n" for number in range(20_000)),
    "a heading of half a megabyte": "# " + "word " * 100_000,
    "code that is white space": "```\nx" + " " * 300_000 + "y\n```",
    "a long table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 20_000,
    "the same line over and over": "the same line\n" * 20_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_cut_soundly(text: str) -> None:
    extracted = read_markdown(text)
    chunks = split_chunks(extracted, title="T", max_tokens=200, overlap_tokens=20, token_starts=estimate_token_starts)
    assert_sound(extracted, chunks, max_tokens=200, token_starts=estimate_token_starts)
