"""Reads in the history of channels what was said while nobody listened."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from adapters.discord.backlog import NOISE, Heard, HeardKind, make_event
from adapters.discord.facts import Facts
from adapters.discord.places import Place
from adapters.discord.receive import Context, is_for_us
from adapters.discord.words import id_in, snowflake_at
from adapters.errors import AdapterError, AdapterStopped, RateLimited, Unreachable
from adapters.messages import RawEvent
from adapters.pauses import Pauses
from adapters.untrusted import Json

_log = logging.getLogger(__name__)

_LONGEST_PAUSE = 30.0
_OLDEST_IN_ROOMS = 7 * 86_400
"""Seconds. Rooms go on without the bot: what was asked there a week ago is settled."""
_OLDEST_UNKNOWN = 86_400
"""Seconds looked back in a channel of which nothing is known: somebody may have come for the
first time while nobody listened. Whatever is older may have been said to another program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where reading begins: behind a mark, or, where there is none, before a live message."""

    after: str = ""
    before: str = ""


class Catchup:
    """One pass over some channels, those with the newest marks first."""

    def __init__(
        self,
        facts: Facts,
        slots: asyncio.Semaphore,
        take: Callable[[Sequence[RawEvent]], Awaitable[None]],
    ) -> None:
        self._facts = facts
        self._slots = slots
        self._take = take

    async def run(self, starts: Mapping[str, Start], done: Callable[[str], None]) -> None:
        """Read every channel from its start; `done` is called with each that is through."""
        async with asyncio.TaskGroup() as group:
            for channel in sorted(starts, key=lambda one: starts[one].after, reverse=True):
                group.create_task(self._read(channel, starts[channel], done))

    async def _read(self, channel: str, start: Start, done: Callable[[str], None]) -> None:
        pauses = Pauses(_LONGEST_PAUSE)
        async with self._slots:
            while True:
                try:
                    place = await self._facts.place(channel)
                    if start.before:
                        await self._look_back(place, start.before)
                    else:
                        async for mark in self._read_on(place, start.after):
                            start = Start(after=mark)
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

    async def _look_back(self, place: Place, before: str) -> None:
        """Hand over what was said to the bot shortly before, behind its own last word."""
        role = await self._facts.role(place)
        page = await self._facts.past(place, before)
        own = [int(id_in(one, "id")) for one in page if self._facts.is_ours(one)]
        after = max((snowflake_at(time.time() - _OLDEST_UNKNOWN), *own))
        missed = [one for one in page if int(id_in(one, "id")) > after]
        await self._take(self._sift(missed, place, role))

    def _sift(self, page: Sequence[Json], place: Place, role: str) -> list[RawEvent]:
        """The messages to us, and a bare mark behind many that are not."""
        events: list[RawEvent] = []
        noise = 0
        context = Context(bot="")
        for message in page:
            try:
                context = self._facts.read(message, place, role=role)
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
