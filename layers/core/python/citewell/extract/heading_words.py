"""What a line says that looks like a heading and is none, in documents that have headings by their look only."""

from __future__ import annotations

import re

SENTENCE_END = (".", ",", ";", "!")
AMOUNT = re.compile(
    r".*(?::\s*[-+€$£¥]?\s?\d[\d.,'\s/-]*\S{0,3}|\d[.,]\d\d\s?(?:[A-Z]{3}|[€$£¥])|[€$£¥]\s?\d[\d.,']*)\s*"
)
"""Words that end in a sum or a figure, as a line of an invoice does."""
