"""The CDK app: ``.venv/bin/python -m infra.app``, which ``cdk.json`` makes the ``cdk`` command run."""

from __future__ import annotations

import sys

from infra.bundling import BundlingError, build
from infra.lockfile import LockError
from infra.model import ModelError
from infra.options import EmbedderChoice, OptionError, Options

STACK_NAME = "Citewell"


def main() -> int:
    from aws_cdk import App

    from infra.stack import CitewellStack

    app = App(analytics_reporting=False)
    try:
        options = Options.from_context(app.node.get_all_context())
        bundles = build(options.target, local_embedder=options.embedder is EmbedderChoice.LOCAL)
    except (OptionError, BundlingError, LockError, ModelError) as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    CitewellStack(app, STACK_NAME, options=options, bundles=bundles)
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
