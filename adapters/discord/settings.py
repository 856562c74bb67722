"""Discord's settings, read from strings."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.toolkit.options import Options

API = "https://discord.com/api/v10"
GATEWAY = "wss://gateway.discord.gg/"

_KEYS = (
    "token",
    "api_base_url",
    "gateway_url",
    "edit_interval",
    "messages_per_second",
    "thread_per_mention",
    "message_content",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordSettings:
    """The adapter's settings. All durations are in seconds."""

    token: str
    api_base_url: str = API
    """The part of the address before /channels; ends in /api/v10."""
    gateway_url: str = GATEWAY
    edit_interval: float = 1.2
    """Discord accepts about 5 edits in 5 s per channel, apart from new messages."""
    messages_per_second: float = 40.0
    """New messages per second over all channels; 0 removes the limit. Discord's own is 50 calls of
    any kind (discord.com/developers/docs/topics/rate-limits).
    """
    thread_per_mention: bool = False
    """Answer a mention in a plain channel in a thread of its own."""
    message_content: bool = True
    """Request the privileged intent to read messages that do not mention the bot."""
    longest_pause: float = 120.0
    """Upper bound of the backoff while Discord is unreachable."""
    longest_silence: float = 62.0
    """Seconds of silence after which the connection counts as dead: one and a half times the 41.25
    s between heartbeats. Discord answers each heartbeat.
    """
    patience: float = 10.0
    """Seconds that new messages wait for missed older ones of their channel."""


def read_settings(given: Mapping[str, str]) -> DiscordSettings:
    """Read settings from strings. Raises `ValueError` with a sentence for the person."""
    options = Options("Discord", given, known=_KEYS)
    token = options.text("token")
    if not token:
        raise ValueError(
            "Discord needs the bot's token: Developer Portal > your application > Bot > Reset "
            "Token. Put it into DISCORD_BOT_TOKEN."
        )
    if token.count(".") != 2 or len(token.split()) != 1 or not token.isascii():
        raise ValueError(
            "DISCORD_BOT_TOKEN does not look like a bot's token, which has three parts with "
            "dots between them. Copy all of it, without the word Bot."
        )
    return DiscordSettings(
        token=token,
        api_base_url=options.address("api_base_url", API).rstrip("/"),
        gateway_url=options.address("gateway_url", GATEWAY, schemes=("ws", "wss")),
        edit_interval=options.number("edit_interval", 1.2),
        messages_per_second=options.number("messages_per_second", 40.0),
        thread_per_mention=options.switch("thread_per_mention", default=False),
        message_content=options.switch("message_content", default=True),
    )
