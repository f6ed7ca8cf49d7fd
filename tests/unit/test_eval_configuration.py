from __future__ import annotations

import pytest

from citewell.core.refusing import RefusalFit
from citewell.errors import ConfigurationError
from citewell.settings import Settings
from citewell.wiring import Wiring
from eval.configuration import eval_settings, refusal_in_force


def _product(**settings: str | float) -> Wiring:
    values = {"embedder": "openai", "embedder_model": "some-model", "embedder_dimensions": 8, **settings}
    return Wiring(Settings(**values))  # type: ignore[arg-type]  # each value is of its setting's own type


def test_an_embedder_without_a_fit_can_be_measured_so_that_one_can_be_made() -> None:
    product = _product()
    assert refusal_in_force(product) == RefusalFit(product.embedder.model_id, coverage_weight=0.0, threshold=-1.0)


def test_what_is_configured_is_in_force() -> None:
    assert refusal_in_force(_product(min_score=0.4)).threshold == 0.4


def test_a_fit_for_another_embedder_is_refused_here_too() -> None:
    with pytest.raises(ConfigurationError, match="was made for the embedder another"):
        refusal_in_force(_product(refusal_fit=RefusalFit("another", 0.1, 0.5).to_json()))


@pytest.mark.parametrize(("given", "reranker"), [({}, "local"), ({"CITEWELL_RERANKER": "tei"}, "tei")])
def test_reranking_takes_the_bundled_model_unless_another_is_named(
    given: dict[str, str], reranker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert eval_settings(rerank=True).reranker == reranker
    assert eval_settings().reranker == given.get("CITEWELL_RERANKER", "none")
