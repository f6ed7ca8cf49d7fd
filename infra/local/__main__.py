"""``python -m infra.local up [--secure] | down | reindex | status | token | destroy``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from infra.local import commands
from infra.local.errors import LocalCloudError
from infra.local.state import DEFAULT_FOLDER, State


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="This machine as a cloud.")
    parser.add_argument("command", choices=["up", "down", "reindex", "status", "token", "destroy"])
    parser.add_argument("--state", type=Path, default=DEFAULT_FOLDER, help="its folder (default: .local)")
    parser.add_argument(
        "--secure", action="store_true", help="with up: IAM enforced, everything over TLS, tokens for the API"
    )
    given = parser.parse_args(arguments)
    state = State(given.state)
    try:
        match given.command:
            case "up":
                commands.up(state, os.environ, secure=given.secure)
            case "down":
                commands.down(state)
            case "reindex":
                commands.reindex_all(state)
            case "status":
                commands.status(state)
            case "token":
                commands.print_token(state)
            case "destroy":
                commands.destroy(state)
    except LocalCloudError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"\nThe AWS emulator did not do its part: {error}\nLog: {state.emulator_log}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. What was started goes on: make up continues, make down stops it.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
