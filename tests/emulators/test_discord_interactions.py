"""Slash commands and buttons of the emulated Discord, answered by discord.py."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands

from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_client import ANNA, Listener, connected


@pytest.fixture
async def api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
async def client(api: DiscordEmulator) -> AsyncIterator[Listener]:
    async with connected(api) as real:
        yield real


async def asked(api: DiscordEmulator, client: Listener) -> discord.Interaction[Any]:
    """The one interaction received."""
    await api.wait_for(lambda: client.all("interaction"))
    (interaction,) = client.all("interaction")
    assert isinstance(interaction, discord.Interaction)
    return interaction


async def test_commands_are_synced_and_keep_their_ids(
    api: DiscordEmulator, client: Listener
) -> None:
    tree = app_commands.CommandTree(client)

    async def new(interaction: discord.Interaction[Any], words: str, number: int) -> None:
        await interaction.response.send_message(f"{words} {number}", ephemeral=True)

    tree.add_command(
        app_commands.Command(
            name="new",
            description="Begin anew",
            callback=new,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
        )
    )
    first = await tree.sync()
    again = await tree.sync()
    assert [one.id for one in first] == [one.id for one in again]
    assert [one["name"] for one in api.synced_commands()] == ["new"]
    assert [one.name for one in await tree.fetch_commands()] == ["new"]
    used = await api.commands(ANNA, "new", options={"words": "hi", "number": 3})
    await api.wait_for(lambda: api.interaction(used).answers)
    (answer,) = api.interaction(used).answers
    assert (answer.type, answer.flags, answer.content) == (4, 64, "hi 3")
    assert 0 <= answer.after < 3
    assert api.texts(api.dm(ANNA)) == []  # ephemeral, and in no history


async def test_a_public_answer_is_a_message_and_can_be_edited(
    api: DiscordEmulator, client: Listener
) -> None:
    room = api.channel(api.guild(members=[ANNA]))
    used = await api.commands(ANNA, "status", channel=room)
    interaction = await asked(api, client)
    assert interaction.user.id == api.user(ANNA)
    assert interaction.channel_id == room
    assert interaction.context.guild
    said = await interaction.response.send_message("well")
    assert said.message_id == api.interaction(used).original_id
    await interaction.edit_original_response(content="very well")
    follow_up = await interaction.followup.send("and you?", wait=True)
    assert api.texts(room) == ["very well", "and you?"]
    assert (await interaction.original_response()).content == "very well"
    await follow_up.edit(content="bye")
    await interaction.delete_original_response()
    assert api.texts(room) == ["bye"]
    kinds = [one.kind for one in api.interaction(used).answers]
    assert kinds == ["callback", "edit", "follow_up", "edit", "delete"]


async def test_a_deferred_answer_is_loading_until_it_is_filled_in(
    api: DiscordEmulator, client: Listener
) -> None:
    used = await api.commands(ANNA, "status")
    interaction = await asked(api, client)
    assert interaction.context.dm_channel
    await interaction.response.defer(thinking=True)
    assert api.interaction(used).type == 5
    assert api.texts(api.dm(ANNA)) == []
    assert [one.is_loading for one in api.messages(api.dm(ANNA))] == [True]
    await interaction.followup.send("done")
    assert api.texts(api.dm(ANNA)) == ["done"]
    assert [one.id for one in api.messages(api.dm(ANNA))] == [api.interaction(used).original_id]


async def test_an_interaction_is_answered_once_and_in_time(
    api: DiscordEmulator, client: Listener
) -> None:
    await api.commands(ANNA, "status")
    interaction = await asked(api, client)
    with pytest.raises(discord.NotFound) as early:
        await interaction.followup.send("too early")
    assert early.value.code == 10015
    await interaction.response.send_message("one")
    # discord.py itself keeps from answering twice; another process would not.
    async with aiohttp.ClientSession() as session:
        second = await session.post(
            f"{api.api_base_url}/interactions/{interaction.id}/{interaction.token}/callback",
            json={"type": 4, "data": {"content": "two"}},
        )
        assert (second.status, (await second.json())["code"]) == (400, 40060)
    api.interaction_deadline = 0
    client.heard.clear()
    await api.commands(ANNA, "status")
    late = await asked(api, client)
    with pytest.raises(discord.NotFound) as caught:
        await late.response.send_message("late")
    assert caught.value.code == 10062
    assert api.texts(api.dm(ANNA)) == ["one"]


async def test_without_the_bot_only_the_interaction_can_write(
    api: DiscordEmulator, client: Listener
) -> None:
    used = await api.commands(ANNA, "status", is_user_install=True)
    interaction = await asked(api, client)
    assert interaction.is_user_integration()
    assert not interaction.is_guild_integration()
    place = api.interaction(used).channel_id
    with pytest.raises(discord.Forbidden) as caught:
        await client.get_partial_messageable(place).send("hello")
    assert caught.value.code == 50001
    await interaction.response.send_message("hello")
    await interaction.followup.send("again")
    assert api.texts(place) == ["hello", "again"]


async def test_a_lost_callback_was_applied(api: DiscordEmulator, client: Listener) -> None:
    await api.commands(ANNA, "status")
    interaction = await asked(api, client)
    api.fail(faults.CALLBACK, kind=faults.LOSE)
    with pytest.raises((aiohttp.ClientError, OSError)):
        await interaction.response.send_message("one")
    with pytest.raises(discord.HTTPException) as caught:
        await interaction.response.send_message("one")
    assert caught.value.code == 40060
    assert api.texts(api.dm(ANNA)) == ["one"]


async def test_invalid_command_names_are_refused(
    api: DiscordEmulator,
) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {api.token}"}) as session:
        for names in (["Upper"], ["two words"], ["twice", "twice"], ["x" * 33]):
            answer = await session.put(
                f"{api.api_base_url}/applications/{api.application_id}/commands",
                json=[{"name": name, "description": "d"} for name in names],
            )
            assert answer.status == 400
    assert api.synced_commands() == []
