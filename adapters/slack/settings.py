"""Slack's settings, read from strings."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from adapters.toolkit.options import Options

API = "https://slack.com/api/"

Mode = Literal["socket", "http"]

_KEYS = (
    *("bot_token", "app_token", "signing_secret", "base_url", "mode", "http_bind", "http_port"),
    *("sockets", "edit_interval", "messages_per_second", "streaming"),
)
_MOST_SOCKETS = 10
"""Slack allows at most ten connections per app (docs: Using Socket Mode)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """The adapter's settings. All durations are in seconds."""

    bot_token: str
    app_token: str = ""
    """Opens websockets; not needed in HTTP mode."""
    signing_secret: str = ""
    """Verifies Slack's requests in HTTP mode."""
    base_url: str = API
    mode: Mode = "socket"
    http_bind: str = "127.0.0.1"
    http_port: int = 3000
    sockets: int = 2
    """Concurrent websockets: while one reconnects, the others continue."""
    edit_interval: float = 1.5
    messages_per_second: float = 10.0
    """New messages per second over all channels; 0 removes every limit, including the channel's.
    Slack's own limit is one a second per channel (docs: rate limits, chat.postMessage).
    """
    is_streaming: bool = True
    """Use Slack's streaming if the workspace supports it."""
    heartbeat: float = 15.0
    """Seconds of silence after which a websocket is pinged; it has half that time to answer."""
    longest_hold: float = 10.0
    """Seconds at the start of a connection in which catch-up reads the new messages."""
    longest_pause: float = 30.0
    """Upper bound of the backoff while Slack is unreachable."""


def read_settings(given: Mapping[str, str]) -> SlackSettings:
    """Read settings from strings. Raises `ValueError` with a sentence for the person."""
    options = Options("Slack", given, known=_KEYS)
    mode = options.text("mode", "socket").lower()
    if mode not in ("socket", "http"):
        raise ValueError(f'Slack\'s mode is "{mode}", but should be "socket" or "http".')
    signing_secret = options.text("signing_secret")
    if mode == "http" and not signing_secret:
        raise ValueError(
            "Slack's HTTP mode needs the signing secret, which tells Slack's requests from "
            "others: SLACK_SIGNING_SECRET, from Basic Information on your app's page."
        )
    base_url = options.address("base_url", API, ending="/api", hint=": it ends in /api/")
    return SlackSettings(
        bot_token=_read_bot_token(options.text("bot_token")),
        app_token=_read_app_token(options.text("app_token"), is_needed=mode == "socket"),
        signing_secret=signing_secret,
        base_url=base_url.rstrip("/") + "/",
        mode="http" if mode == "http" else "socket",
        http_bind=options.text("http_bind", "127.0.0.1"),
        http_port=int(options.number("http_port", 3000, most=65_535)),
        sockets=int(options.number("sockets", 2, least=1, most=_MOST_SOCKETS)),
        edit_interval=options.number("edit_interval", 1.5),
        messages_per_second=options.number("messages_per_second", 10.0),
        is_streaming=options.switch("streaming", default=True),
    )


def read_manifest_scopes() -> frozenset[str]:
    """Return the scopes that Talaria's manifest asks for."""
    manifest = json.loads(files("adapters.slack").joinpath("manifest.json").read_text("utf-8"))
    return frozenset(manifest["oauth_config"]["scopes"]["bot"])


def _read_bot_token(token: str) -> str:
    if not token:
        raise ValueError(
            "Slack needs the Bot User OAuth Token from OAuth & Permissions on your app's page "
            "(it begins with xoxb-): SLACK_BOT_TOKEN."
        )
    if not token.startswith("xoxb-"):
        raise ValueError(
            "SLACK_BOT_TOKEN does not look like a bot's token: it should begin with xoxb-. Copy "
            "the Bot User OAuth Token from OAuth & Permissions on your app's page."
        )
    return token


def _read_app_token(token: str, *, is_needed: bool) -> str:
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
    return token
