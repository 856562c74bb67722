"""What an embedding model must do: turn a text into numbers that lie near those of like meaning."""

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]
"""Of length 1, so that the product of two tells how near they are: 1 is the same."""


class Embedder(Protocol):
    """A model on this machine. Nothing that it is given leaves the process."""

    name: str

    def embed(self, text: str) -> Vector:
        """What a text means; of a long one its beginning, as far as the model reads.

        It blocks for some milliseconds of the processor, so it is called on a thread that may
        wait, and one call at a time. Raises `EmbeddingFailed`.
        """
