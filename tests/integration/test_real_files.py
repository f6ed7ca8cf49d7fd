"""Real files, as ingest reads them, held against what a person sees in them; left out where the files aren't there."""

from __future__ import annotations

import json
from pathlib import Path

from eval.__main__ import main
from tests.conftest import SHARED_DATA

MANIFEST = SHARED_DATA / "files/manifest.jsonl"
if MANIFEST.is_file():

    def test_what_a_person_sees_in_real_files_is_read(tmp_path: Path) -> None:
        report = tmp_path / "report.json"
        assert main(["files", str(MANIFEST), "--json", str(report)]) == 0, "97% of the expectations hold"
        read = json.loads(report.read_text(encoding="utf-8"))
        assert {each["file"] for each in read["files"] if each["code"] is each["characters"] is None} == set()
        assert {each["code"] for each in read["files"]} & {"parser_crashed", "too_slow"} == set()
