"""Builds what the functions are deployed with, without Docker: ``python -m infra.bundling --target aws|local``.

``build/<target>/layers/<layer>`` and ``build/<target>/functions/<name>`` are what Lambda unpacks into ``/opt`` and
``/var/task``. Third-party code comes as wheels for the target's platform, pinned and hashed by ``requirements.lock``.
A bundle is named by the digest of everything that it is made from; while that digest stands, nothing is built again,
the asset keeps its hash, and an unchanged deploy changes nothing. A bundle appears complete or not at all.

Layers, apart by how often they change, so that an edit of citewell builds and uploads kilobytes:

- ``core``: citewell itself.
- ``dependencies``: what it imports, and the authorities of RDS's certificates. boto3 is in it, although Lambda has one:
  the version that was tested runs, and with the data of the services that are used alone it costs 4 MB instead of 25.
- ``parsers``: what reads documents other than text, for ingest alone, beside ``dependencies``.
- ``inference``: what runs a local model, for the functions embed and rerank, which need none of ``dependencies``.
- ``embedder``, ``reranker``: a local model each.
- ``tokenizer``: the local embedder's tokenizer, so that ingest counts tokens exactly, without the model's runtime.

The ``tokenizers`` wheel asks for a hub client that nothing here uses; it is taken without its dependencies.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from infra.bytecode import compile_tree, interpreter_for
from infra.lockfile import closure, declared, read_lock, requirements
from infra.model import EMBEDDER, RERANKER, Model, ensure_models
from infra.options import Target

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
LAMBDA_PYTHON = "3.13"
LAMBDA_LIMIT_BYTES = 250 * 1024 * 1024
"""Lambda's limit for a function and all its layers, unpacked."""

FUNCTIONS = ("ingest", "ask", "documents", "embed", "rerank", "migrate", "verify")
LAYERS_OF = {
    "ingest": ("core", "dependencies", "parsers", "tokenizer"),
    "ask": ("core", "dependencies"),
    "documents": ("core", "dependencies"),
    "embed": ("core", "inference", "embedder"),
    "rerank": ("core", "inference", "reranker"),
    "migrate": ("core", "dependencies"),
    "verify": ("core", "dependencies"),
}
"""With both local models; without the embedder there is neither an embed function nor a tokenizer, and without the
reranker no rerank function."""

MODEL_PATH = f"/opt/model/{EMBEDDER.folder.name}"
"""Where the layers' model folder stands in a function: the whole model in embed, its tokenizer in ingest."""

RERANKER_PATH = f"/opt/model/{RERANKER.folder.name}"
"""Where it stands in rerank."""

RDS_CA_PATH = "/opt/rds-ca/global-bundle.pem"
"""Where the functions that speak to the database find the authorities that may vouch for it."""

X86_FUNCTIONS = frozenset({"embed", "rerank"})  # onnxruntime crashes on arm64 Lambda (microsoft/onnxruntime#10038)
ANY_PLATFORM = "any"
AWS_SERVICES = ("bedrock-runtime", "lambda", "s3", "secretsmanager", "sqs", "sts")
"""The services that citewell makes boto3 clients for; botocore's data of all others is left out."""

_NO_SOURCES = ("__pycache__", ".*", "*.pyc", "*~")
"""Names of files and folders that tools leave among sources, and that a fresh checkout doesn't have."""

_INSTALL_SECONDS = 600.0
_EPOCH = 315_532_800  # 1980-01-01, the earliest time that a zip can hold


