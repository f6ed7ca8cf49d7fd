"""One way to make AWS clients: explicit time-outs, bounded retries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from botocore.config import Config

CONNECT_SECONDS = 3.0


def client_config(
    *, read_timeout: float, connect_timeout: float = CONNECT_SECONDS, attempts: int = 4, **options: Any
) -> Config:
    """Time-outs in seconds. ``attempts`` counts the first call too; waits between them have jitter."""
    from botocore.config import Config

    return Config(
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        retries={"total_max_attempts": attempts, "mode": "standard"},
        **options,
    )
