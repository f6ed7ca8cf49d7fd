"""Formulas of Office documents on one line."""

from __future__ import annotations

import pytest

from citewell.extract import extract
from tests.documents.office import docx, paragraph


def words(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, text: str) -> str:
    return f"<m:{name}>{text if text.startswith('<') else words(text)}</m:{name}>"


def said(of: str, **values: str) -> str:
    inside = "".join(f'<m:{name} m:val="{value}"/>' for name, value in values.items())
    return f"<m:{of}Pr>{inside}</m:{of}Pr>"


def line_of(content: str) -> str:
    return extract(docx(paragraph("x: ", f"<m:oMath>{content}</m:oMath>"))).text.removeprefix("x: ")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (part("nary", said("nary", chr="∑") + part("sub", "i=1") + part("sup", "n") + part("e", "i")), "∑_(i=1)^n i"),
        (part("nary", part("sub", "0") + part("sup", "1") + part("e", "x dx")), "∫_0^1 x dx"),
        (part("d", said("d", begChr="|", endChr="|") + part("e", "x")), "|x|"),
        (part("d", said("d", begChr="[", endChr="]", sepChr=",") + part("e", "a") + part("e", "b")), "[a,b]"),
        (
            part(
                "d", said("d", begChr="{", endChr="") + part("e", part("eqArr", part("e", "1, x") + part("e", "0, y")))
            ),
            "{1, x; 0, y",
        ),
        (part("d", part("e", part("m", part("mr", part("e", "1") + part("e", "2")) * 2))), "(1, 2; 1, 2)"),
        (part("sSubSup", part("e", "x") + part("sub", "i") + part("sup", "2")), "x_i^2"),
        (part("sSup", part("e", "r") + part("sup", "2")) + words("h"), "r^2 h"),
        (part("sSup", part("e", "r") + part("sup", "2")) + words("+h"), "r^2+h"),
        (part("d", part("e", part("f", said("f", type="noBar") + part("num", "n") + part("den", "k")))), "(n¦k)"),
        (part("sPre", part("sub", "6") + part("sup", "14") + part("e", "C")), "_6^14C"),
        (part("rad", part("deg", "3") + part("e", "8")), "³√8"),
        (part("rad", said("rad", degHide="1") + "<m:deg/>" + part("e", "a+b")), "√(a+b)"),
        (
            part("func", part("fName", part("limLow", part("e", "lim") + part("lim", "x→0"))) + part("e", "f")),
            "lim_(x→0) f",
        ),
        (part("limUpp", part("e", "A") + part("lim", "n")), "A^n"),
        (part("acc", part("e", "x")), "x\u0302"),
        (part("bar", said("bar", pos="top") + part("e", "xy")), "xy\u0305"),
        (part("f", part("num", "(a)(b)") + part("den", "2")), "((a)(b))/2"),
        (part("f", part("num", "(a+b)") + part("den", "2")), "(a+b)/2"),
    ],
)
def test_each_kind_of_formula_keeps_its_parts_apart(content: str, line: str) -> None:
    assert line_of(content) == line


def test_formulas_of_one_paragraph_are_lines() -> None:
    both = "".join(f"<m:oMath>{words(text)}</m:oMath>" for text in ("a=1", "b=2"))
    assert extract(docx(paragraph(f"<m:oMathPara>{both}</m:oMathPara>"))).text == "a=1\nb=2"


@pytest.mark.parametrize("name", ["num", "e"])
def test_formulas_nested_as_deep_as_xml_allows_are_read(name: str) -> None:
    element = {"num": "f", "e": "d"}[name]
    deep = f"<m:{element}><m:{name}>" * 115 + words("a") + f"</m:{name}></m:{element}>" * 115
    assert "a" in line_of(deep)
