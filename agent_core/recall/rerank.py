"""Puts hits in order by their meaning, too, as far as that can be told in a short time.

Scores are added, not ranks: the best hit by words counts as 1, each other one as its share of that,
and how near the meaning of a message lies to that of the question is added with a weight. Only the
best hits by words are looked at, all of them of the field that was searched. What was made of a
text is kept in memory, by a digest of the text and never beside whose it is.
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
"""Hits that change places among themselves. With more, recall@10 on LoCoMo stays as it is."""
WEIGHT = 0.5
"""Of the meaning, beside the words. Set on five of the ten talks of LoCoMo, where it lies flat."""
PATIENCE = 1.5
"""Seconds after which the hits stay in the order of the words."""
MOST_WAITING = 4
"""Searches that wait for the model at once; a further one takes the order of the words."""
MOST_KEPT = 4096
"""Texts whose vectors are kept, those used last: 1.5 KB each."""
LONGEST, BEFORE = 1000, 200
"""Characters that are read of a message, and of the end of the one before it; models read less."""


class Reranker:
    """An embedding model with what bounds its work. Its one thread ends with it."""

    def __init__(self, embedder: Embedder, patience: float = PATIENCE) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._patience = patience
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()  # of the worker's thread only
        self._waiting = 0

    async def rerank(self, asked: str, hits: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """The hits of a question, given best first by words, in the order of both; as they were
        if the model fails, or can't tell in time.
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
            _log.warning("hits stay in the order of their words: %s", error)
            near = None
        finally:
            self._waiting -= 1
        return tuple(hits) if near is None else (*order(hits[:DEPTH], near), *hits[DEPTH:])

    def _measure(self, asked: str, texts: Sequence[str], until: float) -> list[float] | None:
        """How near each text lies to what was asked, from 0 to 1; None if time ran out."""
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
    """A message as the model reads it: who says what, and to what. An answer alone means little."""
    lines = [f"{_name(hit.message)}: {hit.message.text[:LONGEST]}"]
    if hit.before:
        lines.insert(0, f"{_name(hit.before)}: {hit.before.text[-BEFORE:]}")
    return "\n".join(lines)


def _name(message: FoundMessage) -> str:
    return message.asker if message.role == "user" else "Assistant"


def order(hits: Sequence[Ranked], near: Sequence[float]) -> list[Ranked]:
    """Hits by the share that their words have of the best one's, and by how near they are."""
    best = max((hit.score for hit in hits), default=0) or 1
    fused = sorted(
        zip(hits, near, strict=True),
        key=lambda one: one[0].score / best + WEIGHT * one[1],
        reverse=True,
    )
    return [hit for hit, _ in fused]