class BundlingError(Exception):
    """A bundle can't be built; the message says why."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one bundle is made from. Paths are relative to the bundle; trees are files or folders of the repo."""

    name: str
    platform: str
    distributions: frozenset[str] = frozenset()
    trees: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A built bundle: its folder, the digest of its inputs (64 hex digits), and its unpacked size in bytes."""

    path: Path
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Bundles:
    layers: Mapping[str, Bundle]
    functions: Mapping[str, Bundle]

    def unpacked_size(self, function: str) -> int:
        """Bytes that Lambda counts for ``function``: its own and those of its layers."""
        layers = (self.layers[layer] for layer in LAYERS_OF[function] if layer in self.layers)
        return self.functions[function].size + sum(layer.size for layer in layers)


def build(
    target: Target, *, local_embedder: bool, local_reranker: bool = False, root: Path = ROOT, output: Path = BUILD
) -> Bundles:
    """Bring every bundle of ``target`` up to date. Raises BundlingError, LockError or ModelError."""
    recipes = _recipes(target, root=root, embedder=local_embedder, reranker=local_reranker)
    folder = output / target
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        built = {recipe.name: _up_to_date(recipe, target, root=root, folder=folder) for recipe in recipes}

    def those_of(kind: str) -> dict[str, Bundle]:
        return {name.removeprefix(kind): each for name, each in built.items() if name.startswith(kind)}

    return Bundles(layers=those_of("layers/"), functions=those_of("functions/"))


def digests(target: Target, *, local_embedder: bool, local_reranker: bool = False, root: Path = ROOT) -> dict[str, str]:
    """The digest of each bundle as it would be built now (``layers/core``: 64 hex digits), without building any.

    The same from every checkout of the same state, on every machine that has ``target``'s Python or lacks it likewise.
    """
    recipes = _recipes(target, root=root, embedder=local_embedder, reranker=local_reranker)
    return {recipe.name: _inputs(recipe, target, root=root).digest for recipe in recipes}


def _recipes(target: Target, *, root: Path, embedder: bool, reranker: bool) -> list[Recipe]:
    absent = {name for name, chosen in (("embed", embedder), ("rerank", reranker)) if not chosen}
    functions = [name for name in FUNCTIONS if name not in absent]
    layers = _layer_recipes(target, root=root)
    if embedder or reranker:
        ensure_models(*([EMBEDDER] if embedder else []), *([RERANKER] if reranker else []))
        layers += _model_recipes(target, root=root, embedder=embedder, reranker=reranker)
    return [*layers, *(_function_recipe(name, root=root) for name in functions)]


def _layer_recipes(target: Target, *, root: Path) -> list[Recipe]:
    citewell = {"python/citewell": root / "layers" / "core" / "python" / "citewell"}
    authorities = {RDS_CA_PATH.removeprefix("/opt/"): root / "layers" / "core" / "rds-ca" / "global-bundle.pem"}
    lock = read_lock(root / "requirements.lock")
    dependencies = closure(lock, declared(root / "pyproject.toml"))
    parsers = closure(lock, declared(root / "pyproject.toml", extra="parsers")) - dependencies
    return [
        Recipe("layers/core", ANY_PLATFORM, trees=citewell),
        Recipe("layers/dependencies", _platform(target, "dependencies"), dependencies, authorities),
        Recipe("layers/parsers", _platform(target, "parsers"), parsers),
    ]


def _model_recipes(target: Target, *, root: Path, embedder: bool, reranker: bool) -> list[Recipe]:
    tokenizers = frozenset({"tokenizers"})
    lock = read_lock(root / "requirements.lock")
    runtime = closure(lock, set(declared(root / "pyproject.toml", extra="embedder")) - tokenizers)
    recipes = [Recipe("layers/inference", _platform(target, "inference"), runtime | tokenizers)]
    if embedder:
        recipes += [
            Recipe("layers/embedder", ANY_PLATFORM, trees={MODEL_PATH.removeprefix("/opt/"): EMBEDDER.folder}),
            Recipe("layers/tokenizer", _platform(target, "tokenizer"), tokenizers, _tokenizer_of(EMBEDDER)),
        ]
    if reranker:
        model = {RERANKER_PATH.removeprefix("/opt/"): RERANKER.folder}
        recipes.append(Recipe("layers/reranker", ANY_PLATFORM, trees=model))
    return recipes


def _tokenizer_of(model: Model) -> dict[str, Path]:
    kept = ("tokenizer.json", "NOTICE", "LICENSE")
    return {f"model/{model.folder.name}/{name}": model.folder / name for name in kept}


def _function_recipe(name: str, *, root: Path) -> Recipe:
    package = root / "functions"
    trees = {"functions/__init__.py": package / "__init__.py", f"functions/{name}": package / name}
    if name == "migrate":
        trees["migrations"] = root / "migrations"
    return Recipe(f"functions/{name}", ANY_PLATFORM, trees=trees)


def _platform(target: Target, layer: str) -> str:
    """The wheels to take, in uv's words. Lambda's python3.13 is Amazon Linux 2023, whose glibc is 2.34."""
    if target is Target.LOCAL:
        return f"{sys.platform}-{sys.implementation.cache_tag}"
    x86 = any(layer in LAYERS_OF[function] for function in X86_FUNCTIONS)
    return "x86_64-manylinux_2_28" if x86 else "aarch64-manylinux_2_28"


# --- one bundle ---


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What a recipe comes to: pinned wheels, the compiling Python if there is one, and the digest over everything."""

    wheels: str
    python: str
    interpreter: Path | None
    digest: str


