"""What is taken to be so where Discord does not tell."""

from adapters.discord.api import Api
from adapters.discord.channel_directory import ChannelDirectory
from adapters.errors import Unreachable


def nobody() -> Api:
    raise Unreachable("Discord is not connected.")


async def test_what_is_said_outside_of_servers_is_said_to_the_bot_whatever_can_be_asked() -> None:
    directory = ChannelDirectory(nobody, threads=False)
    assert (await directory.place_of({"id": "7"}, "5")).is_direct
    in_a_server = await directory.place_of({"id": "7", "guild_id": "3"}, "5")
    assert (in_a_server.is_direct, in_a_server.guild_id) == (False, "3")
