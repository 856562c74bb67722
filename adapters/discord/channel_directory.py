"""Looks up channels, the bot's roles and names; sends to channels and opens threads."""

from collections.abc import AsyncIterator, Callable, Sequence

from adapters.discord.api import Api
from adapters.discord.errors import ChannelUnknown, NoReplies, NotPermitted
from adapters.discord.payloads import EYES, make_message
from adapters.discord.places import DiscordChannel, channel_of
from adapters.discord.receive import Context
from adapters.discord.snowflakes import marked_ids, spell
from adapters.errors import AdapterError, ChatGone, MessageGone, Rejected
from adapters.ids import Address
from adapters.messages import OutboundMessage
from adapters.toolkit.caches import BoundedDict, MemberCounts
from adapters.toolkit.text import Json, inside, number_in, plain_name, words_in

_REMEMBERED = 4096
_DIRECT = 1


class ChannelDirectory:
    """Looks up channels, roles and names. `api` returns the connection or raises `Unreachable`."""

    def __init__(self, api: Callable[[], Api], *, threads: bool) -> None:
        self._api = api
        self._threads = threads
        self._places: BoundedDict[str, DiscordChannel] = BoundedDict(_REMEMBERED)

    def guess(self, data: Json, channel_id: str) -> Context:
        """Build the context of a live event; its place is None if that must be fetched.

        Raises `Unreachable` and `ValueError`.
        """
        api, guild_id = self._api(), words_in(data, "guild_id")
        place = api.known_place(channel_id) or self._places.get(channel_id)
        if place is None and not guild_id and number_in(data, "channel_type", default=0) == _DIRECT:
            place = self._keep(DiscordChannel(channel_id=channel_id, kind=_DIRECT))
        role = api.known_role(guild_id) if guild_id else ""
        return self._context(data, place, role=role, guild_id=guild_id)

    def read(self, message: Json, place: DiscordChannel, *, role: str) -> Context:
        """Build the context of a message that was read from a channel's history.

        Raises the same errors as `guess`.
        """
        return self._context(message, place, role=role, guild_id=place.guild_id)

    async def place(self, channel_id: str) -> DiscordChannel:
        """Return a channel. Raises `AdapterError`, and `ChatGone` if it no longer exists."""
        api = self._api()
        known = api.known_place(channel_id) or self._places.get(channel_id)
        return known or self._keep(await api.fetch_place(channel_id))

    async def role(self, place: DiscordChannel) -> str:
        """Return the bot's role in a server, empty if it has none. Raises `AdapterError`."""
        return await self._api().fetch_role(place.guild_id) if place.guild_id else ""

    def history(self, place: DiscordChannel, after: str) -> AsyncIterator[list[Json]]:
        """Yield the messages after one message, in pages, oldest first. Raises `AdapterError`."""
        return self._api().read_history(place.channel_id, after)

    def archived_threads(self, channel_id: str) -> AsyncIterator[list[Json]]:
        """Yield a channel's archived public threads, in pages, the last archived ones first.

        Raises `AdapterError`.
        """
        return self._api().read_archived(channel_id)

    async def past(self, place: DiscordChannel, before: str) -> list[Json]:
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
        """Return whether an unreadable message may be addressed to the bot.

        Only messages that address the bot may be stored, even unreadable ones. Such a message
        contains the bot's id or a role, or answers the bot.
        """
        if is_direct or not isinstance(data, dict):
            return True
        return bool(data.get("mention_roles")) or self._api().bot in repr(data)

    async def place_of(self, message: Json, channel_id: str) -> DiscordChannel:
        """Return a live message's channel; without an answer, build it from the message."""
        try:
            return await self.place(channel_id)
        except AdapterError:
            guild_id = words_in(message, "guild_id")
            # Outside of servers, a bot has only direct chats.
            kind = number_in(message, "channel_type", default=0 if guild_id else _DIRECT)
            return DiscordChannel(channel_id=channel_id, kind=kind, guild_id=guild_id)

    def _context(
        self, data: Json, place: DiscordChannel | None, *, role: str, guild_id: str
    ) -> Context:
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

    def _keep(self, place: DiscordChannel) -> DiscordChannel:
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
    except NoReplies:  # a message that answers nothing is better than none
        body.pop("message_reference", None)
        return await api.post(channel, body, message.file)
    except MessageGone as error:  # the thread is archived, and a message does not reopen it
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
    """Show the typing indicator; if the thread is not open yet, in its parent channel. Raises
    `AdapterError`.
    """
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
        except NotPermitted as error:  # only this reaction is forbidden: the chat works
            raise Rejected(str(error)) from error
        return
    if seen:
        raise MessageGone("The message to react to no longer exists.")


def _where(address: Address, message_id: str) -> Sequence[str]:
    """Return the channels that may hold a thread's opening message.

    The message is in the parent channel or, for a forum post, inside the thread.
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

    In a server, counts all members, including other bots. Without the right to see members and
    roles, the bot cannot know who reads a channel, and administrators read private threads. The
    count of a group without the bot is unknown.
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
    """Return the owner of an address's server; "" outside of servers. Raises `AdapterError`."""
    if address.ticket is not None or address.is_direct:
        return ""
    guild_id = (await directory.place(address.chat_id)).guild_id
    return await api.find_creator(guild_id) if guild_id else ""
