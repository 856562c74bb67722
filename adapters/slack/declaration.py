"""Slack as everything outside of this folder knows it."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from adapters.declaration import Platform, Variable

if TYPE_CHECKING:
    from adapters.slack.settings import SlackTable

_STEPS = """\
1. Open this link. It fills in a new app for Talaria. Choose your workspace, and create the app.
   {link}
2. Under Basic Information, App-Level Tokens, make a token with the scope connections:write.
   It begins with xapp-.
3. Under Install App, install the app and copy the bot token. It begins with xoxb-."""


def _make_link() -> str:
    """Return the address that creates Slack's app from Talaria's manifest."""
    manifest = json.loads(files("adapters.slack").joinpath("manifest.json").read_text("utf-8"))
    spelled = json.dumps(manifest, separators=(",", ":"))
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(spelled)}"


def _list_needed(table: "SlackTable") -> Sequence[str]:
    second = "SLACK_APP_TOKEN" if table.mode == "socket" else "SLACK_SIGNING_SECRET"
    return "SLACK_BOT_TOKEN", second


PLATFORM = Platform(
    name="slack",
    title="Slack",
    hint=(
        "Your words appear in Slack. Simple Markdown shows; no tables wider than a phone, no "
        "nested lists deeper than two. Commands follow /talaria there, as in `/talaria new`."
    ),
    icon="M10 4v16M14 4v16M4 10h16M4 14h16",
    variables=(
        Variable(
            name="SLACK_BOT_TOKEN",
            about="Turns Slack on. `xoxb-...`, from Install App.",
            option="bot_token",
            question="The bot token, xoxb-...",
            foreign_key="botToken",
        ),
        Variable(
            name="SLACK_APP_TOKEN",
            about="Needed for Slack's sockets. `xapp-...` with the scope `connections:write`.",
            option="app_token",
            question="The app-level token, xapp-...",
            foreign_key="appToken",
        ),
        Variable(
            name="SLACK_SIGNING_SECRET",
            about='Needed instead with `slack.mode = "http"`.',
            option="signing_secret",
        ),
        Variable(
            name="SLACK_API_BASE_URL",
            about="Another address for Slack's API; ends in `/api/`.",
            option="base_url",
            kind="http",
        ),
    ),
    needs=_list_needed,
    steps=_STEPS,
    hello="your bot is {name}: {link}",
    make_link=_make_link,
    clock="https://slack.com/api/api.test",
    server="SLACK_API_BASE_URL",
    command="/talaria ",
    on_machine=r"slack\.(mode|http_)",
    secret_forms=(r"xox[abeprs]-[A-Za-z0-9-]{8,}", r"xapp-[A-Za-z0-9-]{8,}"),
)
