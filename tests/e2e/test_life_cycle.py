"""Starting, stopping and starting again."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess

import pytest

from infra.local import processes
from infra.local.state import ROOT
from tests.e2e.conftest import LocalCloud

pytestmark = pytest.mark.usefixtures("keyless")


def _processes(cloud: LocalCloud) -> list[int]:
    """Everything that runs for this cloud: each such process has the folder in its command line."""
    return processes.marked(str(cloud.folder))


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _command_after(printed: str, heading: str) -> str:
    following = printed.split(heading, 1)[1].splitlines()[1]
    assert following.startswith("  ")
    return following.strip()


def _paste(command: str) -> str:
    """The output of a line pasted into a new shell in the repo's folder, with nothing set up for it."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_printed_lines_work_when_pasted(cloud: LocalCloud) -> None:
    answer = _paste(_command_after(cloud.printed, "Ask:"))
    assert '"citations"' in answer

    uploaded = _paste(_command_after(cloud.printed, "Upload a file"))
    assert "upload:" in uploaded
    cloud.eventually(lambda: (cloud.api.document("README.md") or {}).get("status") == "READY", "README.md is ready")
    assert '"READY"' in _paste(_command_after(cloud.printed, "See what became of it"))
    # The README quotes an off-topic question: with it in the index, that question isn't off-topic for later tests.
    cloud.aws.s3.delete_object(Bucket=cloud.stack.bucket, Key="README.md")
    cloud.eventually(lambda: cloud.api.document("README.md") is None, "README.md is gone")


def test_up_again_while_running_changes_nothing(cloud: LocalCloud) -> None:
    stack, running = cloud.stack, _processes(cloud)

    printed = cloud.up()

    assert cloud.stack == stack
    assert "The stack is deployed as it should be." in printed
    assert re.search(r"\b0 of them new or changed", printed)
    assert set(running) <= set(_processes(cloud))


def test_reindexing_looks_at_everything_and_embeds_nothing(cloud: LocalCloud) -> None:
    before = cloud.api.document("handbook/expenses.md")

    done = cloud.run("reindex")

    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ keys were looked at", done.stdout, re.MULTILINE)
    after = cloud.api.document("handbook/expenses.md")
    assert before is not None
    assert after is not None
    assert (after["result"], after["embedded"], after["version"]) == ("UNCHANGED", 0, before["version"])


def test_down_leaves_no_process_and_no_port_and_up_finds_bucket_and_index_again(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/kept.md", "# Kept\n\nThe albatross archive is kept in vault nineteen.")
    cloud.settled("e2e/kept.md", version=version)
    settings = cloud.state.cloud()
    assert settings is not None
    stack = cloud.stack

    first, second = cloud.run("down"), cloud.run("down")

    assert (first.returncode, second.returncode) == (0, 0), f"{first.stderr}{second.stderr}"
    assert "Nothing was running." in second.stdout
    assert _processes(cloud) == []
    assert not _is_open(settings.emulator_port)
    assert not _is_open(settings.postgres_port)
    cloud.up()
    assert cloud.stack == stack
    document = cloud.settled("e2e/kept.md", version=version)
    assert (document["status"], document["result"], document["embedded"]) == ("READY", "UNCHANGED", 0)
    assert "nineteen" in cloud.api.ask("In which vault is the albatross archive kept?")["answer"]


def test_up_recovers_when_everything_was_killed(cloud: LocalCloud) -> None:
    version = cloud.upload("e2e/survivor.md", "# Survivor\n\nThe cormorant ledger survives in cabinet seven.")
    stack = cloud.stack
    processes.end(_processes(cloud), how=signal.SIGKILL)
    assert processes.wait_until(lambda: not _processes(cloud), seconds=30)

    cloud.up()

    # Whether or not ingest had come to it before the end.
    assert cloud.settled("e2e/survivor.md", version=version)["status"] == "READY"
    assert cloud.stack == stack
    kept = cloud.api.document("handbook/expenses.md")
    assert kept is not None
    assert (kept["result"], kept["embedded"]) == ("UNCHANGED", 0)
