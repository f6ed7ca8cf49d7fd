"""Synthesises the stack once for each choice of options that the tests look at, with bundles that hold nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.bundling import FUNCTIONS, Bundle, Bundles
from infra.options import EmbedderChoice, Options
from tests.infra.templates import Template

if TYPE_CHECKING:
    from aws_cdk import App

ROOT = Path(__file__).parents[2]

RULES_ARE_REPORTED = {"@aws-cdk/core:failSynthOnValidationErrors": False}
"""Context of an app whose synth goes on over a broken rule, so that a test can say which ones there are."""

Synthesise = Callable[[Options], Template]


@pytest.fixture(scope="session")
def synthesise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synthesise]:
    """Makes the template of some options; the same options again cost nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")  # half of synth's time; cfn-lint is a test of its own
        import aws_cdk

        from infra.stack import CitewellStack

        flags = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
        known: dict[Options, Template] = {}

        def make(options: Options) -> Template:
            if options not in known:
                folder = tmp_path_factory.mktemp("synth")
                context = {**flags, **RULES_ARE_REPORTED}
                app = aws_cdk.App(context=context, outdir=str(folder / "cdk.out"), analytics_reporting=False)
                stack = CitewellStack(app, "Citewell", options=options, bundles=_empty_bundles(folder, options))
                check_rules(app)
                path = Path(app.synth().get_stack_by_name(stack.stack_name).template_full_path)
                known[options] = Template(path, options=options, violations=violations(path.parent))
            return known[options]

        yield make


@pytest.fixture(scope="session")
def template(synthesise: Synthesise) -> Template:
    """The template of the default options."""
    return synthesise(Options())


def check_rules(app: App) -> None:
    """Have cdk-nag look at the app when it is synthesised; see ``violations``."""
    from aws_cdk import Validations
    from cdk_nag import AwsSolutionsChecks

    Validations.of(app).add_plugins(AwsSolutionsChecks(app))


def violations(assembly: Path) -> list[str]:
    """Each rule that was found broken, with the construct that breaks it."""
    reports = json.loads((assembly / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    return [
        f"{violation['ruleName']} {construct['constructPath']}"
        for report in reports
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    ]


def _empty_bundles(folder: Path, options: Options) -> Bundles:
    local = options.embedder is EmbedderChoice.LOCAL

    def bundle(name: str) -> Bundle:
        path = folder / name
        path.mkdir(parents=True)
        (path / "empty").touch()
        return Bundle(path, digest=f"digest of {name}", size=0)

    layers = ("core", "dependencies", "embedder", "tokenizer") if local else ("core", "dependencies")
    functions = [name for name in FUNCTIONS if local or name != "embed"]
    return Bundles(
        layers={name: bundle(f"layers/{name}") for name in layers},
        functions={name: bundle(f"functions/{name}") for name in functions},
    )
