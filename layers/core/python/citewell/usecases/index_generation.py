"""The rule that questions and documents are embedded by the model that built the live index."""

from __future__ import annotations

from citewell.errors import EmbedderMismatch
from citewell.ports import Embedder, IndexGeneration


def check_embedder(embedder: Embedder, live: IndexGeneration) -> None:
    """Raise EmbedderMismatch, saying what to do, unless ``embedder`` built ``live``."""
    if (embedder.model_id, embedder.dimensions) != (live.model_id, live.dimensions):
        raise EmbedderMismatch(
            f"the live index was built by {live.model_id} ({live.dimensions} dimensions), but this deployment embeds "
            f"with {embedder.model_id} ({embedder.dimensions} dimensions): set the embedder back, or deploy with "
            "replaceIndex=true and then run `make reindex`"
        )
