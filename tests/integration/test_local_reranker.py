"""The real local reranker: its files, its scores, its limits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from citewell.edges.local_reranker import LocalReranker, model_id
from citewell.errors import ConfigurationError, RerankerUnavailable
from functions.rerank.handler import score_texts
from infra.model import RERANKER, RERANKER_DIR, RERANKER_SHA256, ensure_models

QUESTION = "How many people live in Berlin?"
ANSWER = "Berlin has a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers."
NEAR = "Berlin is well known for its museums."
FAR = "New York City is famous for the Metropolitan Museum of Art."


@pytest.fixture(scope="module")
def reranker() -> LocalReranker:
    ensure_models(RERANKER)
    return LocalReranker(RERANKER_DIR, seconds=60.0)


class Plain:
    """The model as its authors run it: the tokenizer joins the pair and cuts what is over 512 tokens off the second."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer.from_file(str(RERANKER_DIR / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.encode_special_tokens = True
        self.tokenizer.enable_truncation(512, strategy="only_second")
        self.session = onnxruntime.InferenceSession(str(RERANKER_DIR / "model.onnx"))

    def score(self, question: str, text: str) -> float:
        pair = self.tokenizer.encode(question, text)
        named = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        inputs = {name: numpy.array([values]) for name, values in named.items()}
        return float(self.session.run(["logits"], inputs)[0][0, 0])


@pytest.fixture(scope="module")
def plain() -> Plain:
    ensure_models(RERANKER)
    return Plain()


def test_the_id_names_model_quantisation_and_revision(reranker: LocalReranker) -> None:
    assert reranker.model_id == model_id(RERANKER_SHA256) == "ms-marco-MiniLM-L-12-v2-int8@1225ccd6afd0"


def test_the_answer_scores_above_what_is_near_and_that_above_what_is_far(reranker: LocalReranker) -> None:
    near, far, answer = reranker.rerank(QUESTION, [NEAR, FAR, ANSWER])
    assert answer > 5 > near > far
    # The model card has 9.2 and -11.2 for the model before its quantisation.
    assert answer == pytest.approx(9.2, abs=0.5)
    assert far == pytest.approx(-11.2, abs=0.5)


def test_a_score_does_not_depend_on_its_batch(reranker: LocalReranker) -> None:
    texts = [ANSWER, "Trains. " * 100, FAR]
    assert reranker.rerank(QUESTION, texts) == [reranker.rerank(QUESTION, [text])[0] for text in texts]


@given(
    question=st.text(alphabet=st.sampled_from("abcde日本ひ [SEP].,'\n\u00e9"), max_size=60),
    text=st.text(alphabet=st.sampled_from("abcde日本ひ [SEP].,'\n\u00e9\u0000\U0001f600"), max_size=200),
)
@settings(max_examples=40)
def test_a_pair_is_what_the_tokenizer_would_make_of_it(
    reranker: LocalReranker, plain: Plain, question: str, text: str
) -> None:
    assert reranker.rerank(question, [text]) == [pytest.approx(plain.score(question, text), abs=1e-4)]


@pytest.mark.parametrize("words", [504, 505, 506, 507, 2_000])
def test_what_is_too_long_is_cut_off_the_texts_end(reranker: LocalReranker, plain: Plain, words: int) -> None:
    text = "word " * words + "Berlin"
    assert reranker.rerank("people in Berlin", [text]) == [
        pytest.approx(plain.score("people in Berlin", text), abs=1e-4)
    ]


def test_a_text_is_read_up_to_its_limit_and_no_further(reranker: LocalReranker) -> None:
    long = "word " * 505
    [alone, longer, other] = reranker.rerank("people in Berlin", [long + "x", long + "x y z", "Berlin " + long])
    assert alone == longer != other


@pytest.mark.parametrize("question", ["词" * 500, "word " * 2_000, "\U0001f600 " * 250])
def test_a_long_question_leaves_the_text_its_half(reranker: LocalReranker, question: str) -> None:
    [one, other] = reranker.rerank(question, [ANSWER, FAR])
    assert one != other


@pytest.mark.parametrize("text", ["", " ", "\u0000", "日本語", "[CLS] [SEP] [MASK] [PAD]", "a" * 300])
def test_odd_texts_have_a_score(reranker: LocalReranker, text: str) -> None:
    [score] = reranker.rerank(QUESTION, [text])
    assert -15 < score < 5


def test_no_text_has_no_score(reranker: LocalReranker) -> None:
    assert reranker.rerank(QUESTION, []) == []


def test_when_its_time_is_up_it_stops_between_two_pairs() -> None:
    ensure_models(RERANKER)
    looks: Iterator[int] = count()
    slow = LocalReranker(RERANKER_DIR, seconds=2.0, clock=lambda: float(next(looks)))
    with pytest.raises(RerankerUnavailable, match=r"^2 of 5 passages were read in 2 s: .*CITEWELL_RERANK_SECONDS"):
        slow.rerank(QUESTION, [ANSWER] * 5)


def test_the_function_gives_the_same_scores(reranker: LocalReranker) -> None:
    result = score_texts({"question": QUESTION, "texts": [NEAR, ANSWER]}, reranker)
    assert result == {"scores": reranker.rerank(QUESTION, [NEAR, ANSWER])}


def test_a_missing_model_names_the_setting(tmp_path: Path) -> None:
    missing = LocalReranker(tmp_path, seconds=1.0)
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANKER_MODEL_DIR"):
        _ = missing.model_id
    with pytest.raises(ConfigurationError, match=r"tokenizer.*CITEWELL_RERANKER_MODEL_DIR"):
        missing.rerank(QUESTION, [ANSWER])
    (tmp_path / "tokenizer.json").symlink_to(RERANKER_DIR / "tokenizer.json")
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANKER_MODEL_DIR"):
        LocalReranker(tmp_path, seconds=1.0).rerank(QUESTION, [ANSWER])


def test_importing_and_building_it_loads_no_runtime() -> None:
    program = (
        "import sys; from pathlib import Path; from citewell.edges.local_reranker import LocalReranker; "
        "LocalReranker(Path('.'), seconds=1.0); "
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
