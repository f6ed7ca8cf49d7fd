"""What every kind of mail is written as: its header, its body once, the names of its attachments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.html import parsed, write_tree
from citewell.extract.mail_forms import is_richer, is_same

_LONGEST_FIELD = 1_000
_PARAGRAPHS = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_LINE_END = re.compile(r"\r+\n|\r")  # some relays have added a return to each
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)


def shown_fields(fields: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without those that are empty; a list of thousands of recipients is cut."""
    return [
        (name, value if len(value) <= _LONGEST_FIELD else f"{value[:_LONGEST_FIELD]}…")
        for name, value in fields
        if value.strip()
    ]


def write_body(builder: TextBuilder, *, plain: str, html: str) -> None:
    """One of a message's two forms; a plain one that is a page all the same is read as a page."""
    if _PAGE.match(plain):
        plain, html = "", html if html.strip() else plain
    write_one_of(builder, plain=plain, write_page=partial(_write_page, html))


def write_one_of(builder: TextBuilder, *, plain: str, write_page: Callable[[TextBuilder], None]) -> None:
    """The plain form, unless the page that ``write_page`` writes tells more; it may be called twice.

    A page that can't be read gives way to a plain form.
    """
    if plain.strip() and not _is_richer(builder.apart(), write_page, plain):
        _write_plain(builder, plain)
    else:
        write_page(builder)


def repeats(builder: TextBuilder, *, html: str, plain: str) -> bool:
    """Whether a page only says again what stands in the plain text before it."""
    page = _read(builder.apart(), partial(_write_page, html)) if plain.strip() else None
    return page is not None and is_same(page, plain)


def _is_richer(apart: TextBuilder, write_page: Callable[[TextBuilder], None], plain: str) -> bool:
    page = _read(apart, write_page)
    return page is not None and is_richer(page, plain)


def _read(apart: TextBuilder, write_page: Callable[[TextBuilder], None]) -> ExtractedText | None:
    try:
        write_page(apart)
        return apart.finish()
    except DocumentRejected as rejected:
        if rejected.code == "too_large":
            raise
        return None


def _write_page(html: str, builder: TextBuilder) -> None:
    if html.strip():
        write_tree(parsed(html), builder)


def _write_plain(builder: TextBuilder, text: str) -> None:
    for paragraph in _PARAGRAPHS.split(_LINE_END.sub("\n", text)):
        builder.paragraph(paragraph)


def write_forwarded(builder: TextBuilder, fields: Iterable[tuple[str, str]], *, subject: str) -> None:
    """Where a message within a message begins."""
    builder.heading(1, subject or "Forwarded message")
    builder.paragraph("\n".join(f"{name}: {value}" for name, value in shown_fields(fields)))


def write_attachments(builder: TextBuilder, names: Iterable[str]) -> None:
    if unique := list(dict.fromkeys(name for name in names if name.strip())):
        builder.paragraph(f"Attachments: {', '.join(unique)}")