def _inputs(recipe: Recipe, target: Target, *, root: Path) -> _Inputs:
    python = LAMBDA_PYTHON if target is Target.AWS else f"{sys.version_info.major}.{sys.version_info.minor}"
    interpreter = interpreter_for(python)
    wheels = requirements(read_lock(root / "requirements.lock"), recipe.distributions)
    digest = _digest(recipe, wheels=wheels, python=python, compiled=interpreter is not None)
    return _Inputs(wheels, python, interpreter, digest)


def _up_to_date(recipe: Recipe, target: Target, *, root: Path, folder: Path) -> Bundle:
    inputs = _inputs(recipe, target, root=root)
    destination = folder / recipe.name
    record = destination.with_name(f"{destination.name}.json")
    if (known := _recorded(record, destination)) and known.digest == inputs.digest:
        return known
    _say(f"bundling {target}/{recipe.name}")
    if inputs.interpreter is None:
        _say(f"no Python {inputs.python} here: {recipe.name} gets no compiled modules and starts more slowly")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as scratch:
        fresh = Path(scratch) / "bundle"
        fresh.mkdir()
        if inputs.wheels:
            _install(inputs.wheels, fresh / "python", recipe=recipe, target=target)
        for place, tree in recipe.trees.items():
            _copy(tree, fresh / place)
        _prune(fresh)
        if inputs.interpreter is not None:
            compile_tree(fresh, inputs.interpreter)
        _normalise(fresh)
        record.unlink(missing_ok=True)  # from here to its return the bundle counts as not built
        if destination.exists():
            destination.rename(Path(scratch) / "replaced")
        fresh.rename(destination)
    size = sum(path.stat().st_size for path in destination.rglob("*") if path.is_file())
    bundle = Bundle(destination, inputs.digest, size)
    record.write_text(json.dumps({"digest": bundle.digest, "size": bundle.size}) + "\n", encoding="utf-8")
    return bundle


def _recorded(record: Path, destination: Path) -> Bundle | None:
    try:
        known = json.loads(record.read_text(encoding="utf-8"))
        return Bundle(destination, str(known["digest"]), int(known["size"])) if destination.is_dir() else None
    except (OSError, ValueError, KeyError):
        return None


def _digest(recipe: Recipe, *, wheels: str, python: str, compiled: bool) -> str:
    """Over everything that decides the bundle's content, this module included."""
    digest = hashlib.sha256()

    def add(*parts: str | bytes) -> None:
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8, "big") + data)

    add(recipe.name, recipe.platform, python, str(compiled), wheels)
    for module in (Path(__file__), Path(__file__).with_name("bytecode.py")):
        add(module.read_bytes())
    for place, tree in sorted(recipe.trees.items()):
        if not tree.exists():
            raise BundlingError(f"{recipe.name} needs {tree}, which isn't there")
        for path in _sources(tree):
            add(f"{place}/{path.relative_to(tree).as_posix()}", path.read_bytes())
    return digest.hexdigest()


