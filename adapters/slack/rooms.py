"""Counts who reads along in a room."""

from adapters.counts import Counts
from adapters.errors import ChatGone, Rejected
from adapters.slack.api import Api

_KEEPS = 30.0


class Rooms:
    """Counts of the last half minute, of rooms with others in them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._counts = Counts(_KEEPS)

    async def count(self, channel: str) -> int | None:
        """How many besides the bot; None where Slack does not tell. Raises `AdapterError`."""
        return await self._counts.count(channel, lambda: self._ask(channel))

    async def _ask(self, channel: str) -> int | None:
        try:
            room = await self._api.fetch_room(channel)
            members = room.get("num_members")
            if room.get("is_mpim") or not isinstance(members, int):
                members = await self._api.count_members(channel)
        except (ChatGone, Rejected):
            return None
        # The bot itself is counted where it is a member; a command may come from elsewhere.
        people = max(members - (room.get("is_member") is not False), 0)
        # Everybody in the workspace can read a public channel, member or not.
        is_closed = any(room.get(kind) for kind in ("is_private", "is_mpim", "is_im"))
        return people if is_closed or people > 1 else None
