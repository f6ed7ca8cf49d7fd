"""The real local model: its files, its vectors, its tokens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from citewell.core.values import TextKind, Vector
from citewell.edges.local_embedder import LocalEmbedder, model_id
from citewell.edges.word_pieces import WordPieces
from citewell.errors import ConfigurationError
from functions.embed.handler import embed_texts
from infra.model import EMBEDDER, MODEL_DIR, MODEL_SHA256, ensure_models


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    ensure_models(EMBEDDER)
    return LocalEmbedder(MODEL_DIR)


@pytest.fixture(scope="module")
def plain_tokenizer() -> Tokenizer:
    ensure_models(EMBEDDER)
    tokenizer = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    return tokenizer


def passage(embedder: LocalEmbedder, text: str) -> Vector:
    [vector] = embedder.embed([text], TextKind.PASSAGE)
    return vector


def query(embedder: LocalEmbedder, text: str) -> Vector:
    [vector] = embedder.embed([text], TextKind.QUERY)
    return vector


def cosine(first: Vector, second: Vector) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_the_id_names_model_quantisation_and_revision(embedder: LocalEmbedder) -> None:
    assert embedder.model_id == model_id(MODEL_SHA256) == "bge-small-en-v1.5-int8@68807e3ff2ab"


def test_vectors_have_length_one_and_the_promised_dimension(embedder: LocalEmbedder) -> None:
    vector = passage(embedder, "Annual leave is 25 days a year.")
    assert len(vector) == embedder.dimensions == 384
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-6)


def test_a_question_is_nearest_to_its_answer(embedder: LocalEmbedder) -> None:
    question = query(embedder, "How many holidays do I get?")
    answer = cosine(question, passage(embedder, "Annual leave is 25 days a year."))
    other = cosine(question, passage(embedder, "The gateway reboots when its firmware is updated."))
    assert answer > 0.55 > other


def test_a_vector_does_not_depend_on_its_batch(embedder: LocalEmbedder) -> None:
    texts = ["Annual leave is 25 days a year.", "Trains. " * 100, "VPN-4044"]
    together = embedder.embed(texts, TextKind.PASSAGE)
    assert together == [passage(embedder, text) for text in texts]


def test_queries_and_passages_are_embedded_differently(embedder: LocalEmbedder) -> None:
    assert query(embedder, "annual leave") != passage(embedder, "annual leave")


@pytest.mark.parametrize("text", ["", " ", "\u0000", "\U0001f600", "日本語", "[CLS] [SEP] [MASK] [PAD]", "a" * 300])
def test_odd_texts_have_a_vector(embedder: LocalEmbedder, text: str) -> None:
    vector = passage(embedder, text)
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-6)


def test_a_passage_is_embedded_whole_or_not_at_all(embedder: LocalEmbedder) -> None:
    fits = "word " * (embedder.max_tokens - 2)
    assert len(embedder.token_starts(fits)) + 2 == embedder.max_tokens
    passage(embedder, fits)
    with pytest.raises(ConfigurationError, match=r"513 tokens .* 512 .*CITEWELL_CHUNK_TOKENS"):
        passage(embedder, fits + "word")


@pytest.mark.parametrize("question", ["词" * 500, "word " * 2000, "\U0001f600 " * 250])
def test_a_question_that_is_too_long_is_cut(embedder: LocalEmbedder, question: str) -> None:
    vector = query(embedder, question)
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-6)


def test_a_cut_question_keeps_its_beginning(embedder: LocalEmbedder) -> None:
    assert query(embedder, "word " * 600) == query(embedder, "word " * 900)
    assert query(embedder, "other " + "word " * 600) != query(embedder, "word " * 600)


def _starts(tokenizer: Tokenizer, text: str) -> list[int]:
    return [start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets]


MIXED = st.text(
    alphabet=st.sampled_from("abcdefghiAÉéß.,-'[]() \n\t日本語中文ひらカナ한글\u0301\u200d\u00ad\U0001f600☃0123456789")
    | st.characters(codec="utf-8"),
    max_size=400,
)


@given(text=MIXED)
@settings(max_examples=200)
def test_token_starts_are_the_tokenizers_own(embedder: LocalEmbedder, plain_tokenizer: Tokenizer, text: str) -> None:
    assert list(embedder.token_starts(text)) == _starts(plain_tokenizer, text)


@given(piece=MIXED.filter(lambda text: len(text) > 3), seed=st.integers(1, 50))
@settings(max_examples=25)
def test_windows_do_not_show_in_the_token_starts_of_a_long_text(
    embedder: LocalEmbedder, plain_tokenizer: Tokenizer, piece: str, seed: int
) -> None:
    text = " ".join([piece] * (40_000 // len(piece) + seed))
    assert list(embedder.token_starts(text)) == _starts(plain_tokenizer, text)


def test_a_long_text_without_spaces_is_counted_exactly_where_the_script_has_none(
    embedder: LocalEmbedder, plain_tokenizer: Tokenizer
) -> None:
    text = "访客须由接待人提前一天登记，到访时凭证件领取访客证。" * 2000
    assert list(embedder.token_starts(text)) == _starts(plain_tokenizer, text)


@pytest.mark.parametrize("length", [101, 5_000, 200_000])
def test_an_endless_word_is_not_counted_as_one_token(embedder: LocalEmbedder, length: int) -> None:
    starts = embedder.token_starts("Before " + "A" * length + " after")
    assert len(starts) >= length // 4
    assert list(starts) == sorted(set(starts))
    assert starts[-1] == 7 + length + 1


def test_a_text_without_tokens_has_no_starts(embedder: LocalEmbedder) -> None:
    assert list(embedder.token_starts("")) == list(embedder.token_starts(" \n ")) == []


def test_the_function_gives_the_same_vectors_and_ids(embedder: LocalEmbedder) -> None:
    result = embed_texts({"texts": ["Annual leave"], "input": "passage"}, embedder)
    assert (result["model"], result["dimensions"]) == (embedder.model_id, 384)
    assert len(result["vectors"][0]) == 384 * 4 * 4 // 3


def test_a_missing_model_names_the_setting(tmp_path: Path) -> None:
    def ask_id() -> str:
        return LocalEmbedder(tmp_path).model_id

    def ask_vector() -> list[Vector]:
        (tmp_path / "tokenizer.json").symlink_to(MODEL_DIR / "tokenizer.json")
        return LocalEmbedder(tmp_path).embed(["x"], TextKind.PASSAGE)

    def ask_tokens() -> Sequence[int]:
        return WordPieces(tmp_path / "none.json").starts("x")

    for ask in (ask_id, ask_vector, ask_tokens):
        with pytest.raises(ConfigurationError, match="CITEWELL_MODEL_DIR"):
            ask()


def test_importing_and_building_it_loads_no_runtime() -> None:
    program = (
        "import sys; from pathlib import Path; from citewell.edges.local_embedder import LocalEmbedder; "
        "LocalEmbedder(Path('.')); print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
