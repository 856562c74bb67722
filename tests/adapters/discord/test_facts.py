"""Defaults for what Discord does not say."""

from adapters.discord.api import Api
from adapters.discord.channel_directory import ChannelDirectory
from adapters.errors import Unreachable


def nobody() -> Api:
    raise Unreachable("Discord is not connected.")


async def test_messages_outside_of_servers_are_for_the_bot() -> None:
    directory = ChannelDirectory(nobody, threads=False)
    assert (await directory.place_of({"id": "7"}, "5")).is_direct
    in_a_server = await directory.place_of({"id": "7", "guild_id": "3"}, "5")
    assert (in_a_server.is_direct, in_a_server.guild_id) == (False, "3")
