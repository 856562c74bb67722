"""The chat platforms in the setup: how to get their tokens, step by step."""

import json
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import quote

from adapters.abilities import Bot

_TELEGRAM = """\
1. In Telegram, open a chat with @BotFather (https://t.me/BotFather) and send /newbot.
2. Choose a name, and a username that ends in "bot".
3. @BotFather answers with a token such as 123456789:AAE... Copy it."""
_DISCORD = """\
1. Open https://discord.com/developers/applications and press New Application.
2. Under Bot, press Reset Token and copy the token.
3. Under Bot, turn on Message Content Intent."""
_SLACK = """\
1. Open this link. It fills in a new app for Talaria. Choose your workspace, and create the app.
   {link}
2. Under Basic Information, App-Level Tokens, make a token with the scope connections:write.
   It begins with xapp-.
3. Under Install App, install the app and copy the bot token. It begins with xoxb-."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A chat platform that the setup can connect."""

    name: str
    title: str
    tokens: tuple[tuple[str, str], ...]
    """The variables of the tokens, each with the question for its value."""
    steps: str
    """Instructions for getting the tokens; they may contain `{link}`."""
    hello: str
    """Instructions after the tokens work; `{link}` and `{name}` are the bot's."""

    def describe_steps(self) -> str:
        """Return the instructions for getting the tokens."""
        return self.steps.format(link=make_slack_link()) if "{link}" in self.steps else self.steps

    def describe(self, bot: Bot) -> list[str]:
        """Describe a bot whose tokens work, in lines."""
        return [f"{self.title}: {self.hello.format(name=bot.name, link=bot.link)}", *bot.gaps]


PLATFORMS = (
    Platform(
        name="telegram",
        title="Telegram",
        tokens=(("TELEGRAM_BOT_TOKEN", "The bot's token"),),
        steps=_TELEGRAM,
        hello="your bot is {name}: {link}",
    ),
    Platform(
        name="discord",
        title="Discord",
        tokens=(("DISCORD_BOT_TOKEN", "The bot's token"),),
        steps=_DISCORD,
        hello="your bot is {name}. Open this link to add it to a server:\n{link}",
    ),
    Platform(
        name="slack",
        title="Slack",
        tokens=(
            ("SLACK_BOT_TOKEN", "The bot token, xoxb-..."),
            ("SLACK_APP_TOKEN", "The app-level token, xapp-..."),
        ),
        steps=_SLACK,
        hello="your bot is {name}: {link}",
    ),
)


def make_slack_link() -> str:
    """Return the address that creates Slack's app from Talaria's manifest."""
    manifest = json.loads(files("adapters.slack").joinpath("manifest.json").read_text("utf-8"))
    spelled = json.dumps(manifest, separators=(",", ":"))
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(spelled)}"
