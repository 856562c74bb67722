"""Counts who reads along in a room."""

import time

from adapters.errors import ChatGone, Rejected
from adapters.recent import Recent
from adapters.slack.api import Api

_KEEPS = 30.0
"""Seconds for which others are taken to be there still. That nobody else is gets asked every time:
what is private is said there, and who comes must be noticed at once."""


class Rooms:
    """Counts of the last half minute, of rooms with others in them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._counted: Recent[str, tuple[int | None, float]] = Recent()

    async def count(self, channel: str) -> int | None:
        """How many besides the bot; None where Slack does not tell. Raises `AdapterError`."""
        now = time.monotonic()
        known = self._counted.get(channel)
        if known is not None and now - known[1] < _KEEPS:
            return known[0]
        try:
            people = await self._ask(channel)
        except (ChatGone, Rejected):
            people = None
        if people != 1:
            self._counted.put(channel, (people, now))
        return people

    async def _ask(self, channel: str) -> int | None:
        room = await self._api.fetch_room(channel)
        members = room.get("num_members")
        if room.get("is_mpim") or not isinstance(members, int):
            members = await self._api.count_members(channel)
        # The bot itself is counted where it is a member; a command may come from elsewhere.
        people = max(members - (room.get("is_member") is not False), 0)
        # Everybody in the workspace can read a public channel, member or not.
        is_closed = any(room.get(kind) for kind in ("is_private", "is_mpim", "is_im"))
        return people if is_closed or people > 1 else None
