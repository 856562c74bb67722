"""Threads opened for an answer, and answers before the thread is open."""

from typing import Any

import pytest

from adapters.errors import ChatGone, MessageGone, Rejected
from adapters.messages import OutboundFile
from tests.adapters.discord.rig import ANNA, BEN, hears, queued, room, running
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.fakes.inlet import FakeInlet

OPEN = "POST /channels/*/messages/*/threads"


async def test_a_mention_is_answered_in_a_thread_of_its_own(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet, thread_per_mention=True) as adapter:
        asked = await api.says(ANNA, "plan our <dinner>", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        assert heard.address == room(channel, asked)
        await adapter.type(heard.address)
        assert api.typings(channel) == 1
        for seen in (True, False):
            await adapter.react(heard.address, heard.message_id, seen=seen)
            assert api.reactions(asked) == (["👀"] if seen else [])
        first = await adapter.send(queued(heard.address, "one", reply_to=heard.message_id))
        await adapter.send(queued(heard.address, "two", "k2"))
        await adapter.edit(queued(heard.address, "one, changed"), first)
        assert (api.texts(channel), api.texts(asked)) == ([], ["one, changed", "two"])
        assert api.world.channels[asked].name == "plan our <dinner>"
        assert sum(path.endswith("/threads") for _, path in api.calls) == 1
        await api.says(ANNA, "more", channel=asked, mentions=[api.user_id])
        assert (await hears(adapter, inlet, 2)).address == heard.address


async def test_a_thread_that_somebody_else_just_opened_is_used(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet, thread_per_mention=True) as adapter:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        api.fail(OPEN, kind=faults.LOSE)
        with pytest.raises(Exception, match="broke"):
            await adapter.send(queued(heard.address, "hello"))
        await adapter.send(queued(heard.address, "hello"))
        assert api.texts(asked) == ["hello"]
        api.fail(faults.SEND, kind=faults.ERROR, status=404, code=10003, message="Unknown Channel")
        await adapter.send(queued(heard.address, "again", "k2"))
        assert api.texts(asked) == ["hello", "again"]


async def test_a_missing_permission_to_open_threads_is_named(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet, thread_per_mention=True) as adapter:
        await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        api.fail(OPEN, kind=faults.ERROR, status=403, code=50013, message="Missing Permissions")
        with pytest.raises(Rejected, match="Create Public Threads"):
            await adapter.send(queued(heard.address, "hello"))


async def test_a_deleted_question_opens_no_thread(api: DiscordEmulator, inlet: FakeInlet) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet, thread_per_mention=True) as adapter:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        await api.deletes(asked)
        with pytest.raises(ChatGone, match="no longer exists"):
            await adapter.send(queued(heard.address, "hello"))


async def test_a_deleted_or_locked_thread_is_unreachable(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    deleted = await api.thread(channel, "Deleted", ANNA)
    locked = await api.thread(channel, "Locked", BEN)
    api.delete_channel(deleted)
    api.lock(locked)
    async with running(api, inlet) as adapter:
        for thread in (deleted, locked):
            with pytest.raises(ChatGone):
                await adapter.send(queued(room(channel, thread), "hello"))


async def test_an_edit_in_an_archived_thread_keeps_it(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    address = room(channel, await api.thread(channel, "Side", ANNA))
    async with running(api, inlet) as adapter:
        sent = await adapter.send(queued(address, "one"))
        api.fail(faults.EDIT, kind=faults.ERROR, status=400, code=50083)
        with pytest.raises(MessageGone):
            await adapter.edit(queued(address, "two"), sent)
        api.fail(faults.SEND, kind=faults.ERROR, status=400, code=50083)
        with pytest.raises(ChatGone):
            await adapter.send(queued(address, "three", "k3"))


async def test_a_forum_post_gets_its_reaction_in_place(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    forum = api.forum(api.guild("House", [ANNA]))
    async with running(api, inlet) as adapter:
        tag = f"<@{api.user_id}> what now?"
        post = await api.thread(forum, "A question", ANNA, text=tag)
        heard = await hears(adapter, inlet)
        assert heard.address == room(forum, post)
        assert heard.message_id == str(post)
        await adapter.react(heard.address, heard.message_id, seen=True)
        assert api.reactions(post) == ["👀"]


async def test_a_deleted_message_gets_no_reaction_or_edit(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet) as adapter:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        sent = await adapter.send(queued(heard.address, "hello"))
        await api.deletes(asked)
        await api.deletes(int(sent))
        with pytest.raises(MessageGone):
            await adapter.react(heard.address, heard.message_id, seen=True)
        await adapter.react(heard.address, heard.message_id, seen=False)
        with pytest.raises(MessageGone):
            await adapter.edit(queued(heard.address, "hello?"), sent)


async def test_a_forbidden_reaction_keeps_the_chat(api: DiscordEmulator, inlet: FakeInlet) -> None:
    async with running(api, inlet) as adapter:
        await api.says(ANNA, "hi")
        heard = await hears(adapter, inlet)
        api.fail(faults.REACT, kind=faults.ERROR, status=403, code=50013, message="Missing")
        with pytest.raises(Rejected):
            await adapter.react(heard.address, heard.message_id, seen=True)


async def test_an_address_of_another_platform_is_refused(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        for chat_id in ("../users/@me", "C123", ""):
            with pytest.raises(Rejected, match="no channel"):
                await adapter.send(queued(type(room(1))(chat_id=chat_id, is_direct=True), "x"))


async def test_without_permission_to_reply_messages_are_still_sent(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, inlet) as adapter:
        await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await hears(adapter, inlet)
        api.fail(faults.SEND, kind=faults.ERROR, status=400, code=160002, message="No history")
        await adapter.send(queued(heard.address, "hello", reply_to=heard.message_id))
        (shown,) = api.messages(channel)
        assert (shown.content, shown.reference) == ("hello", None)


async def test_a_missing_permission_fails_a_file_or_closes_a_chat(
    api: DiscordEmulator, inlet: FakeInlet
) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"abc")
    lacking: dict[str, Any] = {
        "kind": faults.ERROR,
        "status": 403,
        "code": 50013,
        "message": "Missing",
    }
    async with running(api, inlet) as adapter:
        api.fail(faults.SEND, **lacking)
        with pytest.raises(Rejected, match="Attach Files"):
            await adapter.send(queued(room(channel), "here", file=file))
        api.fail(faults.SEND, **lacking)
        with pytest.raises(ChatGone):
            await adapter.send(queued(room(channel), "here"))
