"""Synthesises the stack once for each choice of options that the tests look at, with bundles that hold nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infra.bundling import FUNCTIONS, Bundle, Bundles
from infra.options import EmbedderChoice, Options
from tests.infra.templates import Template

ROOT = Path(__file__).parents[2]

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
                app = aws_cdk.App(context=flags, outdir=str(folder / "cdk.out"), analytics_reporting=False)
                stack = CitewellStack(app, "Citewell", options=options, bundles=_empty_bundles(folder, options))
                path = Path(app.synth().get_stack_by_name(stack.stack_name).template_full_path)
                known[options] = Template(path)
            return known[options]

        yield make


@pytest.fixture(scope="session")
def template(synthesise: Synthesise) -> Template:
    """The template of the default options."""
    return synthesise(Options())


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
