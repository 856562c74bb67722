"""The tables of the chat platforms in config.toml."""

from typing import Literal

from pydantic import Field

from gateway.app.tables import Table
from gateway.app.types import ListenAddress


class TelegramSettings(Table, title="Telegram"):
    """Rates of the Telegram adapter."""

    messages_per_second: float = Field(30.0, ge=0, le=1000)
    """Most new messages per second. 0 for no limit. Telegram allows about 30."""
    edit_interval: float = Field(1.0, ge=0, le=60)
    """Fewest seconds between two edits of a growing answer."""
    poll_timeout: int = Field(30, ge=0, le=50)
    """Seconds that one request for updates waits."""


class DiscordSettings(Table, title="Discord"):
    """Rates and habits of the Discord adapter."""

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


class SlackSettings(Table, title="Slack"):
    """Event delivery and rates of the Slack adapter."""

    mode: Literal["socket", "http"] = "socket"
    """How events arrive. `socket` needs `SLACK_APP_TOKEN`, `http` needs `SLACK_SIGNING_SECRET`."""
    http_bind: ListenAddress = "127.0.0.1"
    """The address for events in HTTP mode. Put a proxy with TLS in front of it."""
    http_port: int = Field(3000, ge=1, le=65_535)
    """The port for events in HTTP mode, at `/slack/events`."""
    sockets: int = Field(2, ge=1, le=10)
    """Websockets held at the same time in socket mode. While one reconnects, the others continue.
    """
    messages_per_second: float = Field(10.0, ge=0, le=1000)
    """Most new messages per second. 0 for no limit. Slack allows one per second in each channel."""
    edit_interval: float = Field(1.5, ge=0, le=60)
    """Fewest seconds between two edits of a growing answer."""
    streaming: bool = True
    """Whether answers use Slack's own streaming if the workspace has it."""
