"""Thousands of malformed events restart no adapter and lose no other event."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from adapters.contract import ChatAdapter
from adapters.messages import InboundMessage, RawEvent
from tests.adapters.discord import rig as discord
from tests.adapters.mutation import check_storable, mutate
from tests.adapters.slack import rig as slack
from tests.adapters.telegram import rig as telegram
from tests.emulators.discord import DiscordEmulator
from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_payloads import event_callback
from tests.emulators.telegram import USERNAME, TelegramEmulator
from tests.fakes.inlet import FakeInlet

SEED = 1201
MUTATIONS = 3000
EVERY = 30
"""One event in so many is whole."""
WHOLE = MUTATIONS // EVERY


@pytest.fixture
async def discord_api() -> AsyncIterator[DiscordEmulator]:
    async with DiscordEmulator() as emulator:
        yield emulator


@pytest.fixture
async def slack_api() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
async def telegram_api() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        yield emulator


async def hears_all(adapter: ChatAdapter, inlet: FakeInlet) -> int:
    """Read events until the whole ones are there; return how many were parked."""
    wanted = {f"whole {number}" for number in range(WHOLE)}
    count = parked = 0
    async with asyncio.timeout(90):
        while wanted:
            events = [*inlet.taken.values()][count:]
            count += len(events)
            for event in events:
                text, is_read = read(adapter, event)
                wanted.discard(text)
                parked += not is_read
            await asyncio.sleep(0.05)
    return parked


def read(adapter: ChatAdapter, event: RawEvent) -> tuple[str, bool]:
    """Return text and readability of a stored event. Only `ValueError` parks one."""
    try:
        found = adapter.receive(event)
    except ValueError:
        return "", False
    check_storable(found)
    return (found.text if isinstance(found, InboundMessage) else ""), True


@pytest.mark.thorough
async def test_malformed_events_of_discord_harm_no_others(discord_api: DiscordEmulator) -> None:
    api, random = discord_api, Random(SEED)
    channel = api.channel(api.guild("House", [1, 2]))
    async with discord.running(api) as rig:
        (session,) = api.gateway.live
        await api.says(1, "direct")
        await api.says(2, "in a room", channel=channel, mentions=[api.user_id])
        await api.edits(await api.says(1, "old"), "new")
        await api.commands(1, "status")
        bases = [(one["t"], one["d"]) for one in session.sent if one["t"] in discord_events]
        for number in range(MUTATIONS):
            name, data = random.choice(bases)
            session.notify(name, mutate({"d": data}, random).get("d"))
            if number % EVERY == 0:
                await api.says(1, f"whole {number // EVERY}")
        parked = await hears_all(rig.adapter, rig.inlet)
        assert (api.identifies, api.resumes) == (1, 0)
        assert rig.adapter.health().state == "connected"
    print(f"discord, seed {SEED}: {MUTATIONS} mutations, {parked} parked")
    assert parked > 100


discord_events = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "INTERACTION_CREATE")


@pytest.mark.thorough
async def test_malformed_events_of_slack_harm_no_others(slack_api: SlackEmulator) -> None:
    api, random = slack_api, Random(SEED)
    api.redelivers_unacked = False
    room = api.channel("general", members=(slack.ANNA, slack.BERT))
    async with slack.running(api) as rig:
        ts = await api.says(slack.ANNA, "direct")
        await api.says(slack.BERT, "in a room", channel=room, mention=True)
        await api.edits(api.dm(slack.ANNA), ts, "new")
        await api.commands(slack.ANNA, "status")
        bases = [(one.kind, one.payload) for one in api.delivery.parcels]
        for number in range(MUTATIONS):
            kind, payload = random.choice(bases)
            api.delivery.push(kind, mutate({"p": payload}, random).get("p"))
            if number % EVERY == 0:
                await api.says(slack.ANNA, f"whole {number // EVERY}")
            if number % 100 == 0:
                await asyncio.sleep(0)
        parked = await hears_all(rig.adapter, rig.inlet)
        assert api.connections_opened == 2
        assert rig.adapter.health().state == "connected"
    print(f"slack, seed {SEED}: {MUTATIONS} mutations, {parked} parked")
    assert parked > 100


@pytest.mark.thorough
async def test_malformed_updates_of_telegram_harm_no_others(telegram_api: TelegramEmulator) -> None:
    api, random = telegram_api, Random(SEED)
    api.user(telegram.ANNA)
    api.group(telegram.ROOM)
    async with telegram.running(api) as rig:
        await api.says(telegram.ANNA, "direct")
        await api.says(telegram.ANNA, f"@{USERNAME} hi", chat=telegram.ROOM)
        await api.edits(telegram.ANNA, (await api.says(telegram.ANNA, "old")), "new")
        press: Any = {"id": "1", "from": {"id": 7, "first_name": "A"}, "data": "t:yes"}
        bases = [*api.world.notified]
        message = bases[0]["message"]
        bases.append({"update_id": 0, "callback_query": press | {"message": message}})
        for number in range(MUTATIONS):
            update = {key: one for key, one in random.choice(bases).items() if key != "update_id"}
            api.push(mutate(update, random))
            if number % EVERY == 0:
                await api.says(telegram.ANNA, f"whole {number // EVERY}")
        parked = await hears_all(rig.adapter, rig.inlet)
        assert rig.adapter.health().state == "connected"
        assert api.calls["getMe"] == 1
    print(f"telegram, seed {SEED}: {MUTATIONS} mutations, {parked} parked")
    assert parked > 100


@pytest.mark.parametrize("bad", [{"edited_timestamp": 5}, {"id": "1" * 30}, {"guild_id": []}])
async def test_one_malformed_edit_is_parked_alone(
    discord_api: DiscordEmulator, bad: dict[str, Any]
) -> None:
    api = discord_api
    async with discord.running(api) as rig:
        (session,) = api.gateway.live
        edited = await api.says(1, "old")
        await rig.inlet.receives(1)
        await api.edits(edited, "new")
        await rig.inlet.receives(2)
        edit = session.sent[-1]["d"]
        rig.inlet.taken.clear()
        session.notify("MESSAGE_UPDATE", edit | bad)
        await api.says(1, "whole")
        events = await rig.inlet.receives(2)
        with pytest.raises(ValueError, match="should be"):
            rig.adapter.receive(events[0])
        assert (await rig.hears(2)).text == "whole"
        assert (api.identifies, api.resumes) == (1, 0)


async def test_an_id_that_no_store_takes_is_parked_alone(slack_api: SlackEmulator) -> None:
    api = slack_api
    async with slack.running(api) as rig:
        event = {"type": "message", "user": "U\ud8001", "text": "x", "ts": "1.1", "channel": "D1"}
        api.delivery.push("events_api", event_callback(api.world.app, event, "Ev1"))
        await api.says(slack.ANNA, "whole")
        events = await rig.inlet.receives(2)
        assert not [event for event in events if not event.event_id.isascii()]
        assert sorted(read(rig.adapter, one) for one in events) == [("", False), ("whole", True)]
        assert api.connections_opened == 2
