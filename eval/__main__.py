"""Measure retrieval: run a set, compare two runs, fit the refusal, draw a report, fail a build that got worse.

`files` measures extraction.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from citewell.errors import CitewellError
from eval.commands import calibrate, compare, files, gate, knobs, reference, report, run
from eval.dataset import DatasetError
from eval.runs import RunError

COMMANDS = {
    "run": run,
    "calibrate": calibrate,
    "compare": compare,
    "files": files,
    "gate": gate,
    "knobs": knobs,
    "reference": reference,
    "report": report,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        said = (module.__doc__ or "").strip()
        module.add_arguments(commands.add_parser(name, help=said.splitlines()[0], description=said))
    options = parser.parse_args(arguments)
    try:
        return int(COMMANDS[options.command].main(options))
    except (CitewellError, DatasetError, RunError) as error:
        print(f"eval: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
