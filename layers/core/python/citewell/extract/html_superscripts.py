"""Superscripts of a page: an exponent mustn't become a number's last digits, nor a note's number a word's."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.extract.superscripts import raised_after

BEGINNING = "\x00"
"""Marks in a text where a superscript began; no text holds it, as the parser replaces it."""


def end_superscript(texts: list[str], node: LexborNode) -> None:
    """Write what stands in ``texts`` after the last ``BEGINNING`` as that superscript; ``node`` is its element."""
    for start in range(len(texts) - 1, -1, -1):
        if texts[start] == BEGINNING:
            before = "".join(texts[max(0, start - 1) : start])
            text = "".join(texts[start + 1 :])
            texts[start:] = [_note(text) if _is_note(node) else raised_after(before, text)]
            return


def _is_note(node: LexborNode) -> bool:
    return node.css_first("a") is not None or (node.parent is not None and node.parent.tag == "a")


def _note(text: str) -> str:
    return text if text.startswith("[") else f"[{text}]"
