"""Intake: what comes in is kept, read once, in order, and never a reason to fall over."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from adapters.errors import Unreachable
from adapters.ids import EventId
from adapters.messages import RawEvent
from agent_core.state.engine.database import Connection
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.harness import House, running

SENTENCES = [f"sentence {number}" for number in range(40)]


async def states(house: House) -> list[tuple[str, str]]:
    def look(connection: Connection) -> list[tuple[str, str]]:
        return connection.execute("SELECT state, reason FROM inbox ORDER BY id").fetchall()

    return await house.read(look)


async def take(house: House, *payloads: str) -> None:
    assert house.chat.inlet
    events = [
        RawEvent(event_id=EventId(f"raw {number}"), payload=payload)
        for number, payload in enumerate(payloads)
    ]
    await house.chat.inlet.take(events)


async def refuse(house: House, event: str) -> Callable[[], Awaitable[None]]:
    """Make the store refuse something, as a full disk would; gives what ends that."""
    trigger = f"CREATE TRIGGER no BEFORE {event} BEGIN SELECT RAISE(ABORT, 'no'); END"
    database = house.gateway.database
    await database.write("test", lambda c: c.execute(trigger))

    async def relent() -> None:
        await database.write("test", lambda c: c.execute("DROP TRIGGER no"))

    return relent


async def test_an_event_that_breaks_its_reader_is_parked(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        await take(house, "{}", "not even JSON")
        await house.chat.says("hello")
        assert await house.chat.sees(1) == ["Yes?"]
        await house.at_rest()
        assert [state for state, _ in await states(house)] == ["dead", "dead", "done"]


async def test_an_event_that_breaks_its_reader_does_not_break_the_next_start(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel()) as house:
        await house.gateway.database.write(
            "test",
            lambda c: c.execute(
                "INSERT INTO inbox (platform, event_id, payload, state, received_at)"
                " VALUES ('fake', 'x', '{}', 'received', 0)"
            ),
        )
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        await house.chat.says("hello", id=2)
        assert await house.chat.sees(1) == ["Yes?"]
        await house.at_rest()
        assert [state for state, _ in await states(house)] == ["dead", "done"]


async def test_what_can_not_be_stored_is_not_confirmed_and_comes_again(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        relent = await refuse(house, "INSERT ON inbox")
        with pytest.raises(Unreachable):
            await house.chat.says("hello", id=1)
        await relent()
        await house.chat.says("hello", id=1)
        assert await house.chat.sees(1) == ["Yes?"]
        await house.at_rest()
        assert len(await states(house)) == 1


async def test_nothing_is_taken_in_once_the_house_is_closing(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as house:
        house.gateway.router.close()
        with pytest.raises(Unreachable, match="shutting down"):
            await house.chat.says("hello")
        assert await states(house) == []


async def test_messages_of_one_chat_keep_their_order(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("One.")], say("Two."))) as house:
        await house.chat.says("first")
        await house.until(lambda: house.model.streaming == 1)
        for sentence in SENTENCES:
            await house.chat.says(sentence)
        await house.until(house.gateway.router.is_idle)
        go.set()
        await house.at_rest()
        said = [m.text for m in house.model.requests[-1].messages if m.role == "user"]
        assert said == ["first", *SENTENCES]


async def test_a_command_whose_reply_the_store_refuses_is_obeyed_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    go = asyncio.Event()
    model = FakeModel([go.wait, *say("One.")], say("Two."))
    async with running(tmp_path, model) as house:
        await house.chat.says("first")
        await house.until(lambda: model.streaming == 1)
        relent = await refuse(house, "INSERT ON outbox")
        await house.chat.says("/queue second")
        await house.until(lambda: "an event of fake waits" in caplog.text)
        await relent()
        await house.chat.sees_text("I'll start on that when")
        go.set()
        await house.chat.sees_text("Two.")
        await house.at_rest()
        assert len(house.chat.shown) == 3
        assert [state for state, _ in await states(house)] == ["done", "done"]


async def test_a_fault_in_our_own_code_is_told_to_whom_we_know(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        await house.chat.says("hello")
        await house.chat.sees(1)
        await house.chat.says(None)  # type: ignore[arg-type]
        await house.chat.sees_text(general.INTERNAL_ERROR())
        await house.at_rest()
        (done, _), (dead, reason) = await states(house)
        assert (done, dead) == ("done", "dead")
        assert "AttributeError" in reason


async def test_a_fault_that_a_stranger_meets_is_told_to_nobody(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as house:
        await house.chat.says(None, user="666")  # type: ignore[arg-type]
        await house.at_rest()
        assert house.chat.shown == []
        assert [state for state, _ in await states(house)] == ["dead"]


async def test_an_edit_of_what_was_answered_is_done_in_silence(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        await house.chat.says("hello", id=1)
        await house.chat.sees(1)
        await house.at_rest()
        await house.chat.says("", id=1, edit=True, event="the edit")
        await house.at_rest()
        assert len(house.chat.shown) == 1
        assert [state for state, _ in await states(house)] == ["done", "done"]


async def test_events_of_a_platform_that_is_off_wait_for_it(tmp_path: Path) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(), chat=chat) as house:
        await refuse(house, "INSERT ON turns")
        await chat.says("hello")
        await house.until(lambda: len(house.gateway.lanes) == 1)
    async with running(tmp_path, FakeModel(), platform="elsewhere") as house:
        await house.at_rest()
        assert [state for state, _ in await states(house)] == ["received"]
        await house.gateway.database.write("test", lambda c: c.execute("DROP TRIGGER no"))
    async with running(tmp_path, FakeModel(say("Yes?"))) as house:
        assert await house.chat.sees(1) == ["Yes?"]
