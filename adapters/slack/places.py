"""Maps addresses to channels and threads, and names their read positions; pure."""

import re

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId

HOME_MESSAGE = PlatformMessageId("home")
"""The only "message" of an App Home."""
_HOME = "home:"
_GUEST = "guest"
_COMMAND = "command:"


def home_of(user: str) -> Address:
    """Return the address of a person's App Home; each message replaces its whole content."""
    return Address(chat_id=_HOME + user, is_direct=True)


def home_owner(address: Address) -> str | None:
    """Return the person of an App Home address, or None."""
    user = address.chat_id.removeprefix(_HOME)
    return user if user != address.chat_id else None


def channel_of(address: Address) -> str:
    """Return the channel id. Raises `Rejected` if the address is not a Slack channel."""
    if not address.chat_id.isalnum():
        raise Rejected(f'"{address.chat_id}" is no channel of Slack.')
    return address.chat_id


def make_ticket(url: str) -> str | None:
    """Return the ticket of a command whose answer only the sender sees; None without a URL."""
    return _COMMAND + url if url else None


def read_ticket(ticket: str) -> tuple[str, bool]:
    """Return the response URL of a ticket, and whether only the sender may see the answer."""
    return ticket.removeprefix(_COMMAND), ticket.startswith(_COMMAND)


def is_im(channel: str) -> bool:
    """Return True for a chat of two: with the bot or, in a slash command, between two people."""
    return channel.startswith("D")


def mark_of(channel: str, thread: str | None, *, is_ours: bool) -> str:
    """Return the name of a read position: of our thread, another thread, or a channel.

    A thread is ours if a message to or from the bot started it: every message in it addresses the
    bot. In other threads, only mentions do.
    """
    if thread is None:
        return channel
    return f"{channel}:{thread}" if is_ours else f"{channel}:{thread}:{_GUEST}"


def read_mark(mark: str) -> tuple[str, str | None, bool]:
    """Parse a read position's name: channel, thread if any, and whether it is ours."""
    channel, _, rest = mark.partition(":")
    thread, _, kind = rest.partition(":")
    return channel, thread or None, kind != _GUEST


_TS = re.compile(r"\d{10}\.\d{6}")


def is_ts(text: str) -> bool:
    """True for a message timestamp; timestamps sort as text."""
    return _TS.fullmatch(text) is not None


def milliseconds(ts: str) -> int:
    """Convert a timestamp to milliseconds since the epoch. Raises `ValueError`."""
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int((rest or "0")[:3].ljust(3, "0"))
