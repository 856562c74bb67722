"""The words of the setup about a chat platform, from what the platform declares."""

from collections.abc import Mapping

from adapters.abilities import Bot
from adapters.declaration import Platform


def is_set(platform: Platform, environ: Mapping[str, str]) -> bool:
    """True if an environment has every value that the setup asks for."""
    return all(environ.get(one.name) for one in platform.asked)


def describe_steps(platform: Platform) -> str:
    """Return the instructions for getting the values."""
    if platform.make_link is None:
        return platform.steps
    return platform.steps.format(link=platform.make_link())


def describe_bot(platform: Platform, bot: Bot) -> list[str]:
    """Describe a bot whose tokens work, in lines."""
    hello = platform.hello.format(name=bot.name, link=bot.link)
    return [f"{platform.title}: {hello}", *bot.gaps]
