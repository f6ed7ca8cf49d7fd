"""Read real files and say which of the expectations about them hold; ends with 1 when too few do.

They are read as ingest reads them: in a process of their own, within the limits of the CITEWELL_EXTRACT_ settings. The
share that must hold is of the expectations that don't name in `needs` what only a better extractor gives; those that do
are counted apart. No database is needed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from citewell.core.values import ExtractedText
from citewell.settings import Settings
from citewell.wiring import Wiring
from eval.dataset import DatasetError
from eval.extraction import ExpectedFile, Judgement, Reading, judge, read, read_manifest
from eval.tables import table

AT_LEAST = 0.97


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="a JSON Lines file beside the files it names")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="files whose name holds it")
    parser.add_argument(
        "--at-least", type=float, default=AT_LEAST, metavar="SHARE", help=f"that must hold; default: {AT_LEAST}"
    )
    parser.add_argument("--ocr", action="store_true", help="with Tesseract, which has to be installed")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write figures, readings and misses there")


def main(options: argparse.Namespace) -> int:
    files = [each for each in read_manifest(options.manifest) if options.only in each.name]
    if not files:
        raise DatasetError(f"{options.manifest} names no file with {options.only!r} in its name")
    extract = _extractor(ocr=options.ocr)
    readings = [read(file.data, extract) for file in files]
    judgements = [
        judgement
        for file, reading in zip(files, readings, strict=True)
        for judgement in judge(file, reading, ocr=options.ocr)
    ]
    figures = _figures(judgements)
    print(_by_file(files, readings, judgements), end="\n\n")
    for each in judgements:
        if each.missed:
            print(f"missed: {each.file}: {_shown(each)}: {each.missed}")
    print(_summary(figures, sum(each.seconds for each in readings)))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(_report(figures, files, readings, judgements), encoding="utf-8")
    return 0 if figures["share"] >= options.at_least else 1


def _extractor(*, ocr: bool) -> Callable[[bytes], ExtractedText]:
    settings = Settings.from_environment()
    if ocr:
        settings = dataclasses.replace(settings, ocr="tesseract")
    extractor = Wiring(settings).extractor
    # A first document, so that what it takes to start the process isn't counted as the first file's time.
    extractor.extract(b"ready", content_type=None, seconds=float("inf"))
    return lambda data: extractor.extract(data, content_type=None, seconds=float("inf"))


def _figures(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Counts; ``share`` is 1 where there is nothing that must hold."""
    plain = [each for each in judgements if each.needs is None]
    met = sum(each.missed is None for each in plain)
    return {
        "expectations": len(plain),
        "met": met,
        "share": met / len(plain) if plain else 1.0,
        "needs": {
            needs: {
                "expectations": sum(each.needs == needs for each in judgements),
                "met": sum(each.needs == needs and each.missed is None for each in judgements),
            }
            for needs in sorted({each.needs for each in judgements if each.needs})
        },
    }


def _by_file(files: Sequence[ExpectedFile], readings: Sequence[Reading], judgements: Sequence[Judgement]) -> str:
    rows = []
    for file, reading in zip(files, readings, strict=True):
        own = [each for each in judgements if each.file == file.name]
        ended = f"{len(reading.extracted.text)} characters" if reading.extracted else reading.code or "FAILED"
        rows.append(
            [file.name, f"{sum(not each.missed for each in own)}/{len(own)}", f"{reading.seconds:.2f} s", ended]
        )
    return table(["", "met", "time", ""], rows)


def _shown(judgement: Judgement) -> str:
    return judgement.expectation + (f" (needs {judgement.needs})" if judgement.needs else "")


def _summary(figures: dict[str, Any], seconds: float) -> str:
    line = f"files: {figures['met']} of {figures['expectations']} expectations met ({figures['share']:.1%})"
    apart = [f"{needs} {each['met']} of {each['expectations']}" for needs, each in figures["needs"].items()]
    return f"{line}; apart: {', '.join(apart) or 'none'}; {seconds:.1f} s"


def _report(
    figures: dict[str, Any],
    files: Sequence[ExpectedFile],
    readings: Sequence[Reading],
    judgements: Sequence[Judgement],
) -> str:
    values = {
        **figures,
        "files": [
            {
                "file": file.name,
                "seconds": round(reading.seconds, 3),
                "code": reading.code,
                "characters": len(reading.extracted.text) if reading.extracted else None,
                "expectations": [
                    {"expectation": each.expectation, "needs": each.needs, "missed": each.missed}
                    for each in judgements
                    if each.file == file.name
                ],
            }
            for file, reading in zip(files, readings, strict=True)
        ],
    }
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"
