"""Slack's settings."""

import json
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field

from adapters.toolkit.table import ON_MACHINE, ListenAddress, Table, read_address

API = "https://slack.com/api/"


class SlackTable(Table, title="Slack", on_page=True):
    """Sets event delivery and rates of the Slack adapter."""

    mode: Annotated[Literal["socket", "http"], ON_MACHINE] = "socket"
    """How events arrive. `socket` needs `SLACK_APP_TOKEN`, `http` needs `SLACK_SIGNING_SECRET`."""
    http_bind: ListenAddress = "127.0.0.1"
    """The address for events in HTTP mode. Put a proxy with TLS in front of it."""
    http_port: Annotated[int, ON_MACHINE] = Field(3000, ge=1, le=65_535)
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


TABLE = SlackTable


class SlackSettings(SlackTable):
    """The adapter's settings: the table, the app, and durations in seconds that nobody sets."""

    bot_token: str = Field(repr=False)
    app_token: str = Field("", repr=False)
    """Opens websockets; not needed in HTTP mode."""
    signing_secret: str = Field("", repr=False)
    """Verifies Slack's requests in HTTP mode."""
    base_url: str = API
    heartbeat: float = 15.0
    """Seconds of silence after which a websocket is pinged; it has half that time to answer."""
    longest_hold: float = 10.0
    """Seconds at the start of a connection in which catch-up reads the new messages."""
    longest_pause: float = 30.0
    """Upper bound of the backoff while Slack is unreachable."""


def make_settings(
    table: SlackTable,
    *,
    bot_token: str,
    app_token: str = "",
    signing_secret: str = "",
    base_url: str | None = None,
) -> SlackSettings:
    """Add the app to the table. Raises `ValueError` with a sentence for the person."""
    if table.mode == "http" and not signing_secret:
        raise ValueError(
            "Slack's HTTP mode needs the signing secret, which tells Slack's requests from "
            "others: SLACK_SIGNING_SECRET, from Basic Information on your app's page."
        )
    if not bot_token.startswith("xoxb-"):
        raise ValueError(
            "SLACK_BOT_TOKEN does not look like a bot's token: it should begin with xoxb-. Copy "
            "the Bot User OAuth Token from OAuth & Permissions on your app's page."
        )
    _check_app_token(app_token, is_needed=table.mode == "socket")
    server = read_address(
        "SLACK_API_BASE_URL", base_url, API, ending="/api", hint=": it ends in /api/"
    )
    return SlackSettings(
        **dict(table),
        bot_token=bot_token,
        app_token=app_token,
        signing_secret=signing_secret,
        base_url=server.rstrip("/") + "/",
    )


def read_manifest_scopes() -> frozenset[str]:
    """Return the scopes that Talaria's manifest asks for."""
    manifest = json.loads(files("adapters.slack").joinpath("manifest.json").read_text("utf-8"))
    return frozenset(manifest["oauth_config"]["scopes"]["bot"])


def _check_app_token(token: str, *, is_needed: bool) -> None:
    if not token and is_needed:
        raise ValueError(
            "Slack's Socket Mode needs an app-level token with the scope connections:write (it "
            "begins with xapp-): SLACK_APP_TOKEN, from Basic Information on your app's page."
        )
    if token and not token.startswith("xapp-"):
        raise ValueError(
            "SLACK_APP_TOKEN does not look like an app-level token: it should begin with xapp-. "
            "Make one under Basic Information, App-Level Tokens, on your app's page."
        )
