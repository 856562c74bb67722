"""An inlet in memory that keeps events from adapters, and can fail."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.errors import Unreachable
from adapters.ids import Address
from adapters.messages import RawEvent
from tests.patience import PATIENCE


@dataclass
class FakeInlet:
    """The stored events by id, each once, and the number of all handed over.

    Events that only move a read position count in `positions` alone.
    """

    taken: dict[str, RawEvent] = field(default_factory=dict)
    positions: dict[str, str] = field(default_factory=dict)
    handed_over: list[str] = field(default_factory=list)
    noticed: list[Address] = field(default_factory=list)
    refusals: int = 0
    """How many of the next calls fail, like a full disk."""
    before: Callable[[], None] | None = None
    """Called at the start of each `take`."""
    reports: dict[str, RawEvent] = field(default_factory=dict)
    """What a platform reports of our messages, apart from what people do."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, events: Sequence[RawEvent]) -> None:
        if all("/report/" in event.event_id for event in events):
            self.reports |= {event.event_id: event for event in events}
            return
        if self.before:
            self.before()
        said = [event for event in events if "/mark/" not in event.event_id]
        self.handed_over += [event.event_id for event in said]
        self._changed.set()
        if self.refusals:
            self.refusals -= 1
            raise Unreachable("The disk is full.")
        for event in events:
            if event.position > self.positions.get(event.channel, ""):
                self.positions[event.channel] = event.position
        for event in said:
            self.taken.setdefault(event.event_id, event)

    async def marks(self) -> Mapping[str, str]:
        return dict(self.positions)

    def notice(self, address: Address) -> None:
        self.noticed.append(address)
        self._changed.set()

    async def receives(self, count: int) -> list[RawEvent]:
        """Return the stored events once there are `count`."""
        async with asyncio.timeout(PATIENCE):
            while len(self.taken) < count:
                self._changed.clear()
                await self._changed.wait()
        return [*self.taken.values()]

    async def is_offered(self, count: int) -> None:
        """Return once `count` events were handed over, stored or not."""
        async with asyncio.timeout(PATIENCE):
            while len(self.handed_over) < count:
                self._changed.clear()
                await self._changed.wait()
