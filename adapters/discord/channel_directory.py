"""Knows channels, the bot's roles and names; sends to channels and opens threads."""

from collections.abc import AsyncIterator, Callable, Sequence

from adapters.discord.api import Api
from adapters.discord.errors import ChannelUnknown, NoReplies, NotPermitted
from adapters.discord.payloads import EYES, make_message
from adapters.discord.places import Place, channel_of
from adapters.discord.receive import Context
from adapters.discord.snowflakes import marked_ids, spell
from adapters.errors import AdapterError, ChatGone, MessageGone, Rejected
from adapters.ids import Address
from adapters.messages import OutboundMessage
from adapters.toolkit import (
    BoundedDict,
    Json,
    MemberCounts,
    inside,
    number_in,
    plain_name,
    words_in,
)

_REMEMBERED = 4096
_DIRECT = 1


class ChannelDirectory:
    """Looks up channels, roles and names. `api` returns the connection or raises `Unreachable`."""

    def __init__(self, api: Callable[[], Api], *, threads: bool) -> None:
        self._api = api
        self._threads = threads
        self._places: BoundedDict[str, Place] = BoundedDict(_REMEMBERED)

    def guess(self, data: Json, channel_id: str) -> Context:
        """Build the context of a live event; the place is None if it must be fetched.

        Raises `Unreachable` and `ValueError`.
        """
        api, guild_id = self._api(), words_in(data, "guild_id")
        place = api.known_place(channel_id) or self._places.get(channel_id)
        if place is None and not guild_id and number_in(data, "channel_type", default=0) == _DIRECT:
            place = self._keep(Place(channel_id=channel_id, kind=_DIRECT))
        role = api.known_role(guild_id) if guild_id else ""
        return self._context(data, place, role=role, guild_id=guild_id)

    def read(self, message: Json, place: Place, *, role: str) -> Context:
        """Build the context of a message from a channel's history. Raises as `guess`."""
        return self._context(message, place, role=role, guild_id=place.guild_id)

    async def place(self, channel_id: str) -> Place:
        """Return a channel. Raises `AdapterError`, and `ChatGone` if it no longer exists."""
        api = self._api()
        known = api.known_place(channel_id) or self._places.get(channel_id)
        return known or self._keep(await api.fetch_place(channel_id))

    async def role(self, place: Place) -> str:
        """Return the bot's role there, empty if it has none. Raises `AdapterError`."""
        return await self._api().fetch_role(place.guild_id) if place.guild_id else ""

    def history(self, place: Place, after: str) -> AsyncIterator[list[Json]]:
        """Yield the messages after one message, in pages, oldest first. Raises `AdapterError`."""
        return self._api().read_history(place.channel_id, after)

    async def past(self, place: Place, before: str) -> list[Json]:
        """Return the hundred messages before one, oldest first. Raises `AdapterError`."""
        return await self._api().read_newest(place.channel_id, before=before)

    @property
    def bot(self) -> str:
        """The bot's user id. Raises `Unreachable`."""
        return self._api().bot

    def is_ours(self, message: Json) -> bool:
        """Tell whether the bot wrote a message. Raises `Unreachable` and `ValueError`."""
        return inside(message, "author").get("id") == self._api().bot

    def can_read(self, channel_id: str) -> bool:
        """Tell whether the bot may read a channel's history. Raises `Unreachable`."""
        return self._api().can_read(channel_id)

    def is_complete(self) -> bool:
        """Tell whether all servers of the bot are listed. Raises `Unreachable`."""
        return self._api().has_every_guild()

    def may_concern_us(self, data: object, *, is_direct: bool) -> bool:
        """Tell whether an unreadable message may be addressed to the bot.

        Other people's words in servers stay out of the database, readable or not: whoever
        addresses the bot names its id or a role, or answers it.
        """
        if is_direct or not isinstance(data, dict):
            return True
        return bool(data.get("mention_roles")) or self._api().bot in repr(data)

    async def place_of(self, message: Json, channel_id: str) -> Place:
        """Return a live message's channel; built from the message alone if Discord does not
        answer.
        """
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


