"""Starting, stopping and starting again."""

from __future__ import annotations

import re
import signal
import socket

import pytest

from infra.local import handbook, processes
from tests.e2e.conftest import LocalCloud, command_after, paste

pytestmark = pytest.mark.usefixtures("keyless")


def _processes(cloud: LocalCloud) -> list[int]:
    """Everything that runs for this cloud: each such process has the folder in its command line."""
    return processes.marked(str(cloud.folder))


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_printed_lines_work_when_pasted(cloud: LocalCloud) -> None:
    answer = paste(command_after(cloud.printed, "Ask:"))
    assert '"citations"' in answer

    uploaded = paste(command_after(cloud.printed, "Upload a file"))
    assert "upload:" in uploaded
    cloud.eventually(
        lambda: (cloud.api.document("CONTRIBUTING.md") or {}).get("status") == "READY", "the file is ready"
    )
    assert '"READY"' in paste(command_after(cloud.printed, "See what became of it"))


def test_up_again_while_running_changes_nothing(cloud: LocalCloud) -> None:
    stack, running = cloud.stack, _processes(cloud)

    printed = cloud.up()

    assert cloud.stack == stack
    assert "The stack is deployed as it should be." in printed
    assert re.search(r"\b0 of them new or changed", printed)
    assert set(running) <= set(_processes(cloud))


def test_reindexing_looks_at_everything_and_embeds_nothing(cloud: LocalCloud) -> None:
    before = cloud.api.document("handbook/expenses.md")
    # A key that XML can't hold as it is, and one whose object is gone.
    bell = "e2e/a\x07bell & <more> 100%.md"
    cloud.settled(bell, version=cloud.upload(bell, "# Bell\n\nThe bell rings at dawn."))
    cloud.settled("e2e/gone.md", version=cloud.upload("e2e/gone.md", "# Gone\n\nThis one is deleted."))
    cloud.aws.s3.delete_object(Bucket=cloud.stack.bucket, Key="e2e/gone.md")

    done = cloud.run("reindex")

    assert done.returncode == 0, done.stderr
    looked_at = re.search(r"^(\d+) keys were looked at", done.stdout, re.MULTILINE)
    assert looked_at is not None
    assert int(looked_at[1]) > len(list(handbook.pages()))
    after, rung = cloud.api.document("handbook/expenses.md"), cloud.api.document(bell)
    assert before is not None
    assert after is not None
    assert rung is not None
    assert (after["result"], after["embedded"], after["version"]) == ("UNCHANGED", 0, before["version"])
    assert (rung["result"], rung["embedded"]) == ("UNCHANGED", 0)
    assert cloud.api.document("e2e/gone.md") is None


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
