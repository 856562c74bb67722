"""Reads in the history of channels what was said while nobody listened."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from adapters.discord.backlog import NOISE, Heard, HeardKind, make_event
from adapters.discord.facts import Facts
from adapters.discord.pauses import Pauses
from adapters.discord.places import Place
from adapters.discord.receive import Context, is_for_us
from adapters.discord.words import Json, id_in, snowflake_at
from adapters.errors import AdapterError, AdapterStopped, RateLimited, Unreachable
from adapters.messages import RawEvent

_log = logging.getLogger(__name__)

_AT_ONCE = 4
_LONGEST_PAUSE = 30.0
_OLDEST_IN_ROOMS = 7 * 86_400
"""Seconds. Rooms go on without the bot: what was asked there a week ago is settled."""


class Catchup:
    """One pass over all channels with a mark; newest marks first, a few channels at a time."""

    def __init__(self, facts: Facts, take: Callable[[Sequence[RawEvent]], Awaitable[None]]) -> None:
        self._facts = facts
        self._take = take
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def run(self, marks: Mapping[str, str], done: Callable[[str], None]) -> None:
        """Read every channel behind its mark; `done` is called with each that is through."""
        async with asyncio.TaskGroup() as group:
            for channel in sorted(marks, key=lambda channel: marks[channel], reverse=True):
                group.create_task(self._read(channel, marks[channel], done))

    async def _read(self, channel: str, mark: str, done: Callable[[str], None]) -> None:
        pauses = Pauses(_LONGEST_PAUSE)
        async with self._slots:
            while True:
                try:
                    place = await self._facts.place(channel)
                    async for after in self._read_on(place, mark):
                        mark = after
                except (Unreachable, RateLimited) as error:
                    await pauses.wait(error)
                except AdapterStopped:
                    return  # the gateway says so too, where it is heard
                except AdapterError as error:
                    _log.info("channel %s of Discord is passed over: %s", channel, error)
                    break
                else:
                    break
        done(channel)

    async def _read_on(self, place: Place, mark: str) -> AsyncIterator[str]:
        """Hand over what stands behind the mark, page by page, and say how far it got."""
        role = await self._facts.role(place)
        after = int(mark)
        if not place.is_direct:
            after = max(after, snowflake_at(time.time() - _OLDEST_IN_ROOMS))
        async for page in self._facts.history(place, str(after)):
            await self._take(self._sift(page, place, role))
            yield id_in(page[-1], "id")

    def _sift(self, page: Sequence[Json], place: Place, role: str) -> list[RawEvent]:
        """The messages to us, and a bare mark behind many that are not."""
        events: list[RawEvent] = []
        noise = 0
        context = Context(bot="")
        for message in page:
            context = self._facts.read(message, place, role=role)
            try:
                noise = 0 if is_for_us(message, context) else noise + 1
                if not noise:
                    events.append(_event("message", message, context, place))
            except ValueError as error:
                _log.warning("a message of Discord can't be read: %s", error)
        if noise >= NOISE:
            events.append(_event("mark", {"id": id_in(page[-1], "id")}, context, place))
        return events


def _event(kind: HeardKind, data: Json, context: Context, place: Place) -> RawEvent:
    heard = Heard(kind=kind, channel=place.channel_id, data=data, context=context)
    return make_event(heard, is_in_order=True)
