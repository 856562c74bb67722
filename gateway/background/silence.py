"""Queue a review once a person has been silent for hours."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.agent.review.triggers import ReviewRules, enqueue_now, find_silent
from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection, Database

POLL = 300.0
"""Seconds between two looks."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Looks for people whose last turns no review has read. Turns themselves pay nothing for it."""

    database: Database
    rules: ReviewRules
    now: Callable[[], int]
    poll: float = POLL

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                _log.error("reviews after a silence wait for the store: %s", error)
            await asyncio.sleep(self.poll)

    async def look(self) -> None:
        """Queue the reviews that are due. Raises `StoreError`."""
        now = self.now()
        silent = await self.database.read(find_silent, self.rules, now)

        def work(connection: Connection) -> None:
            for person_id in silent:
                enqueue_now(connection, person_id, now)

        if silent:
            await self.database.write("reviews.silence", work)
