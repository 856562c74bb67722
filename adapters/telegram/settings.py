"""What can be set about Telegram, read from strings."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

API = "https://api.telegram.org"

_KEYS = ("token", "base_url", "messages_per_second", "edit_interval", "poll_timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings:
    """Everything that an adapter needs to know. All durations are in seconds."""

    token: str
    base_url: str = API
    """What stands before /bot<token>."""
    messages_per_second: float = 30.0
    """New messages a second over all chats; 0 lifts every limit, also that of one chat.
    Telegram's own limit is about 30 (core.telegram.org/bots/faq)."""
    edit_interval: float = 1.0
    poll_timeout: int = 30
    """How long Telegram may keep a request for updates open."""
    conflict_patience: float = 30.0
    """How long another program may read with the same token before this one gives up. The
    last request of a process that was killed may stay open at Telegram for a while."""
    longest_pause: float = 30.0
    """Upper bound of the pause between two attempts while Telegram can't be reached."""


def read_settings(options: Mapping[str, str]) -> TelegramSettings:
    """Read settings from strings. Raises `ValueError` with a sentence for the person."""
    for key in options:
        if key not in _KEYS:
            raise ValueError(f'Telegram has no setting "{key}"; it has {", ".join(_KEYS)}.')
    token = options.get("token", "").strip()
    if not token:
        raise ValueError("Telegram needs the token that @BotFather gave you: TELEGRAM_BOT_TOKEN.")
    number, colon, secret = token.partition(":")
    if not (number.isascii() and number.isdecimal() and colon and secret):
        raise ValueError(
            "TELEGRAM_BOT_TOKEN does not look like a token: @BotFather gives digits, a colon "
            "and 35 letters. Copy the whole of it."
        )
    return TelegramSettings(
        token=token,
        base_url=_read_address(options.get("base_url") or API),
        messages_per_second=_read_number(options, "messages_per_second", 30.0, least=0),
        edit_interval=_read_number(options, "edit_interval", 1.0, least=0),
        poll_timeout=int(_read_number(options, "poll_timeout", 30, least=1)),
    )


def _read_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise ValueError(
            f'Telegram\'s base_url is "{text}", but should look like {API}: what stands before '
            "/bot<token>."
        )
    return text.rstrip("/")


def _read_number(options: Mapping[str, str], key: str, default: float, *, least: float) -> float:
    text = options.get(key)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not least <= number <= 86_400:
        raise ValueError(
            f'Telegram\'s {key} is "{text}", but should be a number from {least} to 86400.'
        )
    return number
