"""The tokens of platforms stay out of what is printed."""

from pydantic import BaseModel

from adapters.discord.settings import DiscordSettings
from adapters.slack.settings import SlackSettings
from adapters.telegram.settings import TelegramSettings


def test_no_token_is_in_the_repr_of_settings() -> None:
    made: tuple[BaseModel, ...] = (
        TelegramSettings(token="canary"),
        DiscordSettings(token="canary"),
        SlackSettings(bot_token="canary", app_token="canary", signing_secret="canary"),
    )
    assert not [one for one in made if "canary" in repr(one)]
