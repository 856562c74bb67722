"""Telegram's settings."""

from pydantic import Field

from adapters.toolkit.table import Table, read_address

API = "https://api.telegram.org"


class TelegramTable(Table, title="Telegram", on_page=True):
    """Sets the rates of the Telegram adapter."""

    messages_per_second: float = Field(30.0, ge=0, le=1000)
    """Most new messages per second. 0 for no limit. Telegram allows about 30."""
    edit_interval: float = Field(1.0, ge=0, le=60)
    """Fewest seconds between two edits of a growing answer."""
    poll_timeout: int = Field(30, ge=1, le=50)
    """Seconds that one request for updates waits."""


TABLE = TelegramTable


class TelegramSettings(TelegramTable):
    """The adapter's settings: the table, the bot, and durations in seconds that nobody sets."""

    token: str = Field(repr=False)
    base_url: str = API
    """The part of the address before /bot<token>."""
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


def make_settings(
    table: TelegramTable, *, token: str, base_url: str | None = None
) -> TelegramSettings:
    """Add the bot to the table. Raises `ValueError` with a sentence for the person."""
    number, colon, secret = token.partition(":")
    if not (number.isascii() and number.isdecimal() and colon and secret):
        raise ValueError(
            "TELEGRAM_BOT_TOKEN does not look like a token: @BotFather gives digits, a colon "
            "and 35 letters. Copy all of it."
        )
    server = read_address(
        "TELEGRAM_API_BASE_URL", base_url, API, hint=": what stands before /bot<token>"
    )
    return TelegramSettings(**dict(table), token=token, base_url=server.rstrip("/"))
