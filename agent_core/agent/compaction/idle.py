"""Compact idle conversations before the provider's cache of them expires."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.agent.compaction.compactor import Compactor, IdleConversation
from agent_core.agent.compaction.requests import CompactionRequest
from agent_core.errors import StoreError
from agent_core.ids import ConversationId
from agent_core.models.catalog import Prices
from agent_core.models.contract import Usage

_POLL = 15.0
"""Seconds between two checks; less than `_MARGIN`."""
_MARGIN = 60_000
"""A compaction starts this many milliseconds before the cache expires. A person who returns earlier
still has the full cache.
"""
_LIFETIMES = {"5m": 300_000, "1h": 3_600_000}
"""Milliseconds that a provider keeps a prompt after its last use."""
_LEAST_SHARE = 2
"""An idle conversation shorter than half of `ContextBounds.economy` stays as it is."""
_OUTPUT_SHARE = 8
"""The price estimate assumes a summary of an eighth of the conversation's tokens."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class IdleCompactor:
    """Compacts an idle conversation if that costs less than to write it to the provider's cache
    again.
    """

    compactor: Compactor
    prices: Prices
    summary_model: str
    is_running: Callable[[ConversationId], bool]
    invalidate: Callable[[], None]
    """Called after a compaction, so that the conversations are read again."""

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await asyncio.sleep(_POLL)
            try:
                await self.compact_due()
            except StoreError as error:
                _log.error("idle conversations wait for the store: %s", error)

    async def compact_due(self) -> None:
        """Compact the conversations whose cache is about to expire. Raises `StoreError`."""
        lifetime = _LIFETIMES[self.prices.cache_ttl]
        expiring = self.compactor.now() - lifetime
        for one in self.compactor.idle.take(since=expiring, until=expiring + _MARGIN):
            if self.is_running(one.conversation_id) or not self._pays(one):
                continue
            wanted = CompactionRequest(
                reason="idle",
                tokens=one.tokens,
                estimated=one.estimated,
                threshold=one.tokens,
                keep=one.bounds.keep,
                limit=one.bounds.limit,
            )
            result = await self.compactor.compact(one.target, wanted)
            if result.compaction:
                self.invalidate()

    def _pays(self, one: IdleConversation) -> bool:
        """True if a summary costs less than what it saves at the next message."""
        if one.tokens < one.bounds.economy // _LEAST_SHARE:
            return False
        saved = Usage(cache_write_tokens=max(one.tokens - one.bounds.keep, 0))
        summary = Usage(input_tokens=one.tokens, output_tokens=one.tokens // _OUTPUT_SHARE)
        gain = self.prices.cost(one.model, saved)
        price = self.prices.cost(self.summary_model, summary)
        return gain is not None and price is not None and price < gain
