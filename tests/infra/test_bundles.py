"""The real bundles, as they are deployed: each function imports with its own bundle and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.extract.formats import Format
from infra.bundling import AWS_SERVICES, FUNCTIONS, LAMBDA_LIMIT_BYTES, LAYERS_OF, Bundles, build, size_lines
from infra.options import Target
from tests.conftest import say_at_last

# What a layer's path is on Lambda: its folder `python`. No site-packages, no environment.
_IMPORT = """
import importlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
handler = importlib.import_module(sys.argv[2]).handler
assert callable(handler)
origins = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
print(json.dumps(sorted(origins)))
"""

_CLIENTS = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import boto3
for service in json.loads(sys.argv[2]):
    boto3.client(service, region_name="us-east-1", aws_access_key_id="key", aws_secret_access_key="secret")
"""

_READERS = """
import importlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from citewell.edges.extractor_process import ExtractorProcess
from citewell.extract.formats import Format
from citewell.extract.options import Limits
from citewell.settings import child_environment
for each in Format:
    importlib.import_module(f"citewell.extract.{each}")
    print(each)
process = ExtractorProcess(limits=Limits(), seconds=60, memory_mb=512, environment=child_environment())
assert process.extract(b"# Leave", content_type=None, seconds=60).text == "# Leave"
process.close()
"""

_BEDROCK = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[1])
os.environ |= {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key"}
os.environ |= {"AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://127.0.0.1:9"}
from citewell.core.values import TextKind
from citewell.edges.bedrock_embedder import BedrockEmbedder
from citewell.edges.claude_access import Bedrock
from citewell.edges.claude_generator import ClaudeGenerator
from citewell.errors import Unavailable
for call in (
    lambda: ClaudeGenerator("anthropic.claude-haiku-4-5-20251001-v1:0", Bedrock()).check(seconds=120),
    lambda: BedrockEmbedder("amazon.titan-embed-text-v2:0", dimensions=256).embed(["text"], TextKind.QUERY),
):
    try:
        call()
    except Unavailable as error:
        print(error)
"""


@pytest.fixture(scope="module")
def local() -> Bundles:
    return build(Target.LOCAL, local_embedder=True, local_reranker=True)


@pytest.fixture(scope="module")
def aws(request: pytest.FixtureRequest) -> Bundles:
    bundles = build(Target.AWS, local_embedder=True, local_reranker=True)
    say_at_last(request.config, "bundles", size_lines(bundles))
    return bundles


def _path(bundles: Bundles, function: str) -> str:
    layers = [str(bundles.layers[layer].path / "python") for layer in LAYERS_OF[function]]
    return json.dumps([str(bundles.functions[function].path), *layers])


def _run(script: str, *arguments: str) -> str:
    command = [sys.executable, "-I", "-S", "-c", script, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd="/")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_imports_with_its_own_bundle_alone(function: str, local: Bundles) -> None:
    origins = json.loads(_run(_IMPORT, _path(local, function), f"functions.{function}.handler"))
    build_folder = str(local.functions[function].path.parents[1])
    outside = [each for each in origins if "site-packages" in each and not each.startswith(build_folder)]
    assert not outside


def test_the_clients_that_the_product_makes_have_their_data(local: Bundles) -> None:
    _run(_CLIENTS, _path(local, "ingest"), json.dumps(AWS_SERVICES))


def test_documents_of_every_kind_are_read_with_nothing_but_the_bundle(local: Bundles) -> None:
    assert _run(_READERS, _path(local, "ingest")).split() == [*Format]


def test_bedrock_is_called_with_nothing_but_the_bundle(local: Bundles) -> None:
    # Signed and sent, as far as a port goes that nobody listens at.
    assert _run(_BEDROCK, _path(local, "ask")).splitlines() == [
        "anthropic.claude-haiku-4-5-20251001-v1:0 did not answer: APIConnectionError",
        "amazon.titan-embed-text-v2:0 did not embed: EndpointConnectionError",
    ]


def test_the_model_stands_where_the_functions_are_told(local: Bundles) -> None:
    model = local.layers["embedder"].path / "model/bge-small-en-v1.5"
    reranker = local.layers["reranker"].path / "model/ms-marco-MiniLM-L-12-v2"
    tokenizer = local.layers["tokenizer"].path / "model/bge-small-en-v1.5"
    for whole in (model, reranker):
        assert {path.name for path in whole.iterdir()} == {"model.onnx", "tokenizer.json", "LICENSE", "NOTICE"}
    assert {path.name for path in tokenizer.iterdir()} == {"tokenizer.json", "LICENSE", "NOTICE"}


def test_every_function_fits_into_lambda(aws: Bundles) -> None:
    for function in FUNCTIONS:
        size = aws.unpacked_size(function)
        assert size < 0.9 * LAMBDA_LIMIT_BYTES, f"{function} is {size / 2**20:.0f} MB"


def test_native_code_is_for_the_architecture_of_its_function(aws: Bundles) -> None:
    machines = {"dependencies": 183, "parsers": 183, "tokenizer": 183, "inference": 62}  # ELF: EM_AARCH64, EM_X86_64
    for layer, machine in machines.items():
        libraries = list(_native(aws.layers[layer].path))
        assert libraries
        for library in libraries:
            header = library.read_bytes()[:20]
            assert int.from_bytes(header[18:20], "little") == machine, library


def test_layers_hold_no_hub_client_and_no_second_model_runtime(aws: Bundles) -> None:
    for layer in aws.layers.values():
        assert not (layer.path / "python/huggingface_hub").exists()
    assert not (aws.layers["dependencies"].path / "python/onnxruntime").exists()


def _native(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.so*") if path.is_file())
