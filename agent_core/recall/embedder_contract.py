"""The interface of an embedding model."""

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]
"""A unit vector; the dot product of two is their cosine similarity."""


class Embedder(Protocol):
    """A local model. Its inputs never leave the process."""

    name: str

    def embed(self, text: str) -> Vector:
        """Embed a text, or the beginning of a long one.

        Blocks the processor for some milliseconds, so it runs on a worker thread, one call at a
        time.
        Raises `EmbeddingFailed`.
        """
