"""Numbers of a spreadsheet as its reader sees them (ECMA-376 part 1, 18.8.30 and 18.8.31).

Dates are written in ISO 8601, whatever their format. Decimals, thousands, percent and currencies follow the format;
a number whose format does anything rarer (fractions, masks, conditions) is written plainly. A condition is followed
only to percent, dates and times, of which the plain number would tell a reader nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from math import inf, isfinite

Formatter = Callable[[float], str]

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 41: "#,##0", 42: "$#,##0", 43: "#,##0.00", 44: "$#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss.0",
} | dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd")  # fmt: skip
"""Format codes that a file refers to by number alone; negative amounts with a minus, whatever the locale does."""

_TOKEN = re.compile(
    r"""(?P<literal> "[^"]*"? | \\. | \[\$[^\]]*\] )
      | (?P<nothing> _. | \*. )
      | (?P<elapsed> \[ (?:h+|m+|s+) \] )
      | (?P<bracket> \[ [^\]]* \] )
      | (?P<general> General )
      | (?P<exponent> E[+-]0+ )
      | (?P<digits> [0#?.] (?: [0#?.,]* [0#?.] )? ,* )
      | (?P<date> AM/PM | A/P | [ymdhsegb]+ )
      | (?P<other> . )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=) *(-?[0-9]+(?:\.[0-9]*)?)\]")
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_SECTION_END = re.compile(r'(?:"[^"]*"?|\\.|\[[^\]]*\]|[^;])*')
_LAST_DAY = 2_958_466
_EPOCH = datetime(1899, 12, 30)
_EPOCH_1904 = timedelta(days=1_462)
_FIRST_TRUE_DAY = 60  # Excel's calendar has a 29th of February 1900
_MOST_DECIMALS = 30
_FEW_DECIMALS = 4
_SMALL, _LARGE = 1e-4, 1e10  # between them, 15 digits are written without an exponent and reach beyond few decimals
_LONGEST_CODE = 500  # a spreadsheet takes 255 characters


def plain(value: float) -> str:
    """A number without a format, with as many digits as a spreadsheet keeps."""
    return f"{value:.15g}"


def formatter(code: str, *, since_1904: bool = False) -> Formatter:
    """What shows numbers as the format ``code`` does."""
    parts = [_parts(source) for source in _split(code[:_LONGEST_CODE])]
    sections = [_section(each, since_1904=since_1904) for each in parts]
    if any(each.condition for each in parts):
        return _by_condition(list(zip(parts, sections, strict=True)))

    def show(value: float) -> str:
        if not isfinite(value):
            return plain(value)
        if value < 0 and len(sections) > 1:
            return sections[1](-value)
        if value == 0 and len(sections) > 2:
            return sections[2](value)
        return sections[0](value)

    return show


@dataclass(slots=True)
class _Parts:
    """What one section of a format code consists of."""

    before: str = ""
    digits: str = ""
    after: str = ""
    exponent: str = ""
    condition: tuple[str, float] | None = None
    dates: str = ""
    elapsed: str = ""
    percents: int = 0
    simple: bool = True
    general: bool = False

    @property
    def is_strange_to_plain(self) -> bool:
        """Whether a reader sees something else than a plain number: a percentage, a date or a time."""
        return bool(self.percents or self.dates or self.elapsed)


def _split(code: str) -> list[str]:
    sections: list[str] = []
    start = 0
    while start <= len(code) and len(sections) < 4:
        end = _SECTION_END.match(code, start).end()  # type: ignore[union-attr] # it matches the empty string too
        sections.append(code[start:end])
        start = end + 1
    return sections[:3] or [""]


def _by_condition(sections: Sequence[tuple[_Parts, Formatter]]) -> Formatter:
    def show(value: float) -> str:
        if not isfinite(value):
            return plain(value)
        for index, (parts, section) in enumerate(sections):
            sign, limit = parts.condition or _usual_condition(index, len(sections))
            if _HOLDS[sign](value, limit):
                is_negative = sign in ("<", "<=") and limit <= 0  # and the section says so
                return section(-value if is_negative else value) if parts.is_strange_to_plain else plain(value)
        return plain(value)  # none of them holds

    return show


def _usual_condition(index: int, sections: int) -> tuple[str, float]:
    """Of a section that has none of its own where others have: positive, negative, then whatever is left."""
    if index == sections - 1:
        return "<", inf
    return (">=", 0) if index == 0 else ("<", 0)


