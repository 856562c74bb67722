"""Maps Discord's error codes and discord.py's exceptions to platform errors."""

import aiohttp
import discord

from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
)
from adapters.toolkit.http import name_mishap, read_wait

PORTAL = "Developer Portal (discord.com/developers) > your application > Bot"

_DEFAULT_WAIT = 5.0
"""Seconds to wait after a 429 that names no time."""
_CHANNEL_UNKNOWN = 10003
_CHAT_GONE = frozenset((
    10004,  # unknown server
    10013,  # unknown user
    10015,  # unknown webhook: the command can't be answered any more
    50001,  # no access
    50007,  # this person takes no messages from the bot
    50008,  # not a channel of text
    50027,  # the webhook's token has expired
    50278,  # no server in common with this person
    160005,  # the thread is locked
))  # fmt: skip
_MESSAGE_UNKNOWN = 10008
_MESSAGE_LOCKED = frozenset((
    30046,  # too many edits of an old message
    50005,  # somebody else's message
    50021,  # a system message
    50083,  # the thread is archived; a new message would reopen it
))  # fmt: skip
_NOT_PERMITTED = 50013
_NO_REPLIES = 160002
_ALREADY_THERE = 160004
"""The message already has a thread."""
_TOO_LATE = frozenset((10062, 40060))
"""The interaction is unknown or already acknowledged."""
_JSON = "application/json"
_PASSING = frozenset((404, 407, 408))
"""Temporary errors of a proxy. Discord's own errors are JSON, except its 413."""
_FATAL = {
    4004: f"Discord does not know the token in DISCORD_BOT_TOKEN. Make a new one: {PORTAL} > "
    "Reset Token.",
    4010: "Discord refuses how the bot's work is divided (invalid shard).",
    4011: "The bot is in too many servers for one connection (more than 2,500).",
    4012: "Discord's gateway does not speak this version any more. Update Talaria.",
    4013: "Discord does not know one of the intents that Talaria asks for. Update Talaria.",
    4014: "The bot may not read messages in servers. Turn on the switch: "
    f"{PORTAL} > Privileged Gateway Intents > Message Content Intent; or set "
    "discord.message_content = false.",
}
"""Close codes after which reconnecting is useless (discord.com/developers, gateway close codes)."""
WIRE_ERRORS = (discord.DiscordException, aiohttp.ClientError, OSError, ValueError)
"""Everything that a call of discord.py may raise; a `ValueError` is invalid JSON."""


class ChannelUnknown(ChatGone):
    """The channel does not exist, or not yet: a thread that was never opened."""


class NotPermitted(ChatGone):
    """The bot lacks a permission in this place."""


class NoReplies(Rejected):
    """The bot may write there, but not reply to others' messages."""


class AlreadyThere(Rejected):
    """The object to create already exists."""


class TooLate(Rejected):
    """The interaction can no longer be acknowledged."""


def translate(error: BaseException, *, lost: type[AdapterError] = Unreachable) -> AdapterError:
    """Map an exception of a call to a platform error.

    `lost` is for a request without a clear answer; pass `Unsure` for calls that must not repeat.
    """
    match error:
        case AdapterError():
            return error
        case discord.RateLimited():
            return _limited(error.retry_after)
        case discord.HTTPException():
            return _translate_answer(error, lost)
        case discord.ConnectionClosed():
            return _translate_close(error.code)
        case discord.PrivilegedIntentsRequired():
            return AdapterStopped(_FATAL[4014])
        case discord.LoginFailure():
            return AdapterStopped(_FATAL[4004])
        case discord.GatewayNotFound():
            return Unreachable("Discord does not tell where its gateway is.")
        case aiohttp.ClientError() | OSError() | ValueError():
            return name_mishap(error, "Discord", lost=lost)
        case _:  # a part of discord.py that Talaria does not use; a repeat would fail, too
            return Rejected(f"discord.py can't do that: {error or type(error).__name__}.")


def _translate_answer(error: discord.HTTPException, lost: type[AdapterError]) -> AdapterError:
    code, said = error.code, f"Discord: {error.text or error.status} ({error.code})."
    if error.status == 429:
        header = error.response.headers.get("Retry-After", "")
        return _limited(read_wait(header, default=_DEFAULT_WAIT))
    if error.status >= 500:
        return lost(f"Discord is unwell: {error.status}.")
    if code == _CHANNEL_UNKNOWN:
        return ChannelUnknown(said)
    if code == _NOT_PERMITTED:
        return NotPermitted(said)
    if code == _NO_REPLIES:
        return NoReplies(said)
    if code == _ALREADY_THERE:
        return AlreadyThere(said)
    if code in _CHAT_GONE:
        return ChatGone(said)
    if code == _MESSAGE_UNKNOWN:
        return MessageGone(said)
    if code in _MESSAGE_LOCKED:
        return MessageLocked(said)
    if code in _TOO_LATE:
        return TooLate(said)
    if error.status == 401:
        return AdapterStopped(_FATAL[4004])
    if not code and (isinstance(error, discord.Forbidden) or _is_page(error)):
        return Unreachable(f"Something before Discord refuses the call ({error.status}).")
    return Rejected(said)


def _is_page(error: discord.HTTPException) -> bool:
    """Return True for an answer of a proxy or an unhealthy server; it may differ later."""
    content_type = str(error.response.headers.get("Content-Type", _JSON))
    return error.status in _PASSING and not content_type.startswith(_JSON)


def _translate_close(code: int) -> AdapterError:
    if code in _FATAL:
        return AdapterStopped(f"{_FATAL[code]} (The gateway closed with {code}.)")
    return Unreachable(f"Discord's gateway closed the connection with {code}.")


def _limited(seconds: float) -> RateLimited:
    return RateLimited(f"Discord asks to wait for {seconds:g} s.", retry_after=seconds)
