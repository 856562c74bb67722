"""Messages with unknown delivery are found in the history, even after the nonce expired."""

from typing import Any

import pytest

from adapters.errors import Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundFile
from tests.adapters.discord.rig import ANNA, BEN, Rig, direct, queued, room, running
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet

FILE = OutboundFile(name="a.txt", media_type="text/plain", data=b"abc")


async def test_a_repeat_within_minutes_shows_one_message(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as rig:
        message = queued(direct(api), "once", "k1")
        first = await rig.adapter.send(message)
        assert await rig.adapter.send(message) == first
        assert api.texts(api.dm(ANNA)) == ["once"]
    async with running(api, inlet) as rig:  # the nonce is the same in the next process
        assert await rig.adapter.send(message) == first


async def test_a_sent_message_is_found_after_its_nonce_expired(api: DiscordEmulator) -> None:
    api.nonce_window = 0.0
    async with running(api) as rig:
        asked = PlatformMessageId(str(await api.says(ANNA, "well?")))
        kinds: tuple[dict[str, Any], ...] = ({}, {"reply_to": asked}, {"file": FILE})
        for n, fields in enumerate(kinds):
            before = await rig.adapter.send(queued(direct(api), f"before {n}", f"b{n}"))
            message = queued(direct(api), f"**in** doubt {n} ", f"k{n}", **fields)
            api.fail(faults.SEND, kind=faults.LOSE)
            with pytest.raises(Unsure):
                await rig.adapter.send(message)
            await rig.adapter.send(queued(direct(api), f"after {n}", f"a{n}"))
            found = await rig.adapter.find(message, [before])
            assert found is not None
            assert api.message(int(found)).content == f"**in** doubt {n}"


async def test_only_the_same_message_is_found(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    here = room(channel)
    async with running(api) as rig:
        asked = PlatformMessageId(str(await api.says(ANNA, "well?", channel=channel)))
        other = PlatformMessageId(str(await api.says(BEN, "the text", channel=channel)))
        before = await rig.adapter.send(queued(here, "the text", "k0"))
        await rig.adapter.send(queued(here, "another text", "k1"))
        await rig.adapter.send(queued(here, "an answer", "k2", reply_to=asked))
        await rig.adapter.send(queued(here, "a file", "k3", file=FILE))
        for message in (
            queued(here, "the text", "k9"),
            queued(here, "an answer", "k9", reply_to=other),
            queued(here, "a file", "k9"),
            queued(here, "another text", "k9", file=FILE),
        ):
            assert await rig.adapter.find(message, [asked, before]) is None


async def test_without_an_anchor_an_equal_message_may_be_older(rig: Rig) -> None:
    assert await rig.adapter.find(queued(direct(rig.api), "hello"), []) is None
    await rig.adapter.send(queued(direct(rig.api), "hello"))
    with pytest.raises(Unsure, match="older one"):
        await rig.adapter.find(queued(direct(rig.api), "hello", "k2"), [])


@pytest.mark.slow
async def test_too_many_messages_meanwhile_leave_it_unsure(rig: Rig) -> None:
    before = await rig.adapter.send(queued(direct(rig.api), "before"))
    for _ in range(1001):
        await rig.api.says(ANNA, "chatter")
    with pytest.raises(Unsure, match="Too many"):
        await rig.adapter.find(queued(direct(rig.api), "in doubt", "k2"), [before])


async def test_an_unopened_thread_has_no_message(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, thread_per_mention=True) as rig:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        message = queued(room(channel, asked), "hello")
        known = rig.adapter.newest(message.address)
        assert known == str(asked)
        assert await rig.adapter.find(message, [known]) is None


async def test_ids_of_another_platform_are_ignored(rig: Rig) -> None:
    message = queued(direct(rig.api), "once")
    asked = await rig.api.says(ANNA, "say it")
    sent = await rig.adapter.send(message)
    known = [PlatformMessageId(name) for name in ("1700000000.000100", "home", str(asked))]
    assert await rig.adapter.find(message, known) == sent


async def test_the_newest_id_is_of_the_channel(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api) as rig:
        said = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        await rig.inlet.receives(1)
        assert rig.adapter.newest(room(channel)) == str(said)
        assert rig.adapter.newest(direct(api)) is None
        sent = await rig.adapter.send(queued(direct(api), "x"))
        assert rig.adapter.newest(direct(api)) == sent


async def test_a_command_is_known_from_before_its_answer(rig: Rig) -> None:
    await rig.adapter.send(queued(direct(rig.api), "hello"))
    await rig.api.commands(ANNA, "help")
    heard = await rig.hears()
    assert (
        await rig.adapter.find(queued(direct(rig.api), "hello", "k2"), [heard.message_id]) is None
    )
    sent = await rig.adapter.send(queued(direct(rig.api), "hello", "k2"))
    assert (
        await rig.adapter.find(queued(direct(rig.api), "hello", "k2"), [heard.message_id]) == sent
    )
