"""The connection: resumed, restarted, silent, refused, and closed."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from discord.gateway import KeepAliveHandler

from adapters.discord.adapter import DiscordAdapter
from adapters.errors import AdapterStopped, ChatGone, Unreachable
from tests.adapters.discord.rig import (
    ANNA,
    Rig,
    direct,
    queued,
    running,
    settings_for,
)
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE, until


async def test_a_broken_connection_is_resumed_and_nothing_is_missed(rig: Rig) -> None:
    for number in range(4):
        await rig.api.drop_gateway()
        await rig.api.says(ANNA, f"number {number}")
        await rig.inlet.receives(number + 1)
    assert rig.said() == [f"number {n}" for n in range(4)]
    assert (rig.api.identifies, rig.api.resumes) == (1, 4)
    await until(lambda: rig.adapter.health().state == "connected")
    assert rig.api.live_sessions == 1


async def test_an_abandoned_connection_leaves_no_thread(api: DiscordEmulator) -> None:
    def heartbeats() -> list[threading.Thread]:
        loop = asyncio.get_running_loop()
        threads = [one for one in threading.enumerate() if isinstance(one, KeepAliveHandler)]
        return [one for one in threads if one.ws.loop is loop]

    async with running(api, longest_pause=30):
        api.lose_session()
        await api.drop_gateway()
        # The second connection is refused a resume; the third waits a second or more to begin.
        await until(lambda: api.gateway.hellos == 3 and bool(heartbeats()))
        assert api.identifies == 1
    await until(lambda: not heartbeats())


async def test_a_request_to_reconnect_is_followed(rig: Rig) -> None:
    await rig.api.reconnect_gateway()
    await until(lambda: rig.api.resumes == 1)
    await rig.api.says(ANNA, "still there?")
    await rig.inlet.receives(1)
    assert rig.api.identifies == 1


async def test_a_lost_session_restarts_and_reads_missed_messages(rig: Rig) -> None:
    await rig.api.says(ANNA, "before")
    await rig.inlet.receives(1)
    rig.api.lose_session()
    await rig.api.drop_gateway()
    for number in range(3):
        await rig.api.says(ANNA, f"missed {number}")
    await until(lambda: rig.api.identifies == 2)
    await rig.inlet.receives(4)
    await rig.api.says(ANNA, "after")
    await rig.inlet.receives(5)
    assert rig.said() == ["before", "missed 0", "missed 1", "missed 2", "after"]
    positions = [event.position for event in rig.inlet.taken.values()]
    assert positions == sorted(set(positions))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4004, "DISCORD_BOT_TOKEN"),
        (4010, "shard"),
        (4011, "too many servers"),
        (4012, "Update Talaria"),
        (4013, "Update Talaria"),
        (4014, r"Privileged Gateway Intents > Message Content Intent; or set discord\.mess"),
    ],
)
async def test_a_permanent_refusal_stops_the_adapter_with_a_sentence(
    api: DiscordEmulator, inlet: FakeInlet, code: int, words: str
) -> None:
    api.close_next_with(code)
    adapter = DiscordAdapter(settings_for(api))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match=words):
            await adapter.run(inlet)
    assert adapter.health().state == "stopped"
    assert str(code) in adapter.health().detail
    assert api.live_sessions == 0


async def test_a_disabled_intent_is_named(api: DiscordEmulator, inlet: FakeInlet) -> None:
    api.without_intents("message_content")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match="Message Content Intent"):
            await DiscordAdapter(settings_for(api)).run(inlet)


async def test_a_wrong_token_stops_the_adapter(api: DiscordEmulator, inlet: FakeInlet) -> None:
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match="DISCORD_BOT_TOKEN"):
            await DiscordAdapter(settings_for(api, token="a.b.c")).run(inlet)
    assert api.identifies == 0


async def test_a_silent_gateway_is_noticed_and_left(api: DiscordEmulator) -> None:
    api.heartbeat_interval = 0.1
    async with running(api, longest_silence=0.3) as rig:
        alive = rig.adapter.health().alive_at
        api.mute_gateway()
        await api.says(ANNA, "anybody there?")
        await rig.inlet.receives(1)
        assert rig.said() == ["anybody there?"]
        await until(lambda: rig.adapter.health().state == "connected")
        assert api.resumes >= 1
        assert (rig.adapter.health().alive_at or 0) > (alive or 0)


@pytest.mark.slow
async def test_a_closing_gateway_is_tried_at_most_fifty_times_an_hour(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    api.close_next_with(4000, times=10_000)
    adapter = DiscordAdapter(settings_for(api, longest_pause=0.001))
    running = asyncio.create_task(adapter.run(inlet))
    await until(lambda: "50 sessions within an hour" in adapter.health().detail)
    assert api.identifies <= 50
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_an_outage_is_survived_and_reported(rig: Rig) -> None:
    await rig.api.says(ANNA, "before")
    await rig.inlet.receives(1)
    await rig.api.stop()
    await until(lambda: rig.adapter.health().state == "disconnected")
    with pytest.raises(Unreachable):
        await rig.adapter.send(queued(direct(rig.api), "hello"))
    await rig.api.start()
    await until(lambda: rig.adapter.health().state == "connected")
    await rig.adapter.send(queued(direct(rig.api), "hello"))
    await rig.api.says(ANNA, "after")
    await rig.inlet.receives(2)
    assert rig.said() == ["before", "after"]


async def test_an_adapter_waits_for_a_discord_that_is_not_there_yet(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    await api.stop()
    adapter = DiscordAdapter(settings_for(api))
    running = asyncio.create_task(adapter.run(inlet))
    await until(lambda: adapter.health().state == "disconnected")
    await api.start()
    await until(lambda: adapter.health().state == "connected")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert adapter.health().state == "stopped"


async def test_cancelling_ends_everything_and_a_second_run_works(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    adapter = DiscordAdapter(settings_for(api))
    for count in (1, 2):
        running = asyncio.create_task(adapter.run(inlet))
        await until(lambda: adapter.health().state == "connected")
        await api.says(ANNA, f"run {count}")
        await inlet.receives(count)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: api.live_sessions == 0)
        others = [t for t in asyncio.all_tasks() if "discord" in repr(t.get_coro()).lower()]
        assert not [t for t in others if "emulators" not in repr(t)]
        with pytest.raises(Unreachable):
            await adapter.send(queued(direct(api), "late"))


async def test_cancelling_at_any_moment_of_the_start_leaves_nothing_behind(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    for turns in range(0, 60, 4):
        running = asyncio.create_task(DiscordAdapter(settings_for(api)).run(inlet))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    await until(lambda: api.live_sessions == 0)


async def test_a_person_who_blocked_the_bot_is_unreachable(rig: Rig) -> None:
    rig.api.block(ANNA)
    with pytest.raises(ChatGone, match="50007"):
        await rig.adapter.send(queued(direct(rig.api), "hello"))


async def test_repeated_disconnects_lose_and_repeat_nothing(rig: Rig) -> None:
    for number in range(200):
        await rig.api.says(ANNA, f"number {number}")
        if number % 15 == 7:
            if number % 2:
                rig.api.lose_session()
            await rig.api.drop_gateway()
    await rig.inlet.receives(200)
    assert rig.said() == [f"number {n}" for n in range(200)]
    await until(lambda: rig.adapter.health().state == "connected")
    assert rig.api.live_sessions == 1


async def test_a_malformed_event_harms_no_other(rig: Rig) -> None:
    (session,) = rig.api.gateway.live
    for data in ({}, {"id": 5, "channel_id": None}, {"id": "1", "author": [], "mentions": 7}):
        for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE"):
            session.notify(name, {"edited_timestamp": "x", "author": {}, "type": 2} | data)
    for name in ("GUILD_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE"):
        session.notify(name, {"id": [], "type": "x", "guild_id": None})
    await rig.api.says(ANNA, "still there?")
    *parked, _ = await rig.inlet.receives(4)
    assert {event.event_id.partition("/")[0] for event in parked} == {"unreadable"}
    assert (await rig.hears(4)).text == "still there?"
    assert (rig.api.identifies, rig.api.resumes) == (1, 0)


@pytest.fixture
async def closing_gateway() -> AsyncIterator[tuple[str, list[int]]]:
    """A gateway that closes before its hello, and how often it did."""
    calls: list[int] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        calls.append(len(calls))
        await socket.close(code=1011)
        return socket

    application = web.Application()
    application.router.add_get("/gateway", serve)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"ws://127.0.0.1:{runner.addresses[0][1]}/gateway", calls
    await runner.cleanup()


async def test_a_gateway_that_hangs_up_before_its_hello_is_tried_again(
    api: DiscordEmulator, inlet: FakeInlet, closing_gateway: tuple[str, list[int]]
) -> None:
    url, calls = closing_gateway
    adapter = DiscordAdapter(settings_for(api, gateway_url=url))
    running = asyncio.create_task(adapter.run(inlet))
    await until(lambda: len(calls) >= 3)
    assert adapter.health().state != "connected"
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
