"""Knows what people call themselves, asking Slack once about each."""

import asyncio
import logging
import time
from collections.abc import Iterable

from adapters.errors import AdapterError
from adapters.slack.api import Api
from adapters.slack.events import Person
from adapters.slack.tracks import Recent

_log = logging.getLogger(__name__)

_PATIENCE = 1.2
"""Seconds that an event may wait for a name: Slack wants its ack within three."""
_KEEPS = 24 * 3600.0
_KEEPS_NOTHING = 300.0


class People:
    """Names of the last ten thousand people."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: Recent[str, tuple[Person | None, float]] = Recent()

    def get(self, user: str) -> Person | None:
        """What is known of somebody now."""
        found = self._known.get(user)
        return found[0] if found is not None else None

    async def learn(self, users: Iterable[str]) -> None:
        """Ask about those who are not known. Never fails; takes a second at most."""
        now = time.monotonic()
        unknown = []
        for user in dict.fromkeys(users):
            found = self._known.get(user)
            if user and (found is None or found[1] < now):
                unknown.append(user)
        if not unknown:
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                await asyncio.gather(*(self._ask(user) for user in unknown))
        except TimeoutError:
            _log.info("slack did not tell in time what %d people are called", len(unknown))

    async def _ask(self, user: str) -> None:
        try:
            person, keeps = await self._api.fetch_person(user), _KEEPS
        except (AdapterError, ValueError) as error:
            _log.info("slack did not tell what %s is called: %s", user, error)
            person, keeps = None, _KEEPS_NOTHING
        self._known.put(user, (person, time.monotonic() + keeps))
