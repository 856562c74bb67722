"""Lanes: one turn at a time, in order, through stops and a failing store."""

import asyncio
from pathlib import Path

import pytest

from agent_core.models.contract import Usage
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from tests.fakes.chat import FakeChat, PrefixedChat
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.harness import Harness, running
from tests.integration.turns.refused_writes import refuse
from tests.integration.turns.stored_states import states

ONE_PLACE = {"TALARIA_TURNS__AT_ONCE": "1"}
RECALL = call("recall", '{"query": "tea"}')


def said(model: FakeModel) -> str:
    """Return the texts of people in the last request."""
    return "\n".join(m.text for m in model.requests[-1].messages if m.role == "user")


async def test_a_second_stop_does_nothing(tmp_path: Path) -> None:
    unwinding, done = asyncio.Event(), asyncio.Event()
    reached = asyncio.Event()

    async def end_slowly() -> None:
        try:
            reached.set()
            await asyncio.Event().wait()
        finally:
            unwinding.set()
            await done.wait()

    async with running(tmp_path, FakeModel([end_slowly])) as harness:
        await harness.chat.says("work")
        await reached.wait()
        await harness.chat.says("/stop")
        await unwinding.wait()
        await harness.chat.says("/stop")
        await harness.until(harness.gateway.router.is_idle)
        done.set()
        await harness.chat.sees_text("Stopped")
        await harness.at_rest()
        assert await states(harness, "inbox") == ["done"] * 3
        assert len(harness.chat.shown) == 1


async def test_a_stop_reaches_a_message_that_waits_for_a_slot(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("For Ana.")], say("For Ben."))
    async with running(tmp_path, model, **ONE_PLACE) as harness:
        await harness.chat.says("hello", user="1", chat="1")
        await gate.reached.wait()
        await harness.chat.says("never mind", user="2", chat="2")
        await harness.until(lambda: len(harness.gateway.lanes) == 2)
        await harness.chat.says("/stop", user="2", chat="2")
        shown = await harness.chat.sees_text("Stopped")
        assert shown.chat_id == "2"
        await harness.chat.says("but this", user="2", chat="2")
        gate.open.set()
        await harness.chat.sees_text("For Ben.")
        await harness.at_rest()
        assert len(model.requests) == 2
        assert await states(harness, "turns") == ["answered", "stopped", "answered"]


async def test_no_turn_begins_during_a_drain(tmp_path: Path) -> None:
    gate = Gate()
    chat = FakeChat()
    play = [gate.hold, *ask(RECALL)]
    async with running(tmp_path, FakeModel(play), chat=chat, **ONE_PLACE) as harness:
        await chat.says("hello", user="1", chat="1")
        await gate.reached.wait()
        await chat.says("me too", user="2", chat="2")
        await harness.until(lambda: len(harness.gateway.lanes) == 2)
        asyncio.get_running_loop().call_later(0.05, gate.open.set)
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        await harness.chat.sees(2)
        await harness.at_rest()
        assert await states(harness, "turns") == ["answered", "answered"]
        latest = await harness.read(lambda c: turns.list_recent(c, limit=2))
        assert [turn.attempts for turn in latest] == [1, 1]


