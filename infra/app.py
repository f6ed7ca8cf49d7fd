"""The CDK app: ``.venv/bin/python -m infra.app``, which ``cdk.json`` makes the ``cdk`` command run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

from infra.bundling import BundlingError, build
from infra.context import LOOPBACK
from infra.lockfile import LockError
from infra.model import ModelError
from infra.options import EmbedderChoice, OptionError, Options, RerankerChoice, Target

STACK_NAME = "Citewell"


def main() -> int:
    from aws_cdk import App

    from infra.stack import CitewellStack

    app = App(analytics_reporting=False)
    try:
        options = Options.from_context(app.node.get_all_context())
        check_destination(options, os.environ)
        bundles = build(
            options.target,
            local_embedder=options.embedder is EmbedderChoice.LOCAL,
            local_reranker=options.reranker is RerankerChoice.LOCAL,
        )
    except (OptionError, BundlingError, LockError, ModelError) as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    CitewellStack(app, STACK_NAME, options=options, bundles=bundles)
    app.synth()
    return 0


def check_destination(options: Options, environment: Mapping[str, str]) -> None:
    """Raises OptionError for a local stack unless the ``cdk`` command, whose ``environment`` this is, takes a server on
    this machine for AWS: in an account such a stack could have an API that asks nobody who they are."""
    if options.target is Target.LOCAL and urlsplit(environment.get("AWS_ENDPOINT_URL", "")).hostname not in LOOPBACK:
        raise OptionError("target=local is for the cloud on this machine, which `make up` deploys to: leave it out")


if __name__ == "__main__":
    sys.exit(main())
