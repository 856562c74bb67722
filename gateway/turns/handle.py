"""What a lane holds of the turn that it runs: whom it serves, and a way to stop it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent_core.agent.active_turn import ActiveTurn
from agent_core.ids import PersonId
from gateway.conversion import Place, QueuedMessage
from gateway.turns.presenter import Presenter


@dataclass(slots=True)
class TurnHandle:
    """The reins of one turn, from its wait for a place until it is over."""

    batch: Sequence[QueuedMessage] = ()
    """The messages that a turn is to be begun with."""
    is_worded: bool = False
    """True once the batch's words are on their way into the transcript."""
    active: ActiveTurn | None = None
    """The turn, once it is begun."""
    asker: PersonId | None = None
    """Who asked for it, and may stop it."""
    place: Place | None = None
    """Where it is answered."""
    is_resumed: bool = False
    """True if an earlier process has begun it."""
    presenter: Presenter | None = None
    """What shows it, while it runs."""
    is_wary: bool = False
    """True once it could not be begun: the next try begins it on disk before all else."""
    is_cut: bool = False
    """True once it is known that it can't be begun as it is."""
    is_over: bool = False
    """True once there is nothing left that could be stopped."""
    _is_pulled: bool = False
    _scope: asyncio.Timeout | None = None

    @asynccontextmanager
    async def stoppable(self) -> AsyncIterator[None]:
        """What runs in here is ended by `request_stop` at its next await, with `TimeoutError`."""
        async with asyncio.timeout(None) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self._scope = None

    def request_stop(self) -> bool:
        """Stop the turn, before it begins or at its next await; False if it is over."""
        if self.is_over:
            return False
        if self._scope and not self._is_pulled:
            self._scope.reschedule(asyncio.get_running_loop().time())
        self._is_pulled = True
        return True

    def split(self) -> None:
        """What the turn rests on does not hold any more: it ends at its next await."""
        self.is_cut = True
        if self._scope and not self._is_pulled:
            self._scope.reschedule(asyncio.get_running_loop().time())

    def drop_stale(self) -> None:
        """The turn could not be begun; it is tried again, and may be edited until then."""
        self.active = None
        self.is_wary, self.is_worded = True, False

    def is_stop_requested(self) -> bool:
        """True once somebody wants the turn to end."""
        return self._is_pulled