async def test_a_message_in_another_chat_is_answered_there(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *ask(RECALL)], say("Here."), say("There."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("from here", chat="1")
        await gate.reached.wait()
        await harness.chat.says("from there", chat="2")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees(2)
        await harness.at_rest()
        assert {s.chat_id: s.text for s in harness.chat.shown} == {"1": "Here.", "2": "There."}
        assert said(model) == "from here\nfrom there", "it is one conversation all the same"


async def test_an_edit_changes_no_message_of_another_chat(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("first", chat="1")
        await gate.reached.wait()
        await harness.chat.says("second", chat="1", id=7, event="a")
        await harness.chat.says("third", chat="2", id=7, edit=True, event="b")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.at_rest()
        assert said(model) == "first\nsecond"


async def test_an_edit_of_a_queued_message_loses_the_command(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("first")
        await gate.reached.wait()
        await harness.chat.says("/queue tow", id=7)
        await harness.chat.says("/queue two", id=7, edit=True, event="the edit")
        await harness.until(harness.gateway.router.is_idle)
        gate.open.set()
        await harness.chat.sees_text("Two.")
        assert said(model) == "first\ntwo"
        await harness.at_rest()
        assert await states(harness, "inbox") == ["done"] * 3


async def test_a_too_long_edit_keeps_the_previous_text(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel([gate.hold, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("first")
        await gate.reached.wait()
        await harness.chat.says("second", id=7)
        await harness.chat.says("x" * 200_000, id=7, edit=True, event="the edit")
        await harness.chat.sees_text("200,000 characters")
        gate.open.set()
        await harness.at_rest()
        assert said(model) == "first\nsecond"


async def test_a_turn_waits_for_the_store_and_begins_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        relent = await refuse(harness, "no_turns", "INSERT ON turns")
        await harness.chat.says("hello")
        await harness.until(lambda: "a turn waits for the store" in caplog.text)
        await relent()
        assert await harness.chat.sees(1) == ["One."]
        await harness.at_rest()
        assert await states(harness, "turns") == ["answered"]
        assert await states(harness, "inbox") == ["done"]


async def test_an_answer_that_cannot_be_stored_is_not_requested_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        relent = await refuse(harness, "no_end", "UPDATE OF ended_at ON turns")
        await harness.chat.says("hello")
        await harness.until(lambda: "the end of turn" in caplog.text)
        await relent()
        assert await harness.chat.sees(1) == ["One."]
        await harness.at_rest()
        assert len(harness.model.requests) == 1
        assert await states(harness, "turns") == ["answered"]


async def test_a_failing_store_causes_no_second_turn_or_steer(
    tmp_path: Path,
) -> None:
    gate = Gate()
    milk = ask(call("recall", '{"query": "milk"}', "c2"))
    model = FakeModel([gate.hold, *ask(RECALL)], milk)
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await harness.chat.says("green, please")
        await harness.until(harness.gateway.router.is_idle)
        relent = await refuse(harness, "no_milk", "INSERT ON steps WHEN NEW.call_id = 'c2'")
        model.plays += [[relent, *milk], say("Done.")]
        gate.open.set()
        assert await harness.chat.sees(1) == ["Done."]
        await harness.at_rest()
        assert said(model).count("green, please") == 1
        assert await states(harness, "turns") == ["answered"]
        assert await states(harness, "inbox") == ["done", "done"]


async def test_a_failing_store_causes_no_second_live_message(tmp_path: Path) -> None:
    gate = Gate()
    words, answer = ask(RECALL, text="Looking for tea")
    model = FakeModel([words, gate.hold, answer])
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await harness.chat.sees_text("Looking")
        relent = await refuse(harness, "no_steps", "INSERT ON steps")
        again = Gate()
        words, _ = ask(RECALL, text="Still looking")
        model.plays += [[words, again.hold, relent, answer], say("Now I know.")]
        gate.open.set()
        await harness.chat.sees_text("Still looking")
        again.open.set()
        await harness.chat.sees_text("Now I know.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Now I know."]


async def test_a_turn_that_cannot_be_resumed_waits_and_continues(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees(1)
        await harness.at_rest()
        await set_running(harness)
        await refuse(harness, "no_attempts", "UPDATE OF attempts ON turns")
    chat = FakeChat()
    async with running(tmp_path, FakeModel(say("Two.")), chat=chat) as harness:
        await chat.says("more", id=2)
        await harness.until(harness.gateway.router.is_idle)
        assert chat.shown == [], "the new message does not overtake the turn that waits"
        await harness.gateway.database.write(
            "test", lambda c: c.execute("DROP TRIGGER no_attempts")
        )
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert await states(harness, "turns") == ["answered"]


async def test_an_unexpected_error_is_reported_after_a_store_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def break_down() -> None:
        raise RuntimeError("planned")

    async with running(tmp_path, FakeModel([break_down], say("Fine again."))) as harness:
        relent = await refuse(harness, "no_end", "UPDATE OF ended_at ON turns")
        await harness.chat.says("hello")
        await harness.until(lambda: "the end of turn" in caplog.text)
        await harness.chat.says("and this")
        await relent()
        await harness.chat.sees_text("Something went wrong on my side.")
        await harness.chat.sees_text("Fine again.")
        await harness.at_rest()
        assert await states(harness, "turns") == ["failed", "answered"]
        assert await states(harness, "inbox") == ["done", "done"]


async def test_a_damaged_transcript_is_reported_and_new_works(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees(1)
        await harness.at_rest()
        await set_running(harness)
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE messages SET text = 'evil'")
        )
    async with running(tmp_path, FakeModel(say("Two.")), chat=PrefixedChat()) as harness:
        await harness.chat.sees_text("Use /talaria new to start")
        assert await states(harness, "turns") == ["failed"]
        await harness.chat.says("go on", id=2)
        await harness.chat.sees_text("I couldn't start working on your message")
        await harness.chat.says("/new", id=3)
        await harness.chat.says("go on", id=4)
        await harness.chat.sees_text("Two.")


async def test_an_answer_to_a_transcript_damaged_meanwhile_is_paid_for(tmp_path: Path) -> None:
    gate = Gate()
    model = FakeModel(ask(call("recall", '{"query": "tea"}')), [gate.hold, *say("There.")])
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await harness.gateway.database.write(
            "test", lambda c: c.execute("UPDATE messages SET text = 'evil'")
        )
        gate.open.set()
        await harness.chat.sees_text("/new")
        await harness.at_rest()
        paid = await harness.read(lambda c: c.execute("SELECT model FROM usage").fetchall())
        assert paid == [("fake-1",), ("fake-1",)]


async def test_a_turn_of_a_disabled_platform_blocks_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("One."))) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees(1)
        await harness.at_rest()
        await set_running(harness)
    async with running(tmp_path, FakeModel(), platform="elsewhere") as harness:
        await harness.until(lambda: len(harness.gateway.lanes) == 0)
        assert await states(harness, "turns") == ["failed"]
        assert await harness.read(lambda c: outbox.count(c, state="owed")) == 1
    async with running(tmp_path, FakeModel(say("Two."))) as harness:
        await harness.chat.sees_text("/retry")
        await harness.chat.says("/retry", id=2)
        await harness.chat.sees_text("Two.")


async def test_a_turn_can_be_interrupted_between_steps_repeatedly(tmp_path: Path) -> None:
    for number in range(3):
        gate = Gate()
        plays = [[gate.hold, *ask(call("recall", '{"query": "x"}', f"c{number}"))]]
        async with running(tmp_path, FakeModel(*plays)) as harness:
            if number == 0:
                await harness.chat.says("search")
            await gate.reached.wait()
            asyncio.get_running_loop().call_later(0.02, gate.open.set)
    async with running(tmp_path, FakeModel(say("Found it."))) as harness:
        assert await harness.chat.sees(1) == ["Found it."]
        latest = await harness.read(lambda c: turns.list_recent(c, limit=1))
        assert latest[0].attempts == 1, "only processes that die are held against a turn"


async def test_a_resumed_turn_keeps_its_costs(tmp_path: Path) -> None:
    gate = Gate()
    heavy = Usage(input_tokens=900, output_tokens=1)
    limit = {"TALARIA_TURNS__MAX_TOKENS": "1000"}
    play = [gate.hold, *ask(RECALL, usage=heavy)]
    async with running(tmp_path, FakeModel(play), **limit) as harness:
        await harness.chat.says("search")
        await gate.reached.wait()
        asyncio.get_running_loop().call_later(0.02, gate.open.set)
    plays = (ask(call("recall", '{"query": "y"}', "c2"), usage=heavy), say("So far."))
    async with running(tmp_path, FakeModel(*plays), **limit) as harness:
        shown = await harness.chat.sees_text("So far.")
        assert "as much as I may for one answer" in shown.text


async def test_a_stopped_turn_leaves_a_valid_transcript(
    tmp_path: Path,
) -> None:
    gate = Gate()
    model = FakeModel(ask(RECALL), [gate.hold], say("Later."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("tea?")
        await gate.reached.wait()
        await harness.chat.says("/stop")
        await harness.chat.sees_text("Stopped")
        await harness.at_rest()
        await harness.chat.says("again")
        await harness.chat.sees_text("Later.")
        roles = [m.role for m in model.requests[-1].messages]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]


async def test_a_queued_message_survives_a_restart_without_being_told_twice(
    tmp_path: Path,
) -> None:
    gate = Gate()
    chat = FakeChat()
    play = [gate.hold, *ask(RECALL)]
    async with running(tmp_path, FakeModel(play), chat=chat) as harness:
        await chat.says("first")
        await gate.reached.wait()
        await chat.says("/queue second")
        await chat.sees_text("I'll start on that when")
        asyncio.get_running_loop().call_later(0.02, gate.open.set)
    model = FakeModel(say("One."), say("Two."))
    async with running(tmp_path, model) as harness:
        assert await harness.chat.sees(2) == ["One.", "Two."]
        await harness.at_rest()
        assert said(model) == "first\nsecond"
        assert await states(harness, "inbox") == ["done", "done"]


async def set_running(harness: Harness) -> None:
    """Make the last turn look as if its process died before it ended."""

    def work(connection: Connection) -> None:
        connection.execute("UPDATE turns SET state = 'running', ended_at = NULL")
        connection.execute("DELETE FROM messages WHERE role = 'assistant'")

    await harness.gateway.database.write("test", work)
