"""A gateway's end, orderly or not, loses, repeats and leaves nothing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.contract import Pace
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.state.engine.database import Connection
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.errors import StartError
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration import harness as harnesses
from tests.integration.harness import Harness
from tests.patience import PATIENCE

RECALL = call("recall", '{"query": "tea"}')
AT_ONCE = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}
running = partial(harnesses.running, timings=harnesses.quick(first_words=0.0))


@pytest.fixture
async def loop_errors() -> AsyncIterator[list[dict[str, Any]]]:
    """Errors that the event loop reported: in callbacks, and in tasks nobody awaited."""
    found: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: found.append(context))
    yield found
    loop.set_exception_handler(None)


@dataclass
class SlowChat(FakeChat):
    """A platform that stores a message long before it responds."""

    sent: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        message_id = await super().send(message)
        self.sent.set()
        await self.answer.wait()
        return message_id


async def counts(harness: Harness) -> tuple[int, int, int]:
    """(events not done, turns running, messages not sent)."""

    def look(connection: Connection) -> tuple[int, ...]:
        return tuple(
            connection.execute(f"SELECT COUNT(*) FROM {table} WHERE {condition}").fetchone()[0]
            for table, condition in (
                ("inbox", "state <> 'done'"),
                ("turns", "state = 'running'"),
                ("outbox", "state <> 'sent' OR is_live = 1"),
            )
        )

    one, two, three = await harness.read(look)
    return one, two, three


@pytest.mark.thorough
async def test_a_live_message_continues_in_the_next_process(tmp_path: Path) -> None:
    chat, gate = FakeChat(), Gate()
    words, answer = ask(RECALL, text="Looking for tea")
    async with running(tmp_path, FakeModel([words, gate.hold, answer]), chat=chat):
        await chat.says("tea?", id=100)
        await chat.sees_text("Looking")
        asyncio.get_running_loop().call_later(0.02, gate.open.set)
    async with running(tmp_path, FakeModel(say("Green.")), chat=chat) as harness:
        await chat.sees_text("Green.")
        await harness.at_rest()
        assert await counts(harness) == (0, 0, 0)
    assert [shown.text for shown in chat.shown] == ["Green."]


async def test_a_live_message_in_flight_at_the_end_is_found_and_continued(
    tmp_path: Path,
) -> None:
    chat = SlowChat()
    words, answer = ask(RECALL, text="Looking for tea")
    never = asyncio.Event()
    async with running(tmp_path, FakeModel([words, never.wait]), chat=chat, **AT_ONCE):
        await chat.says("tea?", id=100)
        await chat.sent.wait()
    chat.answer.set()
    async with running(tmp_path, FakeModel([words, answer], say("Green.")), chat=chat) as harness:
        await chat.sees_text("Green.")
        await harness.at_rest()
        assert await counts(harness) == (0, 0, 0)
    assert [shown.text for shown in chat.shown] == ["Green."]
    assert chat.looked == ["Looking for tea"]


async def test_an_unsent_live_message_is_dropped_and_the_answer_sent_once(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    words, answer = ask(RECALL, text="Looking for tea")
    never = asyncio.Event()
    async with running(tmp_path, FakeModel([words, never.wait]), chat=chat, **AT_ONCE) as harness:
        await chat.says("tea?", id=100)
        await harness.until(lambda: not harness.gateway.dispatcher.is_idle())
        async with asyncio.timeout(PATIENCE):
            while (await counts(harness))[2] == 0:
                await asyncio.sleep(0.002)
    chat.gate.set()
    async with running(tmp_path, FakeModel([words, answer], say("Green.")), chat=chat) as harness:
        await chat.sees_text("Green.")
        await harness.at_rest()
        assert await counts(harness) == (0, 0, 0)
    assert [shown.text for shown in chat.shown] == ["Green."]


async def test_an_answer_in_flight_at_the_end_is_seen_once(tmp_path: Path) -> None:
    chat = SlowChat()
    async with running(tmp_path, FakeModel(say("Green.")), chat=chat, **AT_ONCE):
        await chat.says("tea?", id=100)
        await chat.sent.wait()
    chat.answer.set()
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        await harness.at_rest()
        assert await counts(harness) == (0, 0, 0)
    assert [shown.texts for shown in chat.shown] == [["Green."]]


async def test_shutdown_waits_for_an_answer_in_flight(tmp_path: Path) -> None:
    chat = SlowChat()
    async with running(tmp_path, FakeModel(say("Green.")), chat=chat) as harness:
        await chat.says("tea?", id=100)
        await chat.sent.wait()
        asyncio.get_running_loop().call_later(0.05, chat.answer.set)
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        assert await counts(harness) == (0, 0, 0)
    assert chat.looked == [], "there was never a doubt"


async def test_shutdown_does_not_wait_for_an_open_question(tmp_path: Path) -> None:
    chat = FakeChat()
    question = call("ask", '{"question": "Which?", "options": ["Red", "Blue"]}')
    patience = {"TALARIA_TURNS__DRAIN_SECONDS": "600"}
    async with asyncio.timeout(PATIENCE):  # less than the grace time
        async with running(tmp_path, FakeModel(ask(question)), chat=chat, **patience) as harness:
            await chat.says("tea?", id=100)
            await chat.sees_text("Which?")
            await harness.until(harness.gateway.waits_for_people)
    async with running(tmp_path, FakeModel(say("Blue.")), chat=chat) as harness:
        await chat.press("Blue")
        await chat.sees_text("Blue.")
        await harness.at_rest()
        assert await counts(harness) == (0, 0, 0)


async def test_an_abrupt_end_leaves_no_task_timer_or_error(
    tmp_path: Path, loop_errors: list[dict[str, Any]]
) -> None:
    timings = harnesses.quick(first_words=0.0, first_indicator=0.0)
    before = asyncio.all_tasks()
    never = asyncio.Event()
    words = say("word ")[0]
    chat = FakeChat(typing_lasts=1.0, pace=Pace(chat_interval=0, edit_interval=0, per_second=0))

    async def babble() -> None:
        await asyncio.sleep(0)

    plays = [[words, babble] * 300 + [never.wait] for _ in range(30)]
    async with running(tmp_path, FakeModel(*plays), chat=chat, timings=timings, **AT_ONCE):
        for number in range(30):
            await chat.says("go", user=str(number), chat=str(number))
        await chat.sees(10)
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert loop_errors == []


async def test_an_error_in_a_companion_ends_the_gateway_and_is_raised(tmp_path: Path) -> None:
    before = asyncio.all_tasks()

    async def fail(gateway: Gateway) -> None:
        raise StartError("The port is taken.")

    settings = load({"TALARIA_HOME": str(tmp_path)})
    extensions = Extensions(adapters={"fake": FakeChat()}, model=FakeModel())
    with pytest.raises(StartError, match="port is taken"):
        await app.run(settings, stop=asyncio.Event(), companions=(fail,), extensions=extensions)
    assert asyncio.all_tasks() == before
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await harness.chat.says("still there?")
        assert await harness.chat.sees(1) == ["Yes?"]
