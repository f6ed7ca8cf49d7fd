"""PDF: what a person reads on its pages, in the order in which they read it.

Read in two goes: some pages first, for what all have in common, and then page by page, so that no more than one page
and those few are held at a time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.normalising import is_blank
from citewell.extract.options import ReadOptions, RecognisePage
from citewell.extract.pdf_layout import columns_of
from citewell.extract.pdf_pages import PageContent, PdfDocument, opened
from citewell.extract.pdf_profile import Profile, profile_of, sampled_pages
from citewell.extract.pdf_writing import PageWriter, as_named

_MEANINGLESS = re.compile("[\ufffd\ue000-\uf8ff\x00-\x1f]")
_NO_TITLE = re.compile(
    r"\(?anonymous\)?|untitled.*|microsoft (?:word|powerpoint|excel) - .*|[\W\d_]*"
    r"|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|pdf|rtf|tex|dvi|ps|html?)|(?:slide|document|dokument|presentation)\s*\d*",
    re.IGNORECASE,
)
_PAGES_NAMED = 20


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """The text of a PDF, with its pages.

    Raises DocumentRejected: ``encrypted``, ``corrupt``, ``too_large``; ``no_text_layer`` when its pages show pictures
    and hold no text, ``empty`` when they show nothing.
    """
    with opened(data, most_pages=options.limits.pages) as document:
        reading = _Reading(document, options)
        reading.write()
        return reading.finish()


class _Reading:
    def __init__(self, document: PdfDocument, options: ReadOptions) -> None:
        self._document = document
        self._recognise: RecognisePage | None = options.recognise_page
        self._text = TextBuilder(options.limits)
        self._sample = {number: document.page(number) for number in sampled_pages(document.pages)}
        self._profile: Profile = profile_of(list(self._sample.values()), document.pages)
        self._writer = PageWriter(self._text, self._profile)
        self._outline: defaultdict[int, set[str]] = defaultdict(set)
        for bookmark in document.bookmarks():
            self._outline[bookmark.page].add(as_named(bookmark.title))
        self._unread: list[int] = []
        self._written = False

    def write(self) -> None:
        attachments = self._document.attachments()
        self._text.metadata([("Attachments", ", ".join(attachments))] if attachments else [])
        for number in range(1, self._document.pages + 1):
            page = self._sample.pop(number, None) or self._document.page(number)
            self._text.page(number, anew=self._profile.slides)
            if _is_readable(page):
                fragments = self._profile.without_running_lines(page)
                columns = columns_of(fragments, page.rulings, code=self._profile.code)
                title_size = self._profile.title_size(fragments)
                self._writer.write(columns, outline=self._outline.get(number, ()), title_size=title_size)
                self._written = True
            elif page.drawn or page.fragments or self._document.is_cut_off:
                self._recognised(number)
            self._write_annotations(page)

    def finish(self) -> ExtractedText:
        if not self._written and self._document.is_cut_off:
            raise DocumentRejected("corrupt", "the PDF is cut off, and nothing can be read of what is left")
        if not self._written and self._unread:
            raise DocumentRejected("no_text_layer", f"no text, only pictures, on {_named(self._unread)}")
        title = " ".join(self._document.metadata(b"Title").split())
        return self._text.finish(
            title=self._writer.title if _NO_TITLE.fullmatch(title) else title,
            pages=self._document.pages,
            unread_pages=self._unread,
            language=self._document.language() or None,
        )

    def _recognised(self, number: int) -> None:
        """A page's picture as text, where that is wished for; else, or if nothing comes of it, it counts as unread."""
        picture = self._document.picture(number) if self._recognise else None
        words = self._recognise(picture) if self._recognise and picture else ""
        if is_blank(words):
            self._unread.append(number)
            return
        self._written = True
        for paragraph in re.split(r"\n\s*\n", words):
            self._text.paragraph(paragraph)

    def _write_annotations(self, page: PageContent) -> None:
        for signature in filter(None, page.signatures):
            self._text.paragraph(f"Signature: {signature}")
            self._written = True
        for comment in page.comments:
            by = f" ({comment.author})" if comment.author.strip() else ""
            self._text.paragraph(f"Comment{by}: {comment.text}")
            self._written = True


def _is_readable(page: PageContent) -> bool:
    """Whether most of its characters mean something: fonts may leave out which letters they draw."""
    characters = "".join([each.text for each in page.fragments])
    if characters.isprintable() and "\ufffd" not in characters:  # a glance, where the search takes as long as a call
        return characters != ""
    return 2 * len(_MEANINGLESS.findall(characters)) < len(characters)


def _named(pages: list[int]) -> str:
    """Page numbers for a message, runs of them as one."""
    runs = list(_runs(pages))
    shown = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in runs[:_PAGES_NAMED])
    return ("page " if len(pages) == 1 else "pages ") + shown + (", ..." if len(runs) > _PAGES_NAMED else "")


def _runs(pages: list[int]) -> Iterator[tuple[int, int]]:
    first = last = pages[0]
    for page in pages[1:]:
        if page > last + 1:
            yield first, last
            first = page
        last = page
    yield first, last
