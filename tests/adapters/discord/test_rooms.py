"""Threads opened for an answer, and answers before the thread is open."""

from typing import Any

import pytest

from adapters.errors import ChatGone, MessageGone, Rejected
from adapters.messages import OutboundFile
from tests.adapters.discord.rig import ANNA, BEN, Rig, queued, room, running
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator

OPEN = "POST /channels/*/messages/*/threads"


async def test_a_mention_is_answered_in_a_thread_of_its_own(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, thread_per_mention=True) as rig:
        asked = await api.says(ANNA, "plan our <dinner>", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        assert heard.address == room(channel, asked)
        await rig.adapter.type(heard.address)
        assert api.typings(channel) == 1
        for seen in (True, False):
            await rig.adapter.react(heard.address, heard.message_id, seen=seen)
            assert api.reactions(asked) == (["👀"] if seen else [])
        first = await rig.adapter.send(queued(heard.address, "one", reply_to=heard.message_id))
        await rig.adapter.send(queued(heard.address, "two", "k2"))
        await rig.adapter.edit(queued(heard.address, "one, changed"), first)
        assert (api.texts(channel), api.texts(asked)) == ([], ["one, changed", "two"])
        assert api.world.channels[asked].name == "plan our <dinner>"
        assert sum(path.endswith("/threads") for _, path in api.calls) == 1
        await api.says(ANNA, "more", channel=asked, mentions=[api.user_id])
        assert (await rig.hears(2)).address == heard.address


async def test_a_thread_that_somebody_else_just_opened_is_used(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, thread_per_mention=True) as rig:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        api.fail(OPEN, kind=faults.LOSE)
        with pytest.raises(Exception, match="broke"):
            await rig.adapter.send(queued(heard.address, "hello"))
        await rig.adapter.send(queued(heard.address, "hello"))
        assert api.texts(asked) == ["hello"]
        api.fail(faults.SEND, kind=faults.ERROR, status=404, code=10003, message="Unknown Channel")
        await rig.adapter.send(queued(heard.address, "again", "k2"))
        assert api.texts(asked) == ["hello", "again"]


async def test_a_missing_permission_to_open_threads_is_named(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, thread_per_mention=True) as rig:
        await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        api.fail(OPEN, kind=faults.ERROR, status=403, code=50013, message="Missing Permissions")
        with pytest.raises(Rejected, match="Create Public Threads"):
            await rig.adapter.send(queued(heard.address, "hello"))


async def test_a_deleted_question_opens_no_thread(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api, thread_per_mention=True) as rig:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        await api.deletes(asked)
        with pytest.raises(ChatGone, match="no longer exists"):
            await rig.adapter.send(queued(heard.address, "hello"))


async def test_a_deleted_or_locked_thread_is_unreachable(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA, BEN]))
    deleted = await api.thread(channel, "Deleted", ANNA)
    locked = await api.thread(channel, "Locked", BEN)
    api.delete_channel(deleted)
    api.lock(locked)
    async with running(api) as rig:
        for thread in (deleted, locked):
            with pytest.raises(ChatGone):
                await rig.adapter.send(queued(room(channel, thread), "hello"))


async def test_an_edit_in_an_archived_thread_keeps_it(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    address = room(channel, await api.thread(channel, "Side", ANNA))
    async with running(api) as rig:
        sent = await rig.adapter.send(queued(address, "one"))
        api.fail(faults.EDIT, kind=faults.ERROR, status=400, code=50083)
        with pytest.raises(MessageGone):
            await rig.adapter.edit(queued(address, "two"), sent)
        api.fail(faults.SEND, kind=faults.ERROR, status=400, code=50083)
        with pytest.raises(ChatGone):
            await rig.adapter.send(queued(address, "three", "k3"))


async def test_a_forum_post_gets_its_reaction_in_place(api: DiscordEmulator) -> None:
    forum = api.forum(api.guild("House", [ANNA]))
    async with running(api) as rig:
        tag = f"<@{api.user_id}> what now?"
        post = await api.thread(forum, "A question", ANNA, text=tag)
        heard = await rig.hears()
        assert heard.address == room(forum, post)
        assert heard.message_id == str(post)
        await rig.adapter.react(heard.address, heard.message_id, seen=True)
        assert api.reactions(post) == ["👀"]


async def test_a_deleted_message_gets_no_reaction_or_edit(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api) as rig:
        asked = await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        sent = await rig.adapter.send(queued(heard.address, "hello"))
        await api.deletes(asked)
        await api.deletes(int(sent))
        with pytest.raises(MessageGone):
            await rig.adapter.react(heard.address, heard.message_id, seen=True)
        await rig.adapter.react(heard.address, heard.message_id, seen=False)
        with pytest.raises(MessageGone):
            await rig.adapter.edit(queued(heard.address, "hello?"), sent)


async def test_a_forbidden_reaction_keeps_the_chat(rig: Rig) -> None:
    await rig.api.says(ANNA, "hi")
    heard = await rig.hears()
    rig.api.fail(faults.REACT, kind=faults.ERROR, status=403, code=50013, message="Missing")
    with pytest.raises(Rejected):
        await rig.adapter.react(heard.address, heard.message_id, seen=True)


async def test_an_address_of_another_platform_is_refused(rig: Rig) -> None:
    for chat_id in ("../users/@me", "C123", ""):
        with pytest.raises(Rejected, match="no channel"):
            await rig.adapter.send(queued(type(room(1))(chat_id=chat_id, is_direct=True), "x"))


async def test_without_permission_to_reply_messages_are_still_sent(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    async with running(api) as rig:
        await api.says(ANNA, "hi", channel=channel, mentions=[api.user_id])
        heard = await rig.hears()
        api.fail(faults.SEND, kind=faults.ERROR, status=400, code=160002, message="No history")
        await rig.adapter.send(queued(heard.address, "hello", reply_to=heard.message_id))
        (shown,) = api.messages(channel)
        assert (shown.content, shown.reference) == ("hello", None)


async def test_a_missing_permission_fails_a_file_or_closes_a_chat(api: DiscordEmulator) -> None:
    channel = api.channel(api.guild("House", [ANNA]))
    file = OutboundFile(name="a.txt", media_type="text/plain", data=b"abc")
    lacking: dict[str, Any] = {
        "kind": faults.ERROR,
        "status": 403,
        "code": 50013,
        "message": "Missing",
    }
    async with running(api) as rig:
        api.fail(faults.SEND, **lacking)
        with pytest.raises(Rejected, match="Attach Files"):
            await rig.adapter.send(queued(room(channel), "here", file=file))
        api.fail(faults.SEND, **lacking)
        with pytest.raises(ChatGone):
            await rig.adapter.send(queued(room(channel), "here"))
