"""Numbers of a spreadsheet, shown as their format says."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.extract.number_formats import BUILT_IN, formatter, plain


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0", 2.5, "3"),
        ("0", -2.5, "-3"),
        ("0.00", 0.1 + 0.2, "0.30"),
        ("0.0#", 1.5, "1.5"),
        ("0.0#", 1.25, "1.25"),
        ("#.##", 0.5, ".5"),
        ("000", 7, "007"),
        ("#,##0", 1234567.4, "1,234,567"),
        ("#,##0.00", -1234.5, "-1,234.50"),
        ("0%", 0.125, "13%"),
        ("0.0%", 0.125, "12.5%"),
        ("#,##0,", 1234567, "1,235"),
        ("0.0,,", 1234567, "1.2"),
        ("0.00E+00", 12345, "1.23E+04"),
        ('"$"#,##0.00', 1234.5, "$1,234.50"),
        ("$#,##0", -5, "-$5"),
        ("[$€-407] #,##0.00", 1234.5, "€ 1,234.50"),
        ('#,##0.00 "EUR"', 12, "12.00 EUR"),
        (r"0\ \k\g", 12, "12 kg"),
        ("#,##0.00_);(#,##0.00)", -12, "(12.00)"),
        ('_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', -12, "$(12.00)"),
        ("[Red]0;[Blue]-0", -12, "-12"),
        ('0;-0;"none"', 0, "none"),
        ('"yes";"no";"never"', -1, "no"),
        (";;;", 12, ""),
        ("General", 0.1 + 0.2, "0.3"),
        ('General" kg"', 12, "12 kg"),
        ("# ?/?", 0.5, "0.5"),
        ("[>100]0.0;0", 99.25, "99.25"),
        ("000-00-0000", 123456789, "123456789"),
        ("", 12, ""),
    ],
)
def test_numbers_follow_their_format_where_it_is_a_common_one(code: str, value: float, shown: str) -> None:
    assert formatter(code)(value) == shown


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("d/m/yyyy", 45292, "2024-01-01"),
        ("yyyy-mm-dd hh:mm", 45292.75, "2024-01-01 18:00"),
        ("yyyy-mm-dd hh:mm", 45292.0, "2024-01-01"),
        ("d-m-y h:m:s", 19278.607951388888, "1952-10-11 14:35:27"),
        ("h:mm AM/PM", 0.75, "18:00"),
        ("h:mm AM/PM", 45292.75, "18:00"),
        ("[h]:mm:ss", 1.5, "36:00:00"),
        ("[mm]:ss", 0.5, "720:00"),
        ("[ss]", 0.5, "43200"),
        ("mmm-yy", 45292, "2024-01-01"),
        ("[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", 45292, "2024-01-01"),
        ('yyyy"年"m"月"d"日"', 45292, "2024-01-01"),
        ("d/m/yyyy", 1, "1900-01-01"),
        ("d/m/yyyy", 59, "1900-02-28"),
        ("d/m/yyyy", 61, "1900-03-01"),
        ("d/m/yyyy", -1, "-1"),
        ("d/m/yyyy", 1e300, "1e+300"),
        ("yyyy", math.inf, "inf"),
    ],
)
def test_dates_are_written_in_iso_8601(code: str, value: float, shown: str) -> None:
    assert formatter(code)(value) == shown


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("[=0]?;0%", 0.25, "25%"),
        ("[=0]?;0%", -0.25, "-25%"),
        ("[=0]?;0%", 0, "0"),
        ("[Color10][>0]▲0.0%;[Red][<0]▼0.0%;0.0%", 0.053, "▲5.3%"),
        ("[Color10][>0]▲0.0%;[Red][<0]▼0.0%;0.0%", -0.053, "▼5.3%"),
        ("[Color10][>0]▲0.0%;[Red][<0]▼0.0%;0.0%", 0, "0.0%"),
        ("[<-0.5]0%;0.00%", -0.25, "-25.00%"),
        ("0%;[<=-1]0.0%;0.00%", 0.5, "50%"),
        ("[<4.16666666666667][hh]:mm:ss;[hh]:mm", 0.001875, "0:02:42"),
        ("[>=1]yyyy-mm-dd;h:mm", 45292, "2024-01-01"),
        ("[>=1]yyyy-mm-dd;h:mm", 0.5, "12:00"),
        ('[>999999]0.0,,"M";[>999]0.0,"K";0', 1234567, "1234567"),
        ('[=1]"yes";[=0]"no"', 1, "1"),
        ("[>5]0%;[<1]0.0%", 2, "2"),
    ],
)
def test_conditions_are_followed_to_what_a_plain_number_would_not_tell(code: str, value: float, shown: str) -> None:
    assert formatter(code)(value) == shown


def test_a_workbook_may_count_its_days_from_1904() -> None:
    assert formatter("yyyy-mm-dd", since_1904=True)(43830) == "2024-01-01"
    assert formatter("h:mm", since_1904=True)(0.5) == "12:00"


@pytest.mark.parametrize("value", [12.0, -0.5, 0.0])
def test_every_built_in_format_shows_something(value: float) -> None:
    assert all(formatter(code)(value) for code in BUILT_IN.values())


@pytest.mark.parametrize("code", ["0", "#,##0.00", "d/m/yyyy", "[h]:mm", "0.0E+0", "0;-0;0", "[<5]0;[h]:mm"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_shown_as_that(code: str, value: float) -> None:
    assert formatter(code)(value) == str(value)


@given(code=st.text(alphabet='0#?,.%;"\\[]$€-/ EehmsydAMP@*_<>1(', max_size=30), value=st.floats())
def test_no_format_and_no_number_raises(code: str, value: float) -> None:
    formatter(code)(value)


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_whole_numbers_without_a_format_keep_their_digits(value: int) -> None:
    assert plain(float(value)) == str(value)


AMOUNTS = st.one_of(
    st.floats(-1e12, 1e12),
    st.integers(-(10**9), 10**9).map(lambda number: number / 1_000),  # halves among them
    st.decimals(-100_000, 100_000, places=3).map(float),
)


@given(AMOUNTS, st.integers(0, 6))
def test_halves_are_rounded_up_in_the_15_digits_that_a_spreadsheet_keeps(value: float, places: int) -> None:
    rounded = Decimal(plain(value)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    code = "#,##0" + ("." + "0" * places if places else "")
    assert formatter(code)(value) == f"{rounded if rounded else abs(rounded):,f}"
