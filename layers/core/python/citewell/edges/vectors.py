"""Check the vectors that come from another process."""

from __future__ import annotations

import math
from array import array

from citewell.edges.retrying import TryAgain
from citewell.errors import ConfigurationError


def checked_vector(numbers: object, *, dimensions: int) -> array[float]:
    """``numbers`` as 32-bit floats.

    Raises ConfigurationError when there are more or fewer than ``dimensions``, and TryAgain when they can't be an
    embedding: not numbers, not finite, or all zero, which has no direction and so no cosine.
    """
    if not isinstance(numbers, list | array):
        raise TryAgain("an embedding is not a list of numbers")
    if len(numbers) != dimensions:
        raise ConfigurationError(
            f"the embedder's vectors have {len(numbers)} dimensions, but {dimensions} are configured: "
            "set CITEWELL_EMBEDDER_DIMENSIONS to what the model makes"
        )
    try:
        vector = array("f", numbers)
    except (TypeError, OverflowError) as error:
        raise TryAgain("an embedding is not a list of numbers") from error
    if not all(map(math.isfinite, vector)) or not any(vector):
        raise TryAgain("an embedding is not finite, or all zero")
    return vector
