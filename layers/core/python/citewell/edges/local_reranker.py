"""cross-encoder/ms-marco-MiniLM-L-12-v2 as int8 ONNX in this process: no key, no network. English."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.edges.onnx_model import model_hash, open_session
from citewell.edges.word_pieces import WordPieces
from citewell.errors import RerankerUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL_NAME = "ms-marco-MiniLM-L-12-v2-int8"
MAX_TOKENS = 512
QUESTION_TOKENS = 256
"""More of a question isn't read, so that at least as much of the passage is. No English one of 500 characters has
more."""

_SETTING = "CITEWELL_RERANKER_MODEL_DIR"


def model_id(model_sha256: str) -> str:
    """The id of the local reranker whose ``model.onnx`` has this hash: model, quantisation and revision."""
    return f"{MODEL_NAME}@{model_sha256[:12]}"


class LocalReranker:
    """The reranker port over ``model.onnx`` and ``tokenizer.json`` in ``model_dir``; both are loaded at first use.

    Pairs are read one by one: the int8 model quantises its activations at run time, so a score would depend on its
    batch (by 0.38 of a range of 20 at worst), and single runs are faster, too: nothing is padded. ``seconds`` is for
    all of them, loading included; it is looked at between pairs.
    """

    def __init__(self, model_dir: Path, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model_dir / "model.onnx"
        self._word_pieces = WordPieces(model_dir / "tokenizer.json", setting=_SETTING)
        self._seconds = seconds
        self._clock = clock

    @cached_property
    def model_id(self) -> str:
        return model_id(model_hash(self._model, setting=_SETTING))

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Logits, from about -12 to 12. What a pair has over the model's 512 tokens is cut off the text's end."""
        deadline = self._clock() + self._seconds
        asked = self._question_ids(question)
        scores: list[float] = []
        for text in texts:
            if self._clock() > deadline:
                raise RerankerUnavailable(
                    f"{len(scores)} of {len(texts)} passages were read in {self._seconds:g} s: raise "
                    "CITEWELL_RERANK_SECONDS or lower CITEWELL_RERANK_CANDIDATES"
                )
            scores.append(self._score(asked, self._word_pieces.ids(text)[1:]))
        return scores

    def _question_ids(self, question: str) -> list[int]:
        """From ``[CLS]`` to ``[SEP]``."""
        ids = self._word_pieces.ids(question)
        return ids if len(ids) <= QUESTION_TOKENS else [*ids[: QUESTION_TOKENS - 1], ids[-1]]

    def _score(self, question: list[int], text: list[int]) -> float:
        """Of ids that together are ``[CLS] question [SEP] text [SEP]``."""
        import numpy

        room = MAX_TOKENS - len(question)
        text = text if len(text) <= room else [*text[: room - 1], text[-1]]
        row = numpy.array([question + text], dtype=numpy.int64)
        kinds = numpy.array([[0] * len(question) + [1] * len(text)], dtype=numpy.int64)
        inputs = {"input_ids": row, "attention_mask": numpy.ones_like(row), "token_type_ids": kinds}
        [logits] = self._session.run(["logits"], inputs)
        return float(logits[0, 0])

    @cached_property
    def _session(self) -> InferenceSession:
        self.model_id  # noqa: B018 - says what to do when the file is missing
        return open_session(self._model)
