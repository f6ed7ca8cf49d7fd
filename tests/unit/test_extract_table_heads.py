"""The head of a table: lines above it are no head, and a head of several rows is one row."""

from __future__ import annotations

import pytest

from citewell.extract.table_heads import Row, with_one_head


def test_a_first_row_that_is_one_cell_is_a_line_above_the_table() -> None:
    rows: list[Row] = [["Prices 2024", None], ["Net", None], ["a", "b"], ["1", "2"]]
    assert with_one_head(rows) == (["Prices 2024", "Net"], [["a", "b"], ["1", "2"]])


def test_rows_that_the_document_calls_its_head_are_joined_column_by_column() -> None:
    rows: list[Row] = [["Staff", None, None], ["", "2023", None], ["Name", "Plan", "Actual"], ["Ann", "1", "2"]]
    assert with_one_head(rows, 3) == (["Staff"], [["Name", "2023 Plan", "2023 Actual"], ["Ann", "1", "2"]])


def test_a_head_of_two_rows_is_told_by_what_is_merged() -> None:
    rows: list[Row] = [["Region", "2023", None], ["", "Plan", "Actual"], ["North", "1", "2"]]
    assert with_one_head(rows)[1] == [["Region", "2023 Plan", "2023 Actual"], ["North", "1", "2"]]


def test_years_are_a_second_head_where_figures_follow_them() -> None:
    rows: list[Row] = [["", "Revenue", None, "Profit", None], ["", "2022", "2023", "FY22", "FY23"]]
    figures: Row = ["North", "1,200", "1,350", "12%", ""]
    joined = ["", "Revenue 2022", "Revenue 2023", "Profit FY22", "Profit FY23"]
    assert with_one_head([*rows, figures])[1][0] == joined
    assert with_one_head([*rows, ["North", "2001", "2002", "2003", "2004"]])[1][0] != joined


def test_a_second_head_may_say_more_under_each_column_where_figures_follow() -> None:
    rows: list[Row] = [["Sales", "2023", None], ["EUR", "Plan", "Actual"], ["North", "1", "2"]]
    assert with_one_head(rows)[1] == [["Sales EUR", "2023 Plan", "2023 Actual"], ["North", "1", "2"]]
    rows[1] = ["North", "n/a", "n/a"]
    assert with_one_head(rows)[1][0] == ["Sales", "2023", ""]


@pytest.mark.parametrize(
    "rows",
    [
        [["Results", None, ""], ["Region", "Sales", "Remark"], ["x", "y", "z"]],
        [["Name", "Acme", None], ["Date", "May", "June"], ["x", "y", "z"]],
        [["", "Prices", None], ["North", "1", "2"], ["South", "3", "4"]],
        [["", "Prices", None], ["North", "low", "high"]],
        [["", "Prices", None], ["North", "", "high"], ["South", "low", ""]],
        [["", "Prices", None], ["Plan", "all", None], ["South", "low", "high"]],
    ],
    ids=["title", "form", "numbers", "two rows", "blanks", "wide below"],
)
def test_rows_that_say_something_of_their_own_are_no_second_head(rows: list[Row]) -> None:
    assert with_one_head(rows) == ([], [[text or "" for text in row] for row in rows])


@pytest.mark.parametrize("head_rows", [0, 2, 9])
def test_a_table_that_is_all_head_keeps_its_first_row_as_such(head_rows: int) -> None:
    assert with_one_head([["a", "b"], ["1", "2"]], head_rows) == ([], [["a", "b"], ["1", "2"]])


def test_rows_of_other_widths_and_no_rows_are_taken_as_they_are() -> None:
    assert with_one_head([["", "a", None], ["x"], ["1", "2", "3"]], 2)[1] == [["x", "a", "a"], ["1", "2", "3"]]
    assert with_one_head([]) == ([], [])
