"""Kinds of channels: their addresses, and whether the bot can write to them; pure."""

from dataclasses import dataclass

from adapters.discord.snowflakes import id_in
from adapters.errors import Rejected
from adapters.ids import Address
from adapters.toolkit.text import Json, inside, number_in, plain_name, words_in

_TEXT, _DIRECT, _GROUP, _NEWS = 0, 1, 3, 5
_THREADS = (10, 11, 12)
_PRIVATE_THREAD = 12
_SEND = 1 << 11
_SEND_IN_THREADS = 1 << 38
_FORWARD = 1
_WITH_BOT = 1
"""The interaction context of a direct chat with the bot; chats between people have another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordChannel:
    """A channel as Discord describes it. `guild` is empty outside servers."""

    channel_id: str
    kind: int
    name: str = ""
    parent_id: str = ""
    guild_id: str = ""
    guild: str = ""

    @property
    def is_direct(self) -> bool:
        """True for a direct chat with the bot."""
        return self.kind == _DIRECT

    @property
    def is_thread(self) -> bool:
        """True for threads and forum posts."""
        return self.kind in _THREADS

    @property
    def takes_threads(self) -> bool:
        """True if a thread can be opened on a message in this channel."""
        return self.kind in (_TEXT, _NEWS)

    @property
    def title(self) -> str | None:
        """The channel's display name, None for a direct chat."""
        if self.is_direct:
            return None
        return plain_name(f"{self.guild} #{self.name}" if self.guild else self.name) or None

    def address(self, *, ticket: str | None = None, opener: str | None = None) -> Address:
        """Build the address of an answer; `opener` is a message that opens its own thread.

        A private thread is a room of its own: its content must not appear in its channel.
        """
        opened = opener if self.takes_threads else None
        is_part = self.is_thread and self.kind != _PRIVATE_THREAD
        return Address(
            chat_id=self.parent_id if is_part and self.parent_id else self.channel_id,
            thread_id=self.channel_id if is_part else opened,
            is_direct=self.is_direct and ticket is None,
            ticket=ticket,
        )


def read_place(channel: Json, *, guild_id: str = "", guild: str = "") -> DiscordChannel:
    """Parse a channel from REST, an interaction or `write_place`. Raises `ValueError`."""
    return DiscordChannel(
        channel_id=id_in(channel, "id"),
        kind=number_in(channel, "type", default=0),
        name=plain_name(words_in(channel, "name")),
        parent_id=words_in(channel, "parent_id"),
        guild_id=words_in(channel, "guild_id") or guild_id,
        guild=words_in(channel, "guild_name") or guild,
    )


def write_place(place: DiscordChannel) -> Json:
    """Serialise a channel for `read_place`."""
    return {
        "id": place.channel_id,
        "type": place.kind,
        "name": place.name,
        "parent_id": place.parent_id,
        "guild_id": place.guild_id,
        "guild_name": place.guild,
    }


def is_forward(message: Json) -> bool:
    """True for a forwarded message. Raises `ValueError`."""
    reference = inside(message, "message_reference")
    return number_in(reference, "type", default=0) == _FORWARD


def can_write(interaction: Json, place: DiscordChannel) -> bool:
    """Return whether the bot may write in the place where it was called. Raises `ValueError`."""
    if place.is_direct:
        return bool(interaction.get("context", _WITH_BOT) == _WITH_BOT)
    if "0" not in (inside(interaction, "authorizing_integration_owners")):
        return False  # a person brought the bot; it is no member of the place
    permissions = words_in(interaction, "app_permissions")
    if not place.guild_id or not permissions.isdecimal():
        return False
    return bool(int(permissions) & (_SEND_IN_THREADS if place.is_thread else _SEND))


def channel_of(address: Address) -> str:
    """Return the channel that holds an address's messages. Raises `Rejected`."""
    name = address.thread_id or address.chat_id
    if not (name.isascii() and name.isdecimal()):
        raise Rejected(f'"{name}" is no channel of Discord.')
    return name
