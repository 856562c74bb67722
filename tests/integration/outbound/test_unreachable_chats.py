"""Places where nobody can be reached: nothing is sent there until somebody writes from there."""

import asyncio
from pathlib import Path

from agent_core.state.queues import outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.harness import Harness, running
from tests.integration.sides import count

CHAT = '["1",null,true]'


async def until_dead(harness: Harness, number: int) -> None:
    async with asyncio.timeout(45):
        while await count(harness, "outbox", "state = 'dead'") != number:
            await asyncio.sleep(0.002)


async def enqueue(harness: Harness, body: str) -> None:
    """Something that the gateway has to say there."""

    outgoing = NewOutboxMessage(platform="fake", chat=CHAT, body=body)
    row = await harness.gateway.database.write("owe", lambda c: outbox.enqueue(c, outgoing, now=1))
    harness.gateway.dispatcher.enqueue([row])


async def leave(harness: Harness) -> None:
    """The person blocks the bot while it thinks about what they said."""
    harness.chat.gone = {"1"}
    await harness.chat.says("hello")
    await until_dead(harness, 1)
    await harness.at_rest()
    harness.chat.gone = set()


async def test_a_chat_that_is_gone_is_not_called_again_also_after_a_restart(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(say("One.")), chat=chat) as harness:
        await leave(harness)
        await enqueue(harness, "more")
        await until_dead(harness, 2)
    chat.inlet = None
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        await enqueue(harness, "and more")
        await until_dead(harness, 3)
        await harness.at_rest()
        assert chat.shown == [], "it would have been taken"


async def test_who_writes_again_is_answered_and_gets_what_was_set_aside_by_retry(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        await leave(harness)
        await harness.chat.says("I am back")
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert [one.text for one in harness.chat.shown] == ["Two."]
        assert await harness.read(unreachable_chats.list_all) == {}
        await harness.chat.says("/retry")
        await harness.chat.sees_text("One.")
        await harness.at_rest()
        assert [one.text for one in harness.chat.shown] == ["Two.", "One."]


async def test_a_press_is_a_sign_of_life_too(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await leave(harness)
        await harness.chat.press_key("c:status", "9")
        await harness.chat.sees(1)
        assert await harness.read(unreachable_chats.list_all) == {}


async def test_a_stranger_who_writes_from_there_revives_it_too(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One.")), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        await leave(harness)
        await harness.chat.says("who is this?", user="9", name="Nobody")
        await harness.chat.sees(1)
        assert await harness.read(unreachable_chats.list_all) == {}


async def test_other_chats_of_the_person_are_not_retired(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        await leave(harness)
        await harness.chat.says("over here", chat="2")
        await harness.chat.sees_text("Two.")
        assert list(await harness.read(unreachable_chats.list_all)) == [("fake", CHAT)]
