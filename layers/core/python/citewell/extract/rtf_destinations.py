"""Destinations of RTF: the control words that begin groups whose text goes elsewhere."""

from __future__ import annotations

RUNNING = frozenset({"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"})
"""Destinations of what stands at the head and foot of pages."""

SKIPPED = {
    *RUNNING,
    *("colortbl", "objdata", "objclass", "nonshppict", "shprslt", "datafield"),
    *("xe", "tc", "rxe", "txe", "bkmkstart", "bkmkend", "nonesttables", "pntxta", "pntxtb"),
    *("mmathPict", "moMathParaPr"),
}
"""Destinations whose text isn't part of what a reader sees, or stands there a second time."""

COLLECTED = {"listtext": "marker", "pntext": "marker", "atnauthor": "author", "title": "title"}
STARRED = {"shpinst", "moMath", "moMathPara", "nesttableprops", "annotation", "atnauthor", "shppict", "do"}
"""Destinations that an old reader may skip and this one reads; all others that begin with a star are skipped."""
