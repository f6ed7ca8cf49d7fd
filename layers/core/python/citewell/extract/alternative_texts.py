"""What a picture shows, where its author wrote that down for those who can't see it.

Texts that say nothing are left out: file names, the kind of thing it is, what a program thought up.
"""

from __future__ import annotations

import re

from citewell.extract.building import clean_line

_FILE_NAME = re.compile(r".+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|avif|heic|emf|wmf|eps)|\S+\.pdf", re.IGNORECASE)
_PLACE = re.compile(
    r"[\w()-]{2,}_[\w()-]{2,}|(?:fig|tab|img|pic|dsc[nf]?|scan)[-.]?\d+|M[CP]j\d+\S*|https?://\S+", re.I
)
"""A file's name without its ending, or the address where the picture was found."""

_SAYS_NOTHING = re.compile(
    r"""(?: image | img | picture | photo(?:graph)? | logo | icon | banner | avatar | spacer | thumbnail | screen\ ?shot
        | figure | graphics? | formula | arrow | bullet | chart | diagram | (?:ole[ -])?obje[ck]t | shape | group
        | text\ ?box | table | line
        | grafik | formel | bild | abbildung | diagramm | gruppe | fórmula | decorative\ elements?
        | imagen | immagine | imagem | afbeelding )
        [\s_-]* \d* | \d+""",
    re.IGNORECASE | re.VERBOSE,
)
_MADE_UP = re.compile(
    r"with solid fill$|description automatically generated|AI-generated content may be incorrect"
    r"|automatisch generierte beschreibung"
    r"|description générée automatiquement|descripción generada automáticamente|descrizione generata automaticamente"
    r"|descrição gerada automaticamente|automatisch gegenereerde beschrijving",
    re.IGNORECASE,
)


def picture_line(*texts: str | None) -> str:
    """``[Picture: ...]`` with the first of ``texts`` that says something; empty where none does."""
    said = next(filter(None, map(what_is_said, texts)), "")
    return f"[Picture: {said}]" if said else ""


def what_is_said(text: str | None) -> str:
    """``text`` on one line; empty where it says nothing."""
    line = clean_line(text or "")
    says_nothing = (
        _FILE_NAME.fullmatch(line) or _PLACE.fullmatch(line) or _SAYS_NOTHING.fullmatch(line) or _MADE_UP.search(line)
    )
    return "" if says_nothing else line