def _section(parts: _Parts, *, since_1904: bool) -> Formatter:
    if parts.elapsed:
        return lambda value: _elapsed(value, parts.elapsed)
    if parts.dates:
        return lambda value: _date(value, parts.dates.lower(), since_1904=since_1904)
    if not parts.simple:
        return plain
    if parts.general:
        return lambda value: ("-" if value < 0 else "") + parts.before + plain(abs(value)) + parts.after
    if not parts.digits:
        return lambda _: parts.before.strip()  # words instead of a number, or nothing at all
    return lambda value: _number(value, parts)


def _parts(source: str) -> _Parts:
    parts = _Parts()
    for token in _TOKEN.finditer(source):
        kind, text = token.lastgroup, token[0]
        if kind == "digits":
            parts.simple &= not parts.digits
            parts.digits = text
        elif kind == "elapsed":
            parts.elapsed = parts.elapsed or text[1].lower()
        elif kind == "date":
            parts.dates += text
        elif kind == "exponent":
            parts.exponent = text
        elif kind == "general":
            parts.general = True
        elif found := _CONDITION.fullmatch(text):
            parts.condition = found[1], float(found[2])
        elif text in ("/", "@") or (kind == "bracket" and text[1] in "<>="):
            parts.simple = False
        else:
            _add_literal(parts, kind, text)
    return parts


def _add_literal(parts: _Parts, kind: str | None, text: str) -> None:
    if kind == "literal":
        text = text[2:-1].split("-")[0] if text.startswith("[$") else text.strip('"').removeprefix("\\")
    elif kind != "other":
        return
    elif text == "%":
        parts.percents += 1
    if parts.digits or parts.general:
        parts.after += text
    else:
        parts.before += text


def _number(value: float, parts: _Parts) -> str:
    whole, _, decimals = parts.digits.rstrip(",").partition(".")
    thousandths = len(parts.digits) - len(parts.digits.rstrip(","))
    decimals = decimals.replace(",", "")[:_MOST_DECIMALS]
    if parts.exponent:
        return parts.before + f"{value:.{len(decimals)}E}" + parts.after
    grouping = "," if "," in whole else ""
    shown = _rounded(value, len(decimals), shift=2 * parts.percents - 3 * thousandths, grouping=grouping)
    if shown is None:
        return plain(value)
    integer, _, fraction = shown.lstrip("-").partition(".")
    while fraction and fraction[-1] == "0" and decimals[len(fraction) - 1] != "0":
        fraction = fraction[:-1]
    integer = integer.zfill(whole.count("0")) if "," not in whole else integer
    if integer == "0" and "0" not in whole and (fraction or "0" not in decimals):
        integer = ""
    sign = "-" if shown[0] == "-" and shown.strip("-0.,") else ""
    return sign + parts.before + integer + ("." + fraction if fraction else "") + parts.after


def _rounded(value: float, places: int, *, shift: int, grouping: str) -> str | None:
    """Halves rounded up, as a spreadsheet does with 15 digits; None for more digits than anybody reads.

    Binary numbers give the same but for halves, and take a fraction of the time.
    """
    digits = plain(value)
    is_half = digits[-1] == "5" and len(digits.partition(".")[2]) == places + 1
    if not shift and places <= _FEW_DECIMALS and _SMALL <= abs(value) < _LARGE and not is_half:
        return f"{value:{grouping}.{places}f}"
    try:
        rounded = Decimal(digits).scaleb(shift).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        return None
    return f"{rounded:{grouping}f}"


def _date(value: float, codes: str, *, since_1904: bool) -> str:
    has_time = any(code in codes for code in "hs")
    has_date = any(code in codes for code in "ydeg") or not has_time
    if since_1904:
        value += _EPOCH_1904.days if has_date else 0
    if not 0 <= value < _LAST_DAY:
        return plain(value)
    if has_date and value >= 1:
        value += 1 if value < _FIRST_TRUE_DAY else 0
    # To the second first: serial numbers are binary fractions of days.
    moment = _EPOCH + timedelta(seconds=round(value * 86_400))
    time = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    if not has_date or value < 1:
        return time
    date = moment.date().isoformat()
    return f"{date} {time}" if has_time and time != "00:00" else date


def _elapsed(value: float, unit: str) -> str:
    """Hours, minutes or seconds that may be more than a day's."""
    seconds = round(abs(value) * 86_400)
    sign = "-" if value < 0 else ""
    if unit == "h":
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{sign}{seconds // 60}:{seconds % 60:02d}" if unit == "m" else f"{sign}{seconds}"
