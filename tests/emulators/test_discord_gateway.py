"""The emulated gateway and discord.py."""

import asyncio
import json
from collections.abc import AsyncIterator

import aiohttp
import discord
import pytest
from discord.errors import PrivilegedIntentsRequired

from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_client import ANNA, BEN, Listener, connected, pointed_at
from tests.patience import PATIENCE

READS_ALL = discord.Intents(guilds=True, messages=True, message_content=True)


@pytest.fixture
async def api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


async def test_a_client_becomes_ready_and_knows_its_servers(api: DiscordEmulator) -> None:
    guild_id = api.guild("Home", [ANNA, BEN])
    room, forum = api.channel(guild_id, "den"), api.forum(guild_id, "posts")
    thread = await api.thread(room, "plans", ANNA)
    async with connected(api) as client:
        assert client.user is not None
        assert (client.user.id, client.application_id) == (api.user_id, api.application_id)
        guild = client.get_guild(guild_id)
        assert guild is not None
        assert guild.member_count == 3
        assert {one.id for one in guild.channels} == {room, forum}
        assert [one.id for one in guild.threads] == [thread]
        assert isinstance(guild.get_channel(forum), discord.ForumChannel)
        own = guild.self_role
        assert own is not None
        assert own.id == api.role(guild_id)
        assert api.live_sessions == 1
    await api.wait_for(lambda: not api.live_sessions)


async def test_a_thousand_messages_pass_one_zlib_stream_in_order(api: DiscordEmulator) -> None:
    async with connected(api) as client:
        for number in range(1000):
            await api.says(ANNA, f"number {number}")
        await api.wait_for(lambda: len(client.said()) == 1000)
        assert client.said() == [f"number {number}" for number in range(1000)]


async def test_without_compression_frames_are_text(api: DiscordEmulator) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{api.gateway_url}?v=10&encoding=json") as socket,
    ):
        hello = json.loads(await socket.receive_str())
        assert hello["op"] == 10
        await socket.send_json({"op": 2, "d": {"token": api.token, "intents": 0}})
        assert json.loads(await socket.receive_str())["t"] == "READY"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("no json", 4002),
        ({"op": 8, "d": {}}, 4003),
        ({"op": 2, "d": {"token": "wrong", "intents": 0}}, 4004),
        ({"op": 2, "d": {"token": DiscordEmulator().token, "intents": "all"}}, 4013),
    ],
)
async def test_a_client_with_a_bad_start_is_disconnected(
    api: DiscordEmulator, sent: object, code: int
) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{api.gateway_url}?v=10&encoding=json") as socket,
    ):
        await socket.receive()
        await socket.send_str(sent if isinstance(sent, str) else json.dumps(sent))
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
        assert socket.close_code == code


async def test_heartbeats_are_answered(api: DiscordEmulator) -> None:
    api.heartbeat_interval = 0.02
    async with connected(api) as client:
        await api.wait_for(lambda: api.heartbeats > 3)
        assert client.latency < 5
        assert not client.running or not client.running.done()


@pytest.mark.parametrize("code", [1000, 4000, 4009])
async def test_a_nonfatal_close_is_resumed(api: DiscordEmulator, code: int) -> None:
    async with connected(api) as client:
        await api.drop_gateway(code)
        await api.wait_for(lambda: client.all("resumed"))


async def test_a_disabled_intent_is_reported(api: DiscordEmulator) -> None:
    api.without_intents("message_content")
    with pointed_at(api):
        async with Listener(intents=READS_ALL) as client:
            await client.login(api.token)
            flags = (await client.application_info()).flags
            assert not flags.gateway_message_content_limited
            assert flags.gateway_guild_members_limited
            with pytest.raises(PrivilegedIntentsRequired):
                await client.connect()
    api.without_intents()
    async with connected(api, intents=READS_ALL) as client:
        flags = (await client.application_info()).flags
        assert flags.gateway_message_content_limited


async def test_unrequested_events_are_not_sent(api: DiscordEmulator) -> None:
    room = api.channel(api.guild(members=[ANNA]))
    async with connected(api, intents=discord.Intents(guilds=True, dm_messages=True)) as client:
        await api.says(ANNA, "in the room", channel=room)
        await api.says(ANNA, "in private")
        await api.wait_for(client.said)
        assert client.said() == ["in private"]


async def test_messages_of_bots_and_the_system_are_recognisable(api: DiscordEmulator) -> None:
    room = api.channel(api.guild(members=[ANNA, BEN]))
    api.other_bot(BEN)
    async with connected(api, intents=READS_ALL) as client:
        said = await api.says(ANNA, "https://example.org/", channel=room)
        await api.unfurls(said)
        await api.notes(ANNA, 7, channel=room)
        await api.says(BEN, "beep", channel=room)
        await api.wait_for(lambda: len(client.all("message")) == 3)
        (preview,) = client.all("raw_message_edit")
        assert preview.message.edited_at is None
        assert len(preview.message.embeds) == 1
        person, line, bot = client.all("message")
        assert person.type == discord.MessageType.default
        assert line.type == discord.MessageType.new_member
        assert (line.is_system(), person.author.bot, bot.author.bot) == (True, False, True)


async def test_a_restart_keeps_port_sessions_and_history(
    api: DiscordEmulator,
) -> None:
    async with connected(api) as client:
        address = api.gateway_url
        await api.stop()
        await api.says(ANNA, "while it was away")
        await asyncio.wait_for(api.start(), PATIENCE)
        assert api.gateway_url == address
        await api.wait_for(client.said, timeout=PATIENCE)
        assert client.said() == ["while it was away"]


async def test_wait_for_times_out(api: DiscordEmulator) -> None:
    with pytest.raises(TimeoutError):
        await api.wait_for(lambda: api.live_sessions, timeout=0.01)
