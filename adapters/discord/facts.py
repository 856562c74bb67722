"""What has to be known of a place to read what was said there: kept in mind, or asked for."""

from collections.abc import AsyncIterator, Callable

from adapters.discord.api import Api
from adapters.discord.places import Place
from adapters.discord.receive import Context
from adapters.discord.words import marked_ids
from adapters.errors import AdapterError
from adapters.recent import Recent
from adapters.untrusted import Json, inside, number_in, words_in

_REMEMBERED = 4096
_DIRECT = 1


class Facts:
    """Places, the bot's roles and names. `api` gives the connection or raises `Unreachable`."""

    def __init__(self, api: Callable[[], Api], *, threads: bool) -> None:
        self._api = api
        self._threads = threads
        self._places: Recent[str, Place] = Recent(_REMEMBERED)

    def guess(self, data: Json, channel_id: str) -> Context:
        """What is known now of a live event; the place is None if it has to be asked for.

        Raises `Unreachable` and `ValueError`.
        """
        api, guild_id = self._api(), words_in(data, "guild_id")
        place = api.known_place(channel_id) or self._places.get(channel_id)
        if place is None and not guild_id and number_in(data, "channel_type", default=0) == _DIRECT:
            place = self._keep(Place(channel_id=channel_id, kind=_DIRECT))
        role = api.known_role(guild_id) if guild_id else ""
        return self._context(data, place, role=role, guild_id=guild_id)

    def read(self, message: Json, place: Place, *, role: str) -> Context:
        """What is known of a message of a place's history. Raises as `guess`."""
        return self._context(message, place, role=role, guild_id=place.guild_id)

    async def place(self, channel_id: str) -> Place:
        """A channel. Raises `AdapterError`, and `ChatGone` if it is no longer there."""
        api = self._api()
        known = api.known_place(channel_id) or self._places.get(channel_id)
        return known or self._keep(await api.fetch_place(channel_id))

    async def role(self, place: Place) -> str:
        """The bot's own role there, empty if it has none. Raises `AdapterError`."""
        return await self._api().fetch_role(place.guild_id) if place.guild_id else ""

    def history(self, place: Place, after: str) -> AsyncIterator[list[Json]]:
        """What was said behind a message, in pages, oldest first. Raises `AdapterError`."""
        return self._api().read_history(place.channel_id, after)

    async def past(self, place: Place, before: str) -> list[Json]:
        """The last hundred messages before one, oldest first. Raises `AdapterError`."""
        return await self._api().read_newest(place.channel_id, before=before)

    def is_ours(self, message: Json) -> bool:
        """Whether the bot wrote a message. Raises `Unreachable` and `ValueError`."""
        return inside(message, "author").get("id") == self._api().bot

    async def place_of(self, message: Json, channel_id: str) -> Place:
        """The channel of a live message; from the message alone if Discord does not tell."""
        try:
            return await self.place(channel_id)
        except AdapterError:
            guild_id = words_in(message, "guild_id")
            # Outside of servers a bot is in nothing but direct talks.
            kind = number_in(message, "channel_type", default=0 if guild_id else _DIRECT)
            return Place(channel_id=channel_id, kind=kind, guild_id=guild_id)

    def _context(self, data: Json, place: Place | None, *, role: str, guild_id: str) -> Context:
        api = self._api()
        answered = inside(data, "referenced_message")
        ids = marked_ids(words_in(data, "content")) | marked_ids(words_in(answered, "content"))
        return Context(
            bot=api.bot,
            role=role,
            threads=self._threads,
            place=place,
            names=api.known_names(guild_id, ids) if ids and guild_id else {},
        )

    def _keep(self, place: Place) -> Place:
        self._places.put(place.channel_id, place)
        return place
