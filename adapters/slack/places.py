"""Turns addresses into channels and threads, and names the marks up to which they were read."""

import re

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId

HOME_MESSAGE = PlatformMessageId("home")
"""The one "message" of an App Home."""
_HOME = "home:"
_GUEST = "guest"


def home_of(user: str) -> Address:
    """The App Home of a person: a page that is replaced whole."""
    return Address(chat_id=_HOME + user, is_direct=True)


def home_owner(address: Address) -> str | None:
    """Whose App Home an address is; None if it is none."""
    user = address.chat_id.removeprefix(_HOME)
    return user if user != address.chat_id else None


def channel_of(address: Address) -> str:
    """The channel's id. Raises `Rejected` if the address is not one of Slack's channels."""
    if not address.chat_id.isalnum():
        raise Rejected(f'"{address.chat_id}" is no channel of Slack.')
    return address.chat_id


def is_im(channel: str) -> bool:
    """True for talks of two: the bot's, or (in a slash command) of two people."""
    return channel.startswith("D")


def mark_of(channel: str, thread: str | None, *, is_ours: bool) -> str:
    """The name under which a place is marked: a thread of ours, one of others, or a channel.

    A thread is ours when it began with a message to the bot or of the bot: what is said in it
    is meant for the bot. In a thread of others only a mention is.
    """
    if thread is None:
        return channel
    return f"{channel}:{thread}" if is_ours else f"{channel}:{thread}:{_GUEST}"


def read_mark(mark: str) -> tuple[str, str | None, bool]:
    """The channel, the thread if it is one, and whether that is ours."""
    channel, _, rest = mark.partition(":")
    thread, _, kind = rest.partition(":")
    return channel, thread or None, kind != _GUEST


_TS = re.compile(r"\d{10}\.\d{6}")


def is_ts(text: str) -> bool:
    """True for the time stamps by which Slack names messages; they sort as text."""
    return _TS.fullmatch(text) is not None


def milliseconds(ts: str) -> int:
    """A time stamp as milliseconds since the epoch. Raises `ValueError`."""
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int((rest or "0")[:3].ljust(3, "0"))
