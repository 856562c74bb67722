"""A room with three people and the bot."""

from dataclasses import dataclass

from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import Account
from tests.journeys.stage import Stage

CLEO = 13


@dataclass(frozen=True)
class Room:
    """A room with three people and the bot."""

    anna: Account
    ben: Account
    cleo: Account
    id: str


def make_room(deployment: Stage, platform: str, *people: int) -> Room:
    numbers = people or (ANNA, BEN, CLEO)
    if platform == "discord":
        room = str(
            deployment.discord.channel(deployment.discord.guild("House", numbers), "kitchen")
        )
    else:
        # All members of a workspace can read its public channels.
        kind = "channel" if people == () else "group"
        room = deployment.slack.channel("kitchen", members=numbers, kind=kind)
    anna, ben, cleo = (deployment.account(platform, number) for number in (ANNA, BEN, CLEO))
    return Room(anna, ben, cleo, room)
