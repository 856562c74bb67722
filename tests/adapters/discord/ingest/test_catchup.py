"""Messages from downtime are read from the history, once and in order."""

import asyncio

from adapters.discord.ingest.catchup import NOISE
from adapters.ids import Address
from adapters.messages import Button
from tests.adapters.discord.rig import (
    ANNA,
    BEN,
    Rig,
    direct,
    queued,
    room,
    running,
)
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE, until


async def knows(api: DiscordEmulator, inlet: FakeInlet, *channels: int) -> None:
    """Let an earlier process read these channels of a server."""
    count = len(inlet.taken)
    async with running(api, inlet):
        for channel in channels:
            await api.says(ANNA, "before", channel=channel, mentions=[api.user_id])
        await inlet.receives(count + len(channels))


async def test_rooms_and_threads_are_read_for_messages_to_the_bot(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    thread = await api.thread(channel, "Side", ANNA)
    await knows(api, inlet, channel, thread)
    await api.says(BEN, "chatter", channel=channel)
    await api.says(ANNA, "missed in the room", channel=channel, role_mention=True)
    await api.says(ANNA, "missed in the thread", channel=thread, mentions=[api.user_id])
    async with running(api, inlet) as rig:
        events = [one for one in (await inlet.receives(5))[2:] if one.channel]
        found = {rig.adapter.receive(event).address: event for event in events}  # type: ignore[union-attr]
        assert set(found) == {room(channel), room(channel, thread)}
        assert {event.channel for event in events} == {str(channel), str(thread)}
        assert sorted(rig.said()[2:]) == [
            "missed in the room",
            "missed in the thread",
        ]


async def test_a_long_history_is_read_completely(api: DiscordEmulator, inlet: FakeInlet) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    await knows(api, inlet, channel)
    for number in range(320):
        await api.says(BEN, "chatter", channel=channel)
        if number % 80 == 79:
            await api.says(ANNA, f"missed {number}", channel=channel, mentions=[api.user_id])
    async with running(api, inlet) as rig:
        await until(lambda: len(rig.said()) == 5)
        assert rig.said() == ["before", *(f"missed {n}" for n in (79, 159, 239, 319))]
        positions = [e.position for e in inlet.taken.values() if e.channel]
        assert positions == sorted(positions)


async def test_messages_of_others_are_read_once(api: DiscordEmulator, inlet: FakeInlet) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    await knows(api, inlet, channel)
    for _ in range(100 + NOISE):
        last = await api.says(BEN, "chatter", channel=channel)
    async with running(api, inlet):
        await until(lambda: inlet.positions.get(str(channel)) == str(last).zfill(20))
    api.calls.clear()
    async with running(api, inlet):
        await api.says(ANNA, "hello")
        await until(lambda: "hello" in [*inlet.taken.values()][-1].payload)
        pages = [path for _, path in api.calls if path == f"/channels/{channel}/messages"]
        assert len(pages) == 1


async def test_new_messages_wait_for_older_ones_of_their_channel_only(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet):
        await api.says(ANNA, "before")
        await inlet.receives(1)
    await api.says(ANNA, "missed")
    may_read = asyncio.Event()

    async def hold(method: str, path: str) -> None:
        if method == "GET" and path == f"/channels/{api.dm(ANNA)}/messages":
            await may_read.wait()

    api.hook(before=hold)
    async with running(api, inlet) as rig:
        await api.says(ANNA, "after")
        await api.says(BEN, "somebody else")
        await inlet.receives(2)
        assert rig.said() == ["before", "somebody else"]
        may_read.set()
        await inlet.receives(4)
        assert rig.said() == ["before", "somebody else", "missed", "after"]
        assert all(event.position for event in inlet.taken.values())


async def test_new_messages_wait_limited_and_then_move_no_position(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet):
        await api.says(ANNA, "before")
        await inlet.receives(1)
    missed = await api.says(ANNA, "missed")
    api.fail(faults.HISTORY, kind=faults.DROP, times=1000)
    async with running(api, inlet, patience=0.05) as rig:
        await api.says(ANNA, "after")
        await api.says(ANNA, "and on")
        await inlet.receives(3)
        assert rig.said() == ["before", "after", "and on"]
        assert [e.position for e in inlet.taken.values()][1:] == ["", ""]
        api.clear_faults()
        await until(lambda: rig.said()[-1] == "missed")
        assert [*inlet.taken.values()][-1].position == str(missed).zfill(20)
        await api.says(ANNA, "at last")
        await inlet.receives(5)
        assert [*inlet.taken.values()][-1].position


async def test_a_deleted_channel_is_skipped(api: DiscordEmulator, inlet: FakeInlet) -> None:
    guild, other = api.guild("House", [ANNA]), api.guild("Office", [ANNA])
    gone, kept, closed = api.channel(guild, "gone"), api.channel(guild), api.channel(other)
    await knows(api, inlet, gone, kept, closed)
    for channel in (gone, kept, closed):
        await api.says(ANNA, "missed", channel=channel, mentions=[api.user_id])
    api.delete_channel(gone)
    api.kick(other)
    async with running(api, inlet) as rig:
        await inlet.receives(4)
        await api.says(ANNA, "after", channel=kept, mentions=[api.user_id])
        await inlet.receives(5)
        assert rig.said()[3:] == ["missed", "after"]


async def test_a_failing_store_loses_nothing(api: DiscordEmulator, inlet: FakeInlet) -> None:
    async with running(api, inlet):
        await api.says(ANNA, "before")
        await inlet.receives(1)
    for number in range(3):
        await api.says(ANNA, f"missed {number}")
    inlet.refusals = 4
    async with running(api, inlet) as rig:
        await api.says(ANNA, "after")
        await inlet.receives(5)
        assert rig.said() == ["before", "missed 0", "missed 1", "missed 2", "after"]


async def test_unstored_messages_are_stored_in_the_next_run(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as rig:
        await api.says(ANNA, "before")
        await inlet.receives(1)
        inlet.refusals = 1_000_000
        await api.says(ANNA, "one")
        await inlet.is_offered(2)
        last = await api.says(ANNA, "two")
        await until(lambda: rig.adapter.newest(direct(api)) == str(last))
    inlet.refusals = 0
    async with running(api, inlet) as rig:
        await inlet.receives(3)
        assert rig.said() == ["before", "one", "two"]


async def test_two_lost_sessions_repeat_nothing(rig: Rig) -> None:
    await rig.api.says(ANNA, "number 0")
    await rig.inlet.receives(1)
    for number in range(1, 6):
        rig.api.lose_session()
        await rig.api.drop_gateway()
        await rig.api.says(ANNA, f"number {number}")
        await until(lambda number=number: rig.api.identifies == number + 1)  # type: ignore[misc]
    await rig.inlet.receives(6)
    assert rig.said() == [f"number {n}" for n in range(6)]


async def test_own_messages_are_never_read_as_a_persons(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as rig:
        await api.says(ANNA, "before")
        await inlet.receives(1)
        await rig.adapter.send(queued(direct(api), "an answer"))
    async with running(api, inlet) as rig:
        await api.says(ANNA, "after")
        await inlet.receives(2)
        assert rig.said() == ["before", "after"]
        assert rig.adapter.newest(Address(chat_id="1", is_direct=True)) is None


async def test_a_first_message_from_downtime_is_read_with_the_second(api: DiscordEmulator) -> None:
    await api.says(ANNA, "hello?")
    await api.says(ANNA, "anybody?")
    async with running(api) as rig:
        await api.says(ANNA, "well then")
        await rig.inlet.receives(3)
        assert rig.said() == ["hello?", "anybody?", "well then"]
        await api.says(ANNA, "good")
        await rig.inlet.receives(4)
        assert len(rig.inlet.handed_over) == 4
        positions = [event.position for event in rig.inlet.taken.values()]
        assert positions == sorted(set(positions))


async def test_a_first_message_survives_a_lost_session(api: DiscordEmulator) -> None:
    await api.says(ANNA, "hello?")
    asked = asyncio.Event()

    async def hang(method: str, path: str) -> None:
        if method == "GET" and path == f"/channels/{api.dm(ANNA)}/messages" and not asked.is_set():
            asked.set()
            await asyncio.Event().wait()

    api.hook(before=hang)
    async with running(api) as rig:
        await api.says(ANNA, "well then")
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        api.lose_session()
        await api.drop_gateway()
        await api.says(ANNA, "are you there?")
        await until(lambda: api.identifies == 2)
        await api.says(ANNA, "good")
        await rig.inlet.receives(4)
        assert rig.said() == ["hello?", "well then", "are you there?", "good"]


async def test_messages_from_before_the_database_are_not_answered_again(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, FakeInlet()) as rig:
        await api.says(ANNA, "said to another program")
        await rig.adapter.send(queued(direct(api), "which answered"))
    await api.says(ANNA, "said to nobody")
    async with running(api, inlet) as rig:
        await api.says(ANNA, "said to us")
        await inlet.receives(2)
        assert rig.said() == ["said to nobody", "said to us"]


async def test_a_press_waits_for_received_messages_but_not_for_history(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as rig:
        await api.says(ANNA, "before")
        await inlet.receives(1)
        asked = await rig.adapter.send(
            queued(direct(api), "Sure?", buttons=(Button(key="yes", label="Yes"),))
        )
    may_read = asyncio.Event()

    async def hold(method: str, path: str) -> None:
        if method == "GET" and path.endswith("/messages"):
            await may_read.wait()

    api.hook(before=hold)
    async with running(api, inlet) as rig:
        await api.says(ANNA, "let me think")
        await api.presses(ANNA, int(asked), "t:yes")
        await until(lambda: api.interactions[-1].type == 6)
        *_, words, press = inlet.taken.values()
        assert "let me think" in words.payload
        assert rig.presses()[0].key == "yes"
        assert (words.position, press.position) == ("", "")
        may_read.set()
        await api.says(ANNA, "after")
        await until(lambda: rig.said()[-1] == "after")
