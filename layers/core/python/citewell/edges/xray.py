"""Tells AWS X-Ray what happened within an invocation: a datagram a step, to the daemon that Lambda runs beside a traced
function.

It speaks the daemon's protocol itself. The X-Ray SDK, on which Powertools' Tracer stands, is in maintenance since
February 2026 and costs each cold start more than everything else that a question needs; only a deployment that is
traced loads this.

Sources: https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html and
https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence

_HEADER = json.dumps({"format": "json", "version": 1})

Annotations = Mapping[str, str | float | bool]
"""What traces can be searched by. Names are letters, digits and underscores."""


class XRay:
    """``trace`` gives the invocation's trace header, such as ``Root=1-...;Parent=...;Sampled=1``; ``daemon`` is the
    ``host:port`` that datagrams are sent to."""

    def __init__(self, *, trace: Callable[[], str], daemon: str, clock: Callable[[], float] = time.time) -> None:
        self._trace = trace
        host, _, port = daemon.rpartition(":")
        self._daemon = (host, int(port))
        self._clock = clock
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def close(self) -> None:
        self._socket.close()

    def record(self, steps: Sequence[tuple[str, float]], annotations: Annotations) -> None:
        """Send steps that followed one another and have just ended, by their names and seconds.

        Does nothing where the invocation isn't sampled. What is lost on its way is lost: no answer waits for it.
        """
        trace = dict(part.split("=", 1) for part in self._trace().split(";") if "=" in part)
        if trace.get("Sampled") != "1" or not trace.keys() >= {"Root", "Parent"}:
            return
        ends = self._clock()
        for name, seconds in reversed(steps):
            began = ends - seconds
            self._send(
                {
                    "type": "subsegment",
                    "name": name,
                    "id": secrets.token_hex(8),
                    "trace_id": trace["Root"],
                    "parent_id": trace["Parent"],
                    "start_time": began,
                    "end_time": ends,
                    "annotations": dict(annotations),
                }
            )
            ends = began

    def _send(self, segment: Mapping[str, object]) -> None:
        try:
            self._socket.sendto(f"{_HEADER}\n{json.dumps(segment)}".encode(), self._daemon)
        except OSError:
            return
