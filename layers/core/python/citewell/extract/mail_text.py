"""The text of a message's part: out of its transfer encoding and its charset, its lines as they were written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email.message import Message

from citewell.extract.declaring import decoded_as
from citewell.extract.html import meta_charset_of
from citewell.extract.mail_headers import ASCII, charset_of, parameter_of

_TRANSFER_ENCODING = "Content-Transfer-Encoding"
_KNOWN_ENCODING = re.compile(r"base64|quoted[-_ ]?printable|(?:x-)?uu(?:encode|e)", re.IGNORECASE)
_QUOTED = re.compile(r"(>+) ?")


def text_of(part: Message | None, *, otherwise: str | None = None) -> str:
    """Empty for no part; ``otherwise`` is the charset of one that names none.

    What can't be decoded is marked; raises DocumentRejected ``undecodable`` as any text does.
    """
    if part is None:
        return ""
    content, charset = content_of(part), charset_of(part)
    if part.get_content_type() == "text/html" and charset in {None, ASCII}:
        charset = meta_charset_of(content) or charset
    text = decoded_as(charset or (None if otherwise == ASCII else otherwise), content)
    return _reflowed(text, part) if part.get_content_type() == "text/plain" else text


def content_of(part: Message) -> bytes:
    """The bytes of a part that has no parts, also where its transfer encoding is named in another form."""
    found = _KNOWN_ENCODING.search(str(part.get(_TRANSFER_ENCODING, "")))
    if found:
        name = found[0].lower()
        part.replace_header(_TRANSFER_ENCODING, "quoted-printable" if name.startswith("quoted") else name)
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def is_base64(part: Message) -> bool:
    found = _KNOWN_ENCODING.search(str(part.get(_TRANSFER_ENCODING, "")))
    return found is not None and found[0].lower() == "base64"


def _reflowed(text: str, part: Message) -> str:
    """Joins the lines that ``format=flowed`` (RFC 3676) says were one."""
    if parameter_of(part, "format", "content-type").lower() != "flowed":
        return text
    joined = parameter_of(part, "delsp", "content-type").lower() == "yes"
    return "\n".join(_flowing(text.replace("\r\n", "\n").split("\n"), drop_space=joined))


def _flowing(lines: Sequence[str], *, drop_space: bool) -> Iterator[str]:
    paragraph: list[str] = []
    depth = 0
    for line in lines:
        quoted = _QUOTED.match(line)
        depth_of_line = len(quoted[1]) if quoted else 0
        content = line[quoted.end() :] if quoted else line.removeprefix(" ")
        flows = content.endswith(" ") and content != "-- "
        if paragraph and (depth_of_line != depth or content == "-- "):
            yield _quoted(paragraph, depth)
            paragraph = []
        depth = depth_of_line
        paragraph.append(content[:-1] if flows and drop_space else content)
        if not flows:
            yield _quoted(paragraph, depth)
            paragraph = []
    if paragraph:
        yield _quoted(paragraph, depth)


def _quoted(paragraph: Sequence[str], depth: int) -> str:
    return f"{'>' * depth} {''.join(paragraph)}" if depth else "".join(paragraph)
