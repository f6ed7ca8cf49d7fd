"""Formulas of RTF: their control words are the elements of Office's formulas (OMML), with an ``m`` before each."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement  # only built here: lxml's takes no text such as half a character

from citewell.extract.formulas import formula
from citewell.extract.ooxml import MATH

_VALUE = MATH + "val"
_MOST_PARTS = 100
"""Of a formula in one another; deeper ones are one."""


@dataclass(frozen=True, slots=True)
class FormulaPart:
    """A part of a formula, or all of it."""

    _element: Element = field(default_factory=lambda: Element(MATH + "oMath"))
    _depth: int = 0

    def part(self, word: str) -> FormulaPart:
        """The one that the control word ``word`` begins inside of this."""
        if self._depth == _MOST_PARTS:
            return self
        element = SubElement(self._element, MATH + word.removeprefix("m"))
        if self._element.tag.endswith("Pr"):
            element.set(_VALUE, "")
        return FormulaPart(element, self._depth + 1)

    def add(self, text: str) -> None:
        """Of a property it is the value."""
        value = self._element.get(_VALUE)
        if value is None:
            SubElement(self._element, MATH + "t").text = text
        else:
            self._element.set(_VALUE, value + text.strip())

    @property
    def line(self) -> str:
        return formula(self._element)
