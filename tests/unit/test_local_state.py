from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from infra.local.errors import BusyError
from infra.local.state import Cloud, Deployment, Stack, State


def test_the_stack_file_holds_what_is_promised_to_other_programs(tmp_path: Path) -> None:
    stack = Stack(api_url="http://127.0.0.1:1/api", bucket="docs", endpoint_url="http://127.0.0.1:1")
    State(tmp_path / "new").save_stack(stack)

    assert json.loads((tmp_path / "new/stack.json").read_text()) == {
        "api_url": "http://127.0.0.1:1/api",
        "bucket": "docs",
        "endpoint_url": "http://127.0.0.1:1",
        "region": "us-east-1",
        "access_key_id": "local",
        "secret_access_key": "local",
        "token": None,
        "ca_bundle": None,
    }
    assert State(tmp_path / "new").stack() == stack


def test_the_password_is_the_owners_alone(tmp_path: Path) -> None:
    cloud = Cloud(emulator_port=1, postgres_port=2, postgres_password="secret")
    State(tmp_path).save_cloud(cloud)

    assert stat.S_IMODE((tmp_path / "cloud.json").stat().st_mode) == 0o600
    assert State(tmp_path).cloud() == cloud


def test_a_cloud_of_an_older_release_keeps_its_ports_and_its_database(tmp_path: Path) -> None:
    (tmp_path / "cloud.json").write_text('{"emulator_port": 1, "postgres_port": 2, "postgres_password": "secret"}')

    cloud = State(tmp_path).cloud()

    assert cloud is not None
    assert (cloud.emulator_port, cloud.postgres_port, cloud.postgres_password) == (1, 2, "secret")
    assert not cloud.secure


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"digest": "x"}'], ids=["empty", "cut off", "list", "field missing"]
)
def test_a_file_that_is_not_whole_counts_as_missing(tmp_path: Path, content: str) -> None:
    (tmp_path / "deployed.json").write_text(content)

    assert State(tmp_path).deployment() is None


def test_what_was_forgotten_is_gone(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.save_deployment(Deployment(digest="d", emulator=1, outputs={}))
    state.forget_deployment()
    state.forget_deployment()

    assert state.deployment() is None


def test_two_commands_do_not_work_on_one_folder_at_once(tmp_path: Path) -> None:
    with State(tmp_path).alone():
        with pytest.raises(BusyError, match="Another command is at work"), State(tmp_path).alone():
            pass
        with State(tmp_path / "other").alone():
            pass
    with State(tmp_path).alone():
        pass
