"""Begins a turn on disk a moment after it began to run, if nothing of it was written by then."""

import asyncio
import logging
from types import TracebackType

from agent_core.active import ActiveTurn
from agent_core.errors import StoreError
from gateway.freshness import OutOfDate
from gateway.reins import Reins

_log = logging.getLogger(__name__)

_MOMENT = 0.15
"""Seconds in which a turn may be over, and then takes one commit instead of two. Whatever is
shown of a turn before its answer is shown later than this."""


class LateBeginning:
    """Around a running turn. Until it is begun, a crash leaves its messages as they came in."""

    def __init__(self, active: ActiveTurn, reins: Reins) -> None:
        self._active = active
        self._reins = reins
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if not self._active.journal.is_begun:
            self._timer = asyncio.get_running_loop().call_later(_MOMENT, self._begin)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if self._task:
            await self._task

    def _begin(self) -> None:
        if not self._active.journal.is_begun:
            self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """What the store refuses now, the next record of the turn tries again."""
        try:
            await self._active.journal.begin()
        except OutOfDate:
            self._reins.cut()
        except StoreError as error:
            _log.error("turn %d is not begun on disk yet: %s", self._active.id, error)