def _install(wheels: str, destination: Path, *, recipe: Recipe, target: Target) -> None:
    """Unpack exactly the pinned wheels; the list is complete, so nothing is resolved."""
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv) if uv.exists() else "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--link-mode", "copy", "--target", str(destination)]
    if target is Target.AWS:
        command += ["--python-platform", recipe.platform, "--python-version", LAMBDA_PYTHON]
    else:
        command += ["--python", sys.executable]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listing:
        listing.write(wheels)
        listing.flush()
        command += ["--requirement", listing.name]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
        except FileNotFoundError as error:
            raise BundlingError("uv isn't installed: run `make setup`") from error
        except subprocess.CalledProcessError as error:
            raise BundlingError(f"{recipe.name} can't be built:\n{error.stderr.strip()}") from error
        except subprocess.TimeoutExpired as error:
            raise BundlingError(f"{recipe.name} took longer than {_INSTALL_SECONDS:.0f} s to download") from error


def _copy(tree: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    if tree.is_dir():
        shutil.copytree(tree, destination, ignore=shutil.ignore_patterns(*_NO_SOURCES))
    else:
        shutil.copyfile(tree, destination)


def _prune(bundle: Path) -> None:
    """Remove what no function imports: tests, command-line scripts, type stubs, botocore's data of unused services."""
    folders = [path for path in bundle.rglob("*") if path.is_dir() and path.name in ("tests", "__pycache__")]
    folders.append(bundle / "python" / "bin")
    data = bundle / "python" / "botocore" / "data"
    if data.is_dir():
        folders += [path for path in data.iterdir() if path.is_dir() and path.name not in AWS_SERVICES]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for stub in [*bundle.rglob("*.pyi"), *bundle.rglob(".lock")]:
        stub.unlink()
    for record in bundle.rglob("*.dist-info/RECORD"):
        record.unlink()  # lists what was removed above


def _normalise(bundle: Path) -> None:
    """The same modes and times on every machine."""
    for path in sorted(bundle.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (_EPOCH, _EPOCH))


def _sources(tree: Path) -> list[Path]:
    """The files that ``_copy`` takes of ``tree`` (or the file itself), in the same order on every machine."""
    files = [tree] if tree.is_file() else [path for path in tree.rglob("*") if path.is_file()]

    def is_source(path: Path) -> bool:
        return not any(fnmatch(part, each) for part in path.relative_to(tree).parts for each in _NO_SOURCES)

    return sorted(filter(is_source, files))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One build of a target at a time: others wait for it, and then find it done."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def size_lines(bundles: Bundles) -> Iterator[str]:
    """For each function its architecture and its unpacked size against Lambda's limit."""
    for name in bundles.functions:
        size, architecture = bundles.unpacked_size(name), "x86_64" if name in X86_FUNCTIONS else "arm64"
        left = (LAMBDA_LIMIT_BYTES - size) / 2**20
        yield f"{name:<10} {architecture:<7} {size / 2**20:6.1f} of Lambda's 250 MB unpacked, {left:.1f} MB to spare"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.bundling", description="Build the functions' bundles.")
    parser.add_argument("--target", choices=list(Target), default=Target.AWS)
    parser.add_argument("--without-embedder", action="store_true", help="no local embedder (embedder=openai)")
    parser.add_argument("--with-reranker", action="store_true", help="the local reranker too (reranker=local)")
    given = parser.parse_args(arguments)
    bundles = build(Target(given.target), local_embedder=not given.without_embedder, local_reranker=given.with_reranker)
    sys.stdout.write("".join(f"{line}\n" for line in size_lines(bundles)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
