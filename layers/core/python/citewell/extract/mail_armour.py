"""What programs of before MIME put into a plain text: files (uuencode), signatures and encryption (OpenPGP)."""

from __future__ import annotations

import re

_FILE = re.compile(r"^begin [0-7]{3,4} (\S[^\r\n]*)\r?\n(?:[ -`]{0,62}\r?\n)*+end[^\S\n]*$", re.MULTILINE)
_SIGNED = re.compile(
    r"^-----BEGIN PGP SIGNED MESSAGE-----[^\S\n]*\n(?:\w[^\n]*\n)*+[^\S\n]*\n"
    r"(?P<text>(?:(?!-----BEGIN )[^\n]*\n)*+)"
    r"-----BEGIN PGP SIGNATURE-----(?:\n(?!-----)[^\n]*)*(?:\n-----END PGP SIGNATURE-----)?[^\n]*",
    re.MULTILINE,
)
_ESCAPED = re.compile(r"^- ", re.MULTILINE)
_ENCRYPTED = re.compile(r"\s*-----BEGIN PGP MESSAGE-----\s")


def without_files(text: str) -> tuple[str, list[str]]:
    """The text, and the names of the files that stood in it."""
    names: list[str] = []

    def noted(file: re.Match[str]) -> str:
        names.append(file[1])
        return ""

    return _FILE.sub(noted, text), names


def without_signature(text: str) -> str:
    """The cleartext of RFC 9580's cleartext signatures; any other text as it is."""
    if "-----BEGIN PGP SIGNED MESSAGE-----" not in text:
        return text
    return _SIGNED.sub(lambda signed: _ESCAPED.sub("", signed["text"]), text.replace("\r\n", "\n"))


def is_encrypted(text: str) -> bool:
    return _ENCRYPTED.match(text) is not None
