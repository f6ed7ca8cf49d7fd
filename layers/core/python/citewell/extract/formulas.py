"""Formulas of Office documents (OMML) on one line."""

from __future__ import annotations

from citewell.extract.ooxml import MATH, Element


def formula(element: Element) -> str:
    """A formula on one line: ``(a + b)/2``, ``x^2``, ``x_i``."""
    if element.tag == MATH + "t":
        return element.text or ""
    parts = [formula(child) for child in element]
    match element.tag.removeprefix(MATH):
        case "f":
            return "/".join(_grouped(part) for part in parts if part)
        case "sSup":
            return "^".join(_grouped(part) for part in parts if part)
        case "sSub":
            return "_".join(_grouped(part) for part in parts if part)
        case "rad":
            return f"√{_grouped(parts[-1])}" if parts else ""
        case "d":
            return f"({''.join(parts)})"
    return "".join(parts)


def _grouped(part: str) -> str:
    return part if part.isalnum() or (part.startswith("(") and part.endswith(")")) else f"({part})"
