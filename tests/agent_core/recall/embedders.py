"""Embedding models that tests know by heart."""

import hashlib
import math
import threading
from collections import Counter
from collections.abc import Mapping

from agent_core.errors import EmbeddingFailed
from agent_core.recall.embedder_contract import Vector
from agent_core.state.tokenizer import cut

SIZE = 256


class HashedWords:
    """A bag of words, of which those that mean the same are one: the same text, the same vector.

    It keeps what it was given in `read`, fails at texts with `poison` in them, and waits at those
    with `slow` in them until `go` is set.
    """

    name = "hashed-words"

    def __init__(self, same: Mapping[str, str] | None = None) -> None:
        self.read: list[str] = []
        self.go = threading.Event()
        self._same = same or {}

    def embed(self, text: str) -> Vector:
        self.read.append(text)
        if "poison" in text:
            raise EmbeddingFailed("it has no number for that")
        if "slow" in text:
            assert self.go.wait(10)
        vector = [0.0] * SIZE
        for word, count in Counter(cut(text)).items():
            key = self._same.get(word, word).encode()
            vector[int.from_bytes(hashlib.sha256(key).digest()[:4]) % SIZE] += count
        length = math.sqrt(sum(number * number for number in vector)) or 1.0
        return [number / length for number in vector]
