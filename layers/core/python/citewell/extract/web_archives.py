"""Pages that a browser, Word or a wiki saved whole in one file (MHTML, RFC 2557), a mail by form alone."""

from __future__ import annotations

import re
from email.message import Message

from citewell.extract.mail_headers import fields_of

_SAVED_BY = re.compile(r"<?\s*saved by\b", re.IGNORECASE)


def page_in(message: Message) -> Message | None:
    """The part that is the page; None for a mail, which is from somebody or to somebody."""
    fields = fields_of(message)
    if fields["To"] or fields["Cc"] or (fields["From"] and not _SAVED_BY.match(fields["From"])):
        return None
    pages = (part for part in message.walk() if part.get_content_type() == "text/html")
    page = next(pages, None)
    return page if page is not None and page.get("Content-Location") else None
