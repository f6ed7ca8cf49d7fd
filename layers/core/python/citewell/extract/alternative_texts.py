"""What a picture shows, where its author wrote that down for those who can't see it.

As in HTML, texts that say nothing are left out: file names, the kind of thing it is, what a program thought up.
"""

from __future__ import annotations

import re

from citewell.extract.building import clean_line

_FILE_NAME = re.compile(r".+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|avif|heic|emf|wmf|eps|pdf)", re.IGNORECASE)
_SAYS_NOTHING = re.compile(
    r"""(?: image | img | picture | photo(?:graph)? | logo | icon | banner | avatar | spacer | thumbnail | screen\ ?shot
        | figure | graphic | arrow | bullet | chart | diagram | object | shape | group | text\ ?box | table | line
        | grafik | bild | abbildung | diagramm | objekt | gruppe | imagen | immagine | imagem | afbeelding )
        [\s_-]* \d*""",
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
    for text in texts:
        line = clean_line(text or "")
        if line and not (_FILE_NAME.fullmatch(line) or _SAYS_NOTHING.fullmatch(line) or _MADE_UP.search(line)):
            return f"[Picture: {line}]"
    return ""
