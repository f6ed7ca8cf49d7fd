"""Synthesises the stack once for each choice of options that the tests look at, with bundles that hold nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.bundling import FUNCTIONS, Bundle, Bundles
from infra.options import EmbedderChoice, Options, RerankerChoice
from tests.infra.templates import Template

if TYPE_CHECKING:
    from aws_cdk import App

ROOT = Path(__file__).parents[2]

RULES_ARE_REPORTED = {"@aws-cdk/core:failSynthOnValidationErrors": False}
"""Context of an app whose synth goes on over a broken rule, so that a test can say which ones there are."""

Synthesise = Callable[[Options], Template]
SynthesiseInto = Callable[..., Template]


@pytest.fixture(scope="session")
def synthesise_into() -> Iterator[SynthesiseInto]:
    """Makes the template of some options in a folder, anew each time, with bundles of one file with ``content``.

    The bundle that ``changed`` names, such as ``functions/ask``, has another digest than it has otherwise.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")  # half of synth's time; cfn-lint is a test of its own
        import aws_cdk

        from infra.stack import CitewellStack

        context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"] | RULES_ARE_REPORTED

        def make(folder: Path, options: Options, *, content: str = "", changed: str | None = None) -> Template:
            app = aws_cdk.App(context=context, outdir=str(folder / "cdk.out"), analytics_reporting=False)
            stack = CitewellStack(
                app, "Citewell", options=options, bundles=bundles_of(options, folder, content=content, changed=changed)
            )
            check_rules(app)
            path = Path(app.synth().get_stack_by_name(stack.stack_name).template_full_path)
            return Template(path, options=options, violations=violations(path.parent))

        yield make


@pytest.fixture(scope="session")
def synthesise(synthesise_into: SynthesiseInto, tmp_path_factory: pytest.TempPathFactory) -> Synthesise:
    """Makes the template of some options; the same options again cost nothing."""
    return cache(lambda options: synthesise_into(tmp_path_factory.mktemp("synth"), options))


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


def bundles_of(options: Options, folder: Path, *, content: str = "", changed: str | None = None) -> Bundles:
    """Those that ``options`` need. A digest follows from the name alone, but for the one that ``changed`` names."""
    embedder, reranker = options.embedder is EmbedderChoice.LOCAL, options.reranker is RerankerChoice.LOCAL

    def bundle(name: str) -> Bundle:
        path = folder / name
        path.mkdir(parents=True)
        (path / "content").write_text(content, encoding="utf-8")
        return Bundle(path, digest=f"{'another ' if name == changed else ''}digest of {name}", size=0)

    layers = ["core", "dependencies", "parsers"]
    layers += ["inference"] if embedder or reranker else []
    layers += ["embedder", "tokenizer"] if embedder else []
    layers += ["reranker"] if reranker else []
    chosen = {"embed": embedder, "rerank": reranker}
    functions = [name for name in FUNCTIONS if chosen.get(name, True)]
    return Bundles(
        layers={name: bundle(f"layers/{name}") for name in layers},
        functions={name: bundle(f"functions/{name}") for name in functions},
    )
