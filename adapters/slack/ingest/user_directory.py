"""Caches names of people and channels; asks Slack once for each."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable

from adapters.errors import AdapterError
from adapters.slack.api import Api
from adapters.slack.events import Person
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.text import words_in

_log = logging.getLogger(__name__)

_PATIENCE = 1.2
"""Seconds that an event may wait for names; Slack wants its ack within three seconds."""
_KEEPS = 24 * 3600.0
_KEEPS_NOTHING = 300.0


class UserDirectory:
    """Names of the ten thousand people and channels that were stored last."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._people: BoundedDict[str, Person] = BoundedDict()
        self._titles: BoundedDict[str, str] = BoundedDict()
        self._until: BoundedDict[str, float] = BoundedDict()
        """The time at which each entry expires."""

    def get(self, user: str) -> Person | None:
        """Return a person's cached profile."""
        return self._people.get(user)

    def title(self, room: str) -> str:
        """Return a channel's name, empty if unknown."""
        return self._titles.get(room) or ""

    async def learn(self, users: Iterable[str], rooms: Iterable[str]) -> None:
        """Fetch unknown names. Never fails; takes a second at most."""
        people, places = self._unknown(users), self._unknown(rooms)
        if not (people or places):
            return
        asked = [self._ask(user, self._meet) for user in people]
        asked += [self._ask(room, self._visit) for room in places]
        try:
            async with asyncio.timeout(_PATIENCE):
                await asyncio.gather(*asked)
        except TimeoutError:
            _log.info("Slack did not send the names of %d people and rooms in time", len(asked))
            for name in self._unknown((*people, *places)):  # else each event would wait again
                self._until.put(name, time.monotonic() + _KEEPS_NOTHING)

    def _unknown(self, names: Iterable[str]) -> list[str]:
        now = time.monotonic()
        return [
            name for name in dict.fromkeys(names) if name and (self._until.get(name) or 0) < now
        ]

    async def _ask(self, name: str, ask: Callable[[str], Awaitable[None]]) -> None:
        keeps = _KEEPS
        try:
            await ask(name)
        except (AdapterError, ValueError) as error:
            _log.info("Slack did not send the name of %s: %s", name, error)
            keeps = _KEEPS_NOTHING
        self._until.put(name, time.monotonic() + keeps)

    async def _meet(self, user: str) -> None:
        self._people.put(user, await self._api.fetch_person(user))

    async def _visit(self, room: str) -> None:
        about = await self._api.fetch_room(room)
        if not about.get("is_mpim"):  # its name consists of its members' names
            self._titles.put(room, words_in(about, "name"))
