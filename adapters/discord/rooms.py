"""Writes where the bot is a member: channels, threads that may have to be opened, direct talks."""

from collections.abc import Sequence

from adapters.counts import Counts
from adapters.discord.api import Api
from adapters.discord.facts import Facts
from adapters.discord.payloads import EYES, make_message
from adapters.discord.places import channel_of
from adapters.discord.refusals import ChannelUnknown, NoReplies, NotPermitted
from adapters.discord.words import spell
from adapters.errors import ChatGone, MessageGone, Rejected
from adapters.ids import Address
from adapters.letters import plain_name
from adapters.messages import OutboundMessage
from adapters.untrusted import words_in

_TITLE = "Talk"
FRESH = 55.0
"""Seconds for which others are taken to be there still; the contract allows a minute."""


async def send(api: Api, message: OutboundMessage, *, opens_threads: bool) -> str:
    """Post a message, in a thread that is opened for it if need be. Raises `AdapterError`."""
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
    """Open the thread of a message, named after its words."""
    try:
        message = await api.fetch_message(channel_id, message_id)
        words = spell(words_in(message, "content"), {}, frozenset((api.bot,)))
        await api.open_thread(channel_id, message_id, plain_name(words) or _TITLE)
    except MessageGone as error:
        raise ChatGone(f"The message that was to open a thread is gone. {error}") from error
    except NotPermitted as error:
        raise Rejected(
            "Talaria may not open threads in this channel: give it the permission Create Public "
            f"Threads, or set discord.thread_per_mention = false. {error}"
        ) from error


async def type_in(api: Api, address: Address) -> None:
    """Show "typing", above a thread that is not open yet. Raises `AdapterError`."""
    try:
        await api.type(channel_of(address))
    except ChannelUnknown:
        if address.thread_id is None:
            raise
        await api.type(address.chat_id)


async def react(api: Api, address: Address, message_id: str, *, seen: bool) -> None:
    """Put 👀 to a message, or take it away. Raises `AdapterError`."""
    for channel_id in _where(address, message_id):
        try:
            await api.react(channel_id, message_id, EYES, is_on=seen)
        except (ChannelUnknown, MessageGone):
            continue
        except NotPermitted as error:  # of this sign only: the chat is fine
            raise Rejected(str(error)) from error
        return
    if seen:
        raise MessageGone("The message to react to is gone.")


def _where(address: Address, message_id: str) -> Sequence[str]:
    """What opened a thread stands above it, or in it where it opened a post in a forum."""
    if address.thread_id is None:
        return (address.chat_id,)
    if address.thread_id == message_id:
        return (address.chat_id, address.thread_id)
    return (address.thread_id,)


async def count(api: Api, facts: Facts, counts: Counts, address: Address) -> int | None:
    """The people besides the bot, never too few. Raises `AdapterError`.

    In servers all members are counted, other bots as well: who may read a channel can't
    be told without the right to see members and roles, and whoever runs a server reads
    its private threads too. Groups that the bot is not in do not say.
    """
    if address.ticket is not None:
        return None
    if address.is_direct:
        return 1
    guild_id = (await facts.place(address.chat_id)).guild_id
    if not guild_id:
        return None

    async def ask() -> int:
        return max(await api.count_members(guild_id) - 1, 0)

    people = await counts.count(guild_id, ask)
    return people or None
