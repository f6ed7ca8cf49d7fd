"""What may pass for an embedding."""

from __future__ import annotations

from array import array

import pytest

from citewell.edges.retrying import TryAgain
from citewell.edges.vectors import checked_vector
from citewell.errors import ConfigurationError


def test_numbers_become_32_bit_floats() -> None:
    assert checked_vector([1, 0.5, -2.0], dimensions=3) == array("f", [1.0, 0.5, -2.0])
    assert checked_vector(array("f", [0.25]), dimensions=1) == array("f", [0.25])


@pytest.mark.parametrize("length", [0, 2, 4])
def test_another_dimension_names_the_setting(length: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"{length} dimensions, but 3 .*CITEWELL_EMBEDDER_DIMENSIONS"):
        checked_vector([0.5] * length, dimensions=3)


@pytest.mark.parametrize(
    "numbers",
    [
        [float("nan"), 1.0],
        [float("inf"), 1.0],
        [1e39, 1.0],
        [0, 0.0],
        [1e-60, 0.0],
        ["1", 2],
        [None, 1],
        [[1], 2],
        "ab",
        {"a": 1, "b": 2},
        None,
    ],
    ids=repr,
)
def test_what_has_no_direction_is_no_embedding(numbers: object) -> None:
    with pytest.raises(TryAgain):
        checked_vector(numbers, dimensions=2)
