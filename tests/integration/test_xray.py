"""What X-Ray's daemon is sent, read from a socket of our own."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from citewell.edges.xray import XRay
from citewell.settings import trace_header, xray_daemon

SAMPLED = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:2:3"
NOW = 1_700_000_000.0

Segment = dict[str, Any]


@pytest.fixture
def daemon() -> Iterator[socket.socket]:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(10)
        yield listening


@pytest.fixture
def xray(daemon: socket.socket) -> Iterator[Callable[[str], XRay]]:
    opened: list[XRay] = []

    def make(trace: str) -> XRay:
        host, port = daemon.getsockname()
        opened.append(XRay(trace=lambda: trace, daemon=f"{host}:{port}", clock=lambda: NOW))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def received(daemon: socket.socket) -> Segment:
    header, _, segment = daemon.recv(65_536).partition(b"\n")
    assert json.loads(header) == {"format": "json", "version": 1}
    return dict(json.loads(segment))


def test_steps_are_laid_end_to_end_and_end_now(daemon: socket.socket, xray: Callable[[str], XRay]) -> None:
    xray(SAMPLED).record([("search", 0.25), ("model", 2.0)], {"correlation_id": "r-1", "refused": False})
    model, search = received(daemon), received(daemon)
    assert (search["name"], search["start_time"], search["end_time"]) == ("search", NOW - 2.25, NOW - 2.0)
    assert (model["name"], model["start_time"], model["end_time"]) == ("model", NOW - 2.0, NOW)
    for segment in (model, search):
        assert segment["type"] == "subsegment"
        assert segment["trace_id"] == "1-5759e988-bd862e3fe1be46a994272793"
        assert segment["parent_id"] == "53995c3f42cd8ad8"
        assert segment["annotations"] == {"correlation_id": "r-1", "refused": False}
        assert int(segment["id"], 16) >= 0
        assert len(segment["id"]) == 16
    assert model["id"] != search["id"]


@pytest.mark.parametrize(
    "trace", ["", "nonsense", "Root=1-2-3;Parent=4;Sampled=0", "Root=1-2-3;Sampled=1", "Sampled=1"]
)
def test_what_is_not_sampled_is_not_sent(trace: str, daemon: socket.socket, xray: Callable[[str], XRay]) -> None:
    xray(trace).record([("search", 0.25)], {})
    xray(SAMPLED).record([("the first to come", 0.25)], {})
    assert received(daemon)["name"] == "the first to come"


def test_a_step_that_cannot_be_sent_is_lost_and_nothing_else(xray: Callable[[str], XRay]) -> None:
    xray(SAMPLED).record([("search", 0.25)], {"larger than any datagram": "x" * 100_000})
    broken = xray(SAMPLED)
    broken.close()
    broken.record([("search", 0.25)], {})


def test_lambda_says_where_the_daemon_is_and_which_trace_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_XRAY_DAEMON_ADDRESS", raising=False)
    assert (trace_header(), xray_daemon()) == ("", "127.0.0.1:2000")
    monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", "169.254.79.129:2000")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", SAMPLED)
    assert (trace_header(), xray_daemon()) == (SAMPLED, "169.254.79.129:2000")
