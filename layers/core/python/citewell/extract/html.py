"""HTML pages, read as browsers do (HTML5's parsing rules), and HTML bodies of mail."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.core.values import ExtractedText
from citewell.extract.building import TextBuilder
from citewell.extract.declaring import date_of, decoded_as, language_tag_of
from citewell.extract.html_blocks import BlockWriter
from citewell.extract.html_boilerplate import Boilerplate, without_marks_of_links
from citewell.extract.html_elements import heading_text, top_headings_of
from citewell.extract.html_made_blocks import made_blocks
from citewell.extract.html_made_tables import made_tables
from citewell.extract.html_styles import StyleSheet
from citewell.extract.html_verbatim import keeping_lines, made_code
from citewell.extract.options import ReadOptions

_META_CHARSET = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:+-]+)", re.IGNORECASE)
_META_BYTES = 16_384
_XML_DECLARATION = re.compile(r"\s*<\?xml\s")
_EMPTY_ELEMENT = re.compile(
    r"<(title|script|style|textarea|iframe|a|b|i|em|span|div|p|li|td|th|h[1-6])((?:\s[^<>]*)?)/>"
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?\s*([\w.:+-]+)", re.IGNORECASE)
_DATE_NAMES = frozenset({"date", "effective_date", "effective-date", "dc.date", "dcterms.date", "dcterms.valid"})

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>")
_CLOSED_BY_OTHERS = frozenset({
    "p", "li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "optgroup", "rt", "rp",
})  # fmt: skip
_NEVER_CLOSED = frozenset({
    "br", "img", "hr", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr",
    "param",
})  # fmt: skip
_INTERNAL_SUBSET = re.compile(r"<!doctype[^<>\[]*+\[[^\]]*+\]\s*+>", re.IGNORECASE)
_DEEPEST = 1_000
_FORMATTING = frozenset({
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
_MOST_FORMATTING = 50
"""Open at once. A parser opens those that weren't closed again in each block that follows."""

_TAGS_THAT_COST_NOTHING = 200
_LONG_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9-]*)(?=[\s/])([^<>]{2000,})>")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_BETWEEN_ATTRIBUTES = re.compile(r"['\s/]+")
_MOST_ATTRIBUTES = 500


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """A page's content without what stands around it. The title is the page's, the language its ``lang``.

    The charset is told by a byte order mark, UTF-8 that is valid, ``options.content_type``, the page's own ``meta``,
    and else as for any text. Raises DocumentRejected ``empty``, ``undecodable`` or ``too_large``.
    """
    markup = _decoded(data, options.content_type)
    if _XML_DECLARATION.match(markup):  # in which, and not in HTML, an element may end with its tag
        markup = _EMPTY_ELEMENT.sub(r"<\1\2></\1>", markup)
    tree = parsed(_INTERNAL_SUBSET.sub("<!doctype html>", markup[:_META_BYTES], count=1) + markup[_META_BYTES:])
    without_marks_of_links(tree)
    title = _title(tree)
    language = _language(tree)
    date = _date(tree)
    builder = TextBuilder(options.limits)
    write_tree(tree, builder)
    return builder.finish(title=title, language=language, effective_date=date)


def parsed(markup: str) -> LexborHTMLParser:
    """The tree of a page, of any depth and attributes: its parser's time goes with the square of either."""
    markup = _LONG_TAG.sub(_with_few_attributes, markup)
    return LexborHTMLParser(_flattened(markup) if markup.count("<") > _TAGS_THAT_COST_NOTHING else markup)


def write_tree(tree: LexborHTMLParser, builder: TextBuilder) -> None:
    """Write the content of a parsed page, which this changes: what nobody reads is taken out of it."""
    if tree.css_first("math") is not None:
        from citewell.extract.html_formulas import write_formulas_out

        write_formulas_out(tree)
    heading = _only_heading(tree)
    sheet = StyleSheet(tree)
    tags = made_blocks(tree, sheet) | made_tables(tree, sheet) | made_code(tree)
    lines = keeping_lines(tree, sheet)
    boilerplate = Boilerplate(tree, sheet)
    root = boilerplate.root
    if root is None:
        return
    if heading and not top_headings_of(root):
        builder.heading(1, heading)
    writer = BlockWriter(builder, root, tags=tags, keeping_lines=lines)
    _walk(root, writer, boilerplate)
    writer.finish()


def _walk(root: LexborNode, writer: BlockWriter, boilerplate: Boilerplate) -> None:
    node = root
    while True:
        if not boilerplate.drops(node):
            writer.enter(node)
            if (child := node.first_child) is not None:
                node = child
                continue
            writer.leave(node)
        while node.next is None or node.mem_id == root.mem_id:
            if node.mem_id == root.mem_id or node.parent is None:
                return
            node = node.parent
            writer.leave(node)
        node = node.next


def _with_few_attributes(tag: re.Match[str]) -> str:
    """The tag, without its attributes where they are more than anybody writes; one of them may be a whole picture."""
    attributes = _BETWEEN_ATTRIBUTES.findall(_QUOTED.sub("'", tag[2]))
    return tag[0] if len(attributes) <= _MOST_ATTRIBUTES else f"<{tag[1]}>"


def _flattened(markup: str) -> str:
    """Without the tags of elements that stand too deep, give or take: those that a parser closes don't count."""
    depth = formatting = 0

    def kept(tag: re.Match[str]) -> str:
        nonlocal depth, formatting
        name = tag[2].lower()
        if name in _CLOSED_BY_OTHERS or name in _NEVER_CLOSED:
            return tag[0]
        is_kept = depth <= _DEEPEST if tag[1] else depth < _DEEPEST
        if name in _FORMATTING:
            formatting = max(formatting - 1, 0) if tag[1] else formatting + 1
            is_kept = is_kept and formatting <= _MOST_FORMATTING
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        return tag[0] if is_kept else " "

    return _TAG.sub(kept, markup)


# --- what the page says of itself ---


def _decoded(data: bytes, content_type: str | None) -> str:
    match = _CHARSET.search(content_type or "")
    return decoded_as(match[1] if match else meta_charset_of(data), data)


def meta_charset_of(data: bytes) -> str | None:
    """The charset that a page names itself, in a ``meta`` element or as XML does; UTF-16 can't be named so."""
    match = _META_CHARSET.search(data[:_META_BYTES]) or _XML_ENCODING.match(data)
    charset = match[1].decode("ascii", "replace").lower() if match else ""
    return charset if charset and not charset.startswith(("utf-16", "utf16")) else None


def _title(tree: LexborHTMLParser) -> str | None:
    """The page's title; its only level-1 heading where the title is that with the site's name."""
    element = tree.css_first("head title") or tree.css_first("title")
    title = " ".join(element.text().split()) if element is not None else ""
    heading = _only_heading(tree)
    return heading if heading and (not title or heading in title) else title or None


def _only_heading(tree: LexborHTMLParser) -> str:
    headings = top_headings_of(tree)
    return heading_text(headings[0]) if len(headings) == 1 else ""


def _language(tree: LexborHTMLParser) -> str | None:
    element = tree.css_first("html[lang], html[xml\\:lang], body[lang]")
    if element is None:
        return None
    return language_tag_of(element.attributes.get("lang") or element.attributes.get("xml:lang") or "")


def _date(tree: LexborHTMLParser) -> str | None:
    for meta in tree.css("meta[name][content]"):
        if (meta.attributes.get("name") or "").lower() in _DATE_NAMES:
            return date_of(meta.attributes.get("content") or "")
    return None
