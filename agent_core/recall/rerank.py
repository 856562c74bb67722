"""Reranking of hits by meaning, within a time limit.

The final score is the share of the best hit's word score plus the weighted cosine similarity to
the
question. Only the best hits by words are reranked, all from the searched field. Vectors are cached
in memory under a digest of the text, without its owner.
"""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import mul

from agent_core.errors import EmbeddingFailed
from agent_core.recall.embedder_contract import Embedder, Vector
from agent_core.recall.ranking import Ranked
from agent_core.state.search.passages import FoundMessage

_log = logging.getLogger(__name__)

DEPTH = 25
"""The number of hits to rerank. A larger one leaves recall@10 on LoCoMo unchanged."""
WEIGHT = 0.5
"""The weight of the meaning. Tuned on five of the ten LoCoMo conversations, on a flat optimum."""
PATIENCE = 1.5
"""Seconds until the hits stay in the order of their words."""
MOST_WAITING = 4
"""Searches that may wait for the model; further ones keep the order of their words."""
MOST_KEPT = 4096
"""Vectors in the cache, least recently used dropped first; 1.5 KB each."""
LONGEST, BEFORE = 1000, 200
"""Characters read of a message, and of the end of the one before it; models read less."""


class Reranker:
    """An embedding model with limits and a cache, on one worker thread."""

    def __init__(self, embedder: Embedder, patience: float = PATIENCE) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._patience = patience
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()  # used only by the worker's thread
        self._waiting = 0

    async def rerank(self, asked: str, hits: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Rerank the hits of a question, given best first.

        Returns them unchanged if the model fails or runs out of time.
        """
        if self._waiting >= MOST_WAITING or len(hits) < 2:
            return tuple(hits)
        until = time.monotonic() + self._patience
        texts = [write(hit) for hit in hits[:DEPTH]]
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                near = await asyncio.get_running_loop().run_in_executor(
                    self._worker, self._measure, asked, texts, until
                )
        except TimeoutError:
            near = None
        except EmbeddingFailed as error:
            _log.warning("reranking failed, keeping the order by words: %s", error)
            near = None
        finally:
            self._waiting -= 1
        return tuple(hits) if near is None else (*order(hits[:DEPTH], near), *hits[DEPTH:])

    def _measure(self, asked: str, texts: Sequence[str], until: float) -> list[float] | None:
        """Compute the similarity of each text to the question, 0 to 1; None if time ran out."""
        question, near = self._embed(asked[:LONGEST]), []
        for text in texts:
            if time.monotonic() >= until:
                return None
            near.append(max(0.0, sum(map(mul, question, self._embed(text)))))
        return near

    def _embed(self, text: str) -> Vector:
        key = hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
        vector = self._kept.pop(key, None)
        if vector is None:
            vector = self._embedder.embed(text)
        self._kept[key] = vector
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return vector


def write(hit: Ranked) -> str:
    """Format a message for the model, with its author and the message before it.

    An answer alone means little.
    """
    lines = [f"{_name(hit.message)}: {hit.text[:LONGEST]}"]
    if hit.before:
        lines.insert(0, f"{_name(hit.before.message)}: {hit.before.text[-BEFORE:]}")
    return "\n".join(lines)


def _name(message: FoundMessage) -> str:
    return message.asker if message.role == "user" else "Assistant"


def order(hits: Sequence[Ranked], near: Sequence[float]) -> list[Ranked]:
    """Order hits by their share of the best word score plus their similarity."""
    best = max((hit.score for hit in hits), default=0) or 1
    fused = sorted(
        zip(hits, near, strict=True),
        key=lambda one: one[0].score / best + WEIGHT * one[1],
        reverse=True,
    )
    return [hit for hit, _ in fused]
