"""Telegram's settings, read from strings."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.toolkit.options import Options

API = "https://api.telegram.org"

_KEYS = ("token", "base_url", "messages_per_second", "edit_interval", "poll_timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """The adapter's settings. All durations are in seconds."""

    token: str
    base_url: str = API
    """The part of the address before /bot<token>."""
    messages_per_second: float = 30.0
    """New messages per second over all chats; 0 removes every limit, including that of one chat.
    Telegram's own limit is about 30 (core.telegram.org/bots/faq).
    """
    edit_interval: float = 1.0
    poll_timeout: int = 30
    """Seconds that Telegram may hold a request for updates."""
    conflict_patience: float = 30.0
    """Seconds for which another poller is tolerated, because the last request of a killed process
    may stay open at Telegram for a while.
    """
    answer_timeout: float = 25.0
    poll_margin: float = 10.0
    """Seconds after the requested wait until a request for updates is abandoned."""
    silence_margin: float = 15.0
    """Seconds of silence after the longest poll until the connection counts as dead."""
    longest_pause: float = 30.0
    """Upper bound of the backoff while Telegram is unreachable."""


def read_settings(given: Mapping[str, str]) -> TelegramSettings:
    """Read settings from strings. Raises `ValueError` with a sentence for the person."""
    options = Options("Telegram", given, known=_KEYS)
    token = options.text("token")
    if not token:
        raise ValueError("Telegram needs the token that @BotFather gave you: TELEGRAM_BOT_TOKEN.")
    number, colon, secret = token.partition(":")
    if not (number.isascii() and number.isdecimal() and colon and secret):
        raise ValueError(
            "TELEGRAM_BOT_TOKEN does not look like a token: @BotFather gives digits, a colon "
            "and 35 letters. Copy all of it."
        )
    base_url = options.address("base_url", API, hint=": what stands before /bot<token>")
    return TelegramSettings(
        token=token,
        base_url=base_url.rstrip("/"),
        messages_per_second=options.number("messages_per_second", 30.0),
        edit_interval=options.number("edit_interval", 1.0),
        poll_timeout=int(options.number("poll_timeout", 30, least=1)),
    )
