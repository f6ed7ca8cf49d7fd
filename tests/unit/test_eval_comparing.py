from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eval.runs
from eval.__main__ import main
from eval.comparing import compare
from eval.outcomes import Outcome
from eval.runs import keep
from tests.outcomes import a_run, an_outcome


def test_a_clear_difference_is_told_from_nothing() -> None:
    difference = compare([0.0] * 60 + [1.0] * 40, [1.0] * 20 + [0.0] * 40 + [1.0] * 40)
    assert (difference.before, difference.after, difference.better, difference.worse) == (0.4, 0.6, 20, 0)
    # Of a share of .2 in 100, the binomial's 95% interval is .126 to .284.
    assert [difference.low, difference.high] == pytest.approx([0.126, 0.284], abs=0.01)


def test_chance_is_not_called_progress() -> None:
    difference = compare([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    assert difference.difference == 0
    assert difference.low < 0 < difference.high


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_the_interval_is_always_the_same_and_never_wider_than_the_differences(pairs: list[tuple[float, float]]) -> None:
    before, after = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    difference = compare(before, after)
    changes = [b - a for a, b in pairs]
    assert difference == compare(before, after)
    assert min(changes) - 1e-9 <= difference.low <= difference.high <= max(changes) + 1e-9


def _kept(folder: Path, name: str, outcomes: list[Outcome]) -> str:
    return str(keep(a_run(outcomes, name=name), folder))


@pytest.fixture
def found(tmp_path: Path) -> str:
    return _kept(tmp_path, "found", [an_outcome("q", gold="a", ranking=["a", "b"], keyword=["b", "a"])])


def test_two_runs_are_compared_in_a_table(tmp_path: Path, found: str, capsys: pytest.CaptureFixture[str]) -> None:
    lost = _kept(tmp_path, "lost", [an_outcome("q", gold="a", ranking=["b", "c", "d", "e", "f", "a"])])
    assert main(["compare", found, lost]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1 questions; A ")
    assert lines[2].split() == [
        "recall@5",
        "1.000",
        "0.000",
        "-1.000",
        "-1.000",
        "..",
        "-1.000",
        "0",
        "1",
        "B",
        "is",
        "worse",
    ]


def test_a_run_compared_with_itself_says_that_nothing_is_told(found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", found, found]) == 0
    assert capsys.readouterr().out.count("not told from chance: the interval holds 0") == 3


def test_an_arm_may_be_compared_with_the_fusion(found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", f"{found}:keyword", found]) == 0
    assert "mrr@10    0.500  1.000  +0.500" in capsys.readouterr().out


@pytest.mark.parametrize(
    "other",
    [an_outcome("r", gold="a", ranking=["a"]), an_outcome("q", gold="b", ranking=["a"])],
    ids=["another question", "other gold"],
)
def test_runs_of_different_questions_are_refused(
    tmp_path: Path, found: str, other: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", found, _kept(tmp_path, "other", [other])]) == 2
    assert "asked different questions" in capsys.readouterr().err


def test_runs_without_answerable_questions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = _kept(tmp_path, "off", [an_outcome("q", gold=None, ranking=["a"])])
    assert main(["compare", name, name]) == 2
    assert "has no answerable question" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "nothing names no kept runs, not one"),
        ("FOUND:reranked", "has no ranking reranked, but fused, rrf"),
    ],
)
def test_what_was_never_run_is_refused(found: str, name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", found, name.replace("FOUND", found)]) == 2
    assert said in capsys.readouterr().err


def test_a_run_is_found_by_the_beginning_of_its_name(
    tmp_path: Path, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval.runs, "RUNS", tmp_path)
    assert eval.runs.kept("fou") == eval.runs.kept(found)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 0}', '{"format": 1, "name": "x"}'], ids=["empty", "list", "old", "cut"]
)
def test_a_file_that_is_no_run_is_refused(
    tmp_path: Path, found: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text, encoding="utf-8")
    assert main(["compare", found, str(file)]) == 2
    assert "isn't a run that this version can read" in capsys.readouterr().err
