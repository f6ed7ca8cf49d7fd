"""How many tokens a text has, for embedders whose tokenizer isn't at hand."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"[A-Z]?[a-z]{1,4}"  # a word, or a piece of one
    r"|[A-Z]{1,2}"
    r"|[0-9]{1,2}"
    r"|\n\s*"  # byte-level tokenizers count line ends
    r"|[ \t]{8}"  # and long indents
    r"|[^\sA-Za-z0-9]"  # a sign, or a letter of any other script
)


def estimate_token_starts(text: str) -> list[int]:
    """Offsets (code points, ascending) at which tokens are taken to start: cautiously many.

    Against BERT's English WordPiece this counts 1.1 to 1.5 times the tokens on prose, Markdown, tables and code in
    Latin scripts, and one a character elsewhere, which is WordPiece's own upper bound there. Byte-level BPE needs
    up to about 1.3 tokens for a Chinese character; the models that use it allow texts far longer than a chunk.
    """
    return [match.start() for match in _TOKEN.finditer(text)]
