"""What a process doesn't load it doesn't pay for, at each cold start. ``make bench`` measures what that comes to."""

from __future__ import annotations

import subprocess
import sys

import pytest

CLIENTS = {"anthropic", "boto3", "botocore.session", "httpx", "psycopg", "pydantic"}
PARSERS = {"markdown_it", "charset_normalizer"}
MODEL = {"numpy", "onnxruntime", "tokenizers"}
TRACING = {"aws_xray_sdk", "citewell.edges.xray"}
RERANKERS = {
    "citewell.core.reranking",
    "citewell.usecases.rerank_passages",
    *(f"citewell.edges.{name}_reranker" for name in ("local", "function", "http")),
}
ALL = CLIENTS | PARSERS | MODEL | TRACING | RERANKERS

WIRED = """
from citewell.settings import Settings
from citewell.wiring import Wiring
wiring = Wiring(Settings.from_environment({
    "CITEWELL_DATABASE_URL": "postgresql://127.0.0.1:1/nowhere",
    "CITEWELL_EMBEDDER": "function",
    "CITEWELL_EMBED_FUNCTION": "embed",
    "CITEWELL_EMBEDDER_MODEL": "bge-small-en-v1.5-int8@68807e3ff2ab",
    "CITEWELL_EMBEDDER_DIMENSIONS": "384",
    "CITEWELL_MODEL_DIR": "/nowhere",
    "CITEWELL_GENERATOR": "claude",
    "CITEWELL_BUCKET": "docs",
    "CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN": "arn",
}))
"""
EXTRACT = "from citewell.extract import extract\n"


def loaded_by(program: str) -> set[str]:
    """Which of ``ALL`` a process has loaded in the end."""
    program += f"\nimport sys; print(*sorted({ALL} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("function", ["ask", "documents", "ingest", "migrate", "embed", "rerank"])
def test_importing_a_handler_loads_nothing_that_it_may_not_need(function: str) -> None:
    assert loaded_by(f"import functions.{function}.handler") == set()


def test_what_answers_questions_is_wired_without_the_models_client() -> None:
    """A refusal uses everything that is wired here; the embedder loads boto3 when it calls its function."""
    assert loaded_by(f"{WIRED}import functions.ask.handler; wiring.ask_question") == {"psycopg"}


def test_what_reads_documents_is_wired_with_the_database_alone() -> None:
    assert loaded_by(f"{WIRED}import functions.documents.handler; wiring.read_documents") == {"psycopg"}


def test_what_ingests_is_wired_without_parsers() -> None:
    assert not loaded_by(f"{WIRED}import functions.ingest.handler; wiring.ingest_object") & (ALL - CLIENTS)


def test_a_parser_is_loaded_by_the_first_document_that_needs_it() -> None:
    assert loaded_by(EXTRACT) == set()
    assert loaded_by(EXTRACT + "extract(b'# Meals')") == {"markdown_it"}
    accented = "'Le café est fermé à Noël, c’est décidé. L’équipe dit à bientôt.'.encode('cp1252')"
    assert loaded_by(EXTRACT + f"extract({accented})") == PARSERS
