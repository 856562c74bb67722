"""Unreachable chats: nothing is sent until somebody writes from there."""

import asyncio
from pathlib import Path

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.people import people
from agent_core.state.queues import outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import count
from tests.integration.harness import Harness, running
from tests.patience import PATIENCE

CHAT = '["1",null,true]'


async def until_dead(harness: Harness, number: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while await count(harness, "outbox", "state = 'dead'") != number:
            await asyncio.sleep(0.002)


async def enqueue(harness: Harness, body: str, person_id: PersonId | None = None) -> None:
    """Queue a message for the person."""

    outgoing = NewOutboxMessage(
        chat=Chat(platform="fake", address=CHAT), body=body, person_id=person_id
    )
    row = await harness.gateway.database.write("owe", lambda c: outbox.enqueue(c, outgoing, now=1))
    harness.gateway.dispatcher.enqueue([row])


async def leave(harness: Harness) -> None:
    """Block the bot while it answers."""
    harness.chat.gone = {"1"}
    await harness.chat.says("hello")
    await until_dead(harness, 1)
    await harness.at_rest()
    harness.chat.gone = set()


async def test_an_unreachable_chat_gets_nothing_even_after_a_restart(
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


async def test_a_person_who_writes_again_gets_failed_messages_by_retry(
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


async def test_a_press_makes_a_chat_reachable(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await leave(harness)
        await harness.chat.press_key("c:status", "9")
        await harness.chat.sees(1)
        assert await harness.read(unreachable_chats.list_all) == {}


async def test_a_stranger_makes_a_chat_reachable(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One.")), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        await leave(harness)
        await harness.chat.says("who is this?", user="9", name="Nobody")
        await harness.chat.sees(1)
        assert await harness.read(unreachable_chats.list_all) == {}


async def test_other_chats_of_the_person_stay_reachable(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        await leave(harness)
        await harness.chat.says("over here", chat="2")
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert list(await harness.read(unreachable_chats.list_all)) == [
            Chat(platform="fake", address=CHAT)
        ]


async def test_what_was_due_meanwhile_is_told_when_the_person_writes_again(
    tmp_path: Path,
) -> None:
    model = FakeModel(say("One."), say("Two."), say("Three."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees_text("One.")
        harness.chat.gone = {"1"}
        anna = await harness.gateway.database.read(
            people.find_by_account, platform="fake", user_id="1"
        )
        assert anna
        for body in ("Call Ben.", "Water the tomatoes."):
            await enqueue(harness, body, anna.id)
        await until_dead(harness, 2)
        harness.chat.gone = set()
        await harness.chat.says("I am back")
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert any("2 messages were not" in one.text for one in harness.chat.shown)
        await harness.chat.press("Send now")
        await harness.chat.sees_text("Water the tomatoes.")
        await harness.at_rest()
        assert await count(harness, "outbox", "state = 'dead'") == 0
        await harness.chat.says("thanks")
        await harness.chat.sees_text("Three.")
        assert sum("not delivered" in one.text for one in harness.chat.shown) <= 1
