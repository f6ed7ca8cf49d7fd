"""The launcher replaces names private to one release of the emulator: here a new release that moved them is caught."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from infra.local import launcher


def test_the_installed_emulator_has_every_name_that_the_launcher_replaces() -> None:
    checked = subprocess.run(
        [sys.executable, "-P", launcher.__file__, "--check"], capture_output=True, text=True, check=False, timeout=120
    )

    assert checked.stderr == ""
    assert checked.returncode == 0


def test_the_launcher_was_written_for_the_release_that_is_locked() -> None:
    assert version("ministack") == launcher.WRITTEN_FOR


def test_a_missing_name_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(launcher.PRIVATE_NAMES, "ministack.core.responses", ("get_account_id", "_moved_elsewhere"))

    with pytest.raises(SystemExit, match=r"lacks what .*: ministack\.core\.responses\._moved_elsewhere$"):
        launcher.check()
