"""What every kind of mail is written as: its header, its body once, the names of its attachments."""

from __future__ import annotations

import re
from collections.abc import Iterable

from citewell.extract.building import TextBuilder
from citewell.extract.html import parsed, write_tree

_LONGEST_FIELD = 1_000
_PARAGRAPHS = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_STUB_CHARACTERS = 200
_STUB_TIMES = 4
_LEAST_WORDS = 5
_WORD = re.compile(r"\w+")


def shown_fields(fields: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without those that are empty; a list of thousands of recipients is cut."""
    return [
        (name, value if len(value) <= _LONGEST_FIELD else f"{value[:_LONGEST_FIELD]}…")
        for name, value in fields
        if value.strip()
    ]


def write_body(builder: TextBuilder, *, plain: str, html: str) -> None:
    """One of a message's two forms: the plain one, unless it only says that the other is the message.

    A plain one that is a page all the same is read as a page.
    """
    if not html.strip() and _PAGE.match(plain):
        plain, html = "", plain
    if not html.strip():
        _write_plain(builder, plain)
        return
    if len(plain.strip()) >= _STUB_CHARACTERS or not _is_stub(plain, _text_of(html)):
        _write_plain(builder, plain)
    else:
        write_tree(parsed(html), builder)


def _text_of(html: str) -> str:
    tree = parsed(html)
    tree.strip_tags(["script", "style"])
    return tree.body.text(separator=" ") if tree.body is not None else ""


def _is_stub(plain: str, page: str) -> bool:
    """Whether a plain form says something else than the page, or only a little of it."""
    if not plain.strip():
        return True
    words = _WORD.findall(plain.lower())
    words_of_page = _WORD.findall(page.lower())
    known = frozenset(words_of_page)
    is_other = len(words_of_page) >= _LEAST_WORDS and 2 * sum(word in known for word in words) < len(words)
    return is_other or len(page.strip()) > _STUB_TIMES * len(plain.strip())


def _write_plain(builder: TextBuilder, text: str) -> None:
    for paragraph in _PARAGRAPHS.split(text.replace("\r\n", "\n")):
        builder.paragraph(paragraph)


def write_forwarded(builder: TextBuilder, fields: Iterable[tuple[str, str]], *, subject: str) -> None:
    """Where a message within a message begins."""
    builder.heading(1, subject or "Forwarded message")
    builder.paragraph("\n".join(f"{name}: {value}" for name, value in shown_fields(fields)))


def write_attachments(builder: TextBuilder, names: Iterable[str]) -> None:
    if unique := list(dict.fromkeys(name for name in names if name.strip())):
        builder.paragraph(f"Attachments: {', '.join(unique)}")