_TITLE = "Talk"
FRESH = 55.0
"""Seconds for which a member count above one stays valid; the contract allows a minute."""


async def send(api: Api, message: OutboundMessage, *, opens_threads: bool) -> str:
    """Send a message, opening a thread for it if needed. Raises `AdapterError`."""
    address = message.address
    try:
        return await _post(api, message)
    except ChannelUnknown:
        if address.thread_id is None or not opens_threads:
            raise
    await _open(api, address.chat_id, address.thread_id)
    return await _post(api, message)


async def _post(api: Api, message: OutboundMessage) -> str:
    channel, body = channel_of(message.address), make_message(message, bot=api.bot)
    try:
        return await api.post(channel, body, message.file)
    except NoReplies:  # better said to nobody in particular than not at all
        body.pop("message_reference", None)
        return await api.post(channel, body, message.file)
    except MessageGone as error:  # archived, and not even by a new message to be opened again
        raise ChatGone(str(error)) from error
    except NotPermitted as error:
        if message.file is None:
            raise
        raise Rejected(
            "Talaria may not send files in this channel: give it the permission Attach Files. "
            f"{error}"
        ) from error


async def _open(api: Api, channel_id: str, message_id: str) -> None:
    """Open a message's thread, named after the message's text."""
    try:
        message = await api.fetch_message(channel_id, message_id)
        words = spell(words_in(message, "content"), {}, frozenset((api.bot,)))
        await api.open_thread(channel_id, message_id, plain_name(words) or _TITLE)
    except MessageGone as error:
        raise ChatGone(
            f"The message that was to open a thread no longer exists. {error}"
        ) from error
    except NotPermitted as error:
        raise Rejected(
            "Talaria may not open threads in this channel: give it the permission Create Public "
            f"Threads, or set discord.thread_per_mention = false. {error}"
        ) from error


async def type_in(api: Api, address: Address) -> None:
    """Show the typing indicator, above a thread that is not open yet. Raises `AdapterError`."""
    try:
        await api.type(channel_of(address))
    except ChannelUnknown:
        if address.thread_id is None:
            raise
        await api.type(address.chat_id)


async def react(api: Api, address: Address, message_id: str, *, seen: bool) -> None:
    """Add or remove 👀. Raises `AdapterError`."""
    for channel_id in _where(address, message_id):
        try:
            await api.react(channel_id, message_id, EYES, is_on=seen)
        except (ChannelUnknown, MessageGone):
            continue
        except NotPermitted as error:  # of this sign only: the chat is fine
            raise Rejected(str(error)) from error
        return
    if seen:
        raise MessageGone("The message to react to no longer exists.")


def _where(address: Address, message_id: str) -> Sequence[str]:
    """Return the channels that may hold a thread's opening message.

    It is in the parent channel, or inside the thread for a forum post.
    """
    if address.thread_id is None:
        return (address.chat_id,)
    if address.thread_id == message_id:
        return (address.chat_id, address.thread_id)
    return (address.thread_id,)


async def count(
    api: Api, directory: ChannelDirectory, member_counts: MemberCounts, address: Address
) -> int | None:
    """Count the people besides the bot, never too few. Raises `AdapterError`.

    Servers count all members, including other bots: without the right to see members and roles,
    the bot cannot know who reads a channel, and administrators read private threads. Groups
    without the bot report nothing.
    """
    if address.ticket is not None:
        return None
    if address.is_direct:
        return 1
    guild_id = (await directory.place(address.chat_id)).guild_id
    if not guild_id:
        return None

    async def ask() -> int | None:
        members = await api.count_members(guild_id)
        return None if members is None else members - 1

    people = await member_counts.count(guild_id, ask)
    return people or None


async def find_creator(api: Api, directory: ChannelDirectory, address: Address) -> str:
    """Return the owner of an address's server, "" outside of servers. Raises `AdapterError`."""
    if address.ticket is not None or address.is_direct:
        return ""
    guild_id = (await directory.place(address.chat_id)).guild_id
    return await api.find_creator(guild_id) if guild_id else ""
