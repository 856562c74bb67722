"""Discord's settings."""

from pydantic import Field

from adapters.toolkit.table import Table, read_address

API = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"


class DiscordTable(Table, title="Discord", on_page=True):
    """Sets the rates and habits of the Discord adapter."""

    messages_per_second: float = Field(40.0, ge=0, le=1000)
    """Most new messages per second. 0 for no limit. Discord allows 50 calls of any kind."""
    edit_interval: float = Field(1.2, ge=0, le=60)
    """Fewest seconds between two edits of a growing answer."""
    thread_per_mention: bool = False
    """Whether a mention in a plain channel is answered in a new thread."""
    message_content: bool = True
    """Whether to ask for the privileged Message Content Intent. Without it, quoted messages of
    others may be empty.
    """


TABLE = DiscordTable


class DiscordSettings(DiscordTable):
    """The adapter's settings: the table, the bot, and durations in seconds that nobody sets."""

    token: str = Field(repr=False)
    api_base_url: str = API
    """The part of the address before /channels; ends in /api/v10."""
    gateway_url: str = GATEWAY
    longest_pause: float = 120.0
    """Upper bound of the backoff while Discord is unreachable."""
    longest_silence: float = 62.0
    """Seconds of silence after which the connection counts as dead: one and a half times the 41.25
    s between heartbeats. Discord answers each heartbeat.
    """
    patience: float = 10.0
    """Seconds that new messages wait for missed older ones of their channel."""


def make_settings(
    table: DiscordTable,
    *,
    token: str,
    api_base_url: str | None = None,
    gateway_url: str | None = None,
) -> DiscordSettings:
    """Add the bot to the table. Raises `ValueError` with a sentence for the person."""
    if token.count(".") != 2 or len(token.split()) != 1 or not token.isascii():
        raise ValueError(
            "DISCORD_BOT_TOKEN does not look like a bot's token, which has three parts with "
            "dots between them. Copy all of it, without the word Bot."
        )
    return DiscordSettings(
        **dict(table),
        token=token,
        api_base_url=read_address("DISCORD_API_BASE_URL", api_base_url, API).rstrip("/"),
        gateway_url=read_address(
            "DISCORD_GATEWAY_URL", gateway_url, GATEWAY, schemes=("ws", "wss")
        ),
    )
