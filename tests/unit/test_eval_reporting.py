from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.reporting import error_curve, page, recall_by_depth
from eval.runs import Run, keep
from tests.outcomes import a_run, an_outcome

OUTCOMES = [
    an_outcome("found", gold="a", ranking=["a", "b"], score=0.9),
    an_outcome("late", gold="fees & fines", ranking=["a", "b", "c", "d", "e", "fees & fines"], score=0.58),
    an_outcome("<script>alert(1)</script>", gold=None, ranking=["a"], score=0.7, kind="near-miss"),
    an_outcome("off", gold=None, ranking=[], score=-1.0, kind="off-topic"),
]


class _Elements(HTMLParser):
    """Every tag, and every attribute that could fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [
            value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action", "data")
        ]


def _elements(html: str) -> _Elements:
    elements = _Elements()
    elements.feed(html)
    return elements


def _text(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", re.sub("(?s)<svg.*?</svg>", " ", html)).split())


@pytest.fixture(scope="module")
def html() -> str:
    return page([a_run(OUTCOMES, embedder="model@1")])


def test_the_page_needs_nothing_from_anywhere(html: str) -> None:
    elements = _elements(html)
    assert {"script", "link", "img", "iframe", "object", "a"}.isdisjoint(elements.tags)
    assert all(value.startswith("#") for value in elements.fetched)
    assert "http" not in html
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)


def test_the_same_run_gives_the_same_page(html: str) -> None:
    assert page([a_run(OUTCOMES, embedder="model@1")]) == html


def test_text_from_a_set_is_text_on_the_page(html: str) -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;?" in html
    assert "fees &amp; fines" in html


def test_the_threshold_stands_there_with_what_it_costs_and_every_other_trade(html: str) -> None:
    text = _text(html)
    assert "under 0.600. With that, 0.500 (0.095 .. 0.905) of the answerable questions are refused" in text
    assert "0.600 0.500 (0.095 .. 0.905) 0.500 (0.095 .. 0.905) in force" in text
    assert "0.560 0.000 (0.000 .. 0.658) 0.500 (0.095 .. 0.905)" in text
    assert "near-miss 1 1.000" in text
    assert html.count("<svg") == 3


def test_a_miss_shows_its_ranks_and_what_was_sent_instead(html: str) -> None:
    text = _text(html)
    assert "Not wholly among the first five: 1" in text
    assert "late late? fused: 6 rrf: 6 vector: 6 keyword: - fees &amp; fines a &gt; Section (0.58)" in text


def test_the_configuration_stands_there(html: str) -> None:
    assert "&quot;embedder&quot;: &quot;model@1&quot;" in html


def test_a_set_that_can_all_be_answered_has_no_refusal(html: str) -> None:
    answerable = page([a_run(OUTCOMES[:1])])
    assert "When it refuses" in html
    assert "When it refuses" not in answerable
    assert answerable.count("<svg") == 1
    assert "Not wholly among the first five: 0" in answerable


def test_several_runs_stand_in_one_page_with_an_overview() -> None:
    text = _text(page([a_run(OUTCOMES), a_run(OUTCOMES[:1])]))
    assert "a-set (all) 0.500 0.500 1.000 1.000 0.583 0.678 a-set (all) 1.000" in text


def test_recall_rises_with_depth() -> None:
    recalls = recall_by_depth(OUTCOMES)
    assert recalls["fused"] == [0.5] * 5 + [1.0] * 25
    assert recalls["keyword"] == [0.0] * 30


def test_the_curve_begins_where_everything_is_answered_and_ends_where_nothing_is() -> None:
    assert error_curve([0.9, 0.5], [0.7]) == [(0.0, 1.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.0)]


def test_kept_runs_are_drawn_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run: Run = a_run(OUTCOMES)
    out = tmp_path / "folder/report.html"
    assert main(["report", str(keep(run, tmp_path)), "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == page([run])
    assert capsys.readouterr().out == f"report: {out}\n"
