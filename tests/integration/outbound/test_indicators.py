"""Indicators: the eyes on a message, and the status line; both are removed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from adapters.errors import RateLimited, Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundMessage, Step
from agent_core.chats import Chat
from agent_core.errors import ModelRejected
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Verbosity
from agent_core.tools.contract import ToolContext, ToolResult
from gateway.outbound.indicators import MOST_TRIES
from gateway.turns import presenter as presenter_module
from gateway.turns.presenter import Presenter
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration import harness as harnesses
from tests.integration.accounts import count
from tests.integration.harness import Harness
from tests.patience import PATIENCE

AT_ONCE = "0"
"""Seconds to drain: what runs is cut off, as a crash would."""
AT_ONCE_SHOWN = {"first_indicator": 0.0, "first_status": 0.0}
running = partial(harnesses.running, timings=harnesses.quick(**AT_ONCE_SHOWN))
LATE = harnesses.quick(first_indicator=5.0, first_status=0.0)


class Oven(FakeTool):
    """A tool that runs as long as the test wants."""

    def __init__(self, name: str = "bake") -> None:
        super().__init__(name, self._bake)
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    async def _bake(self, _: Mapping[str, object], __: ToolContext) -> ToolResult:
        self.reached.set()
        await self.go.wait()
        return ToolResult(text="Baked.")


def bake(*more: str) -> FakeModel:
    """Call the tool, then answer."""
    return FakeModel(ask(call("bake")), *(ask(call(name, "{}", name)) for name in more), say("Ok."))


async def let(harness: Harness, verbosity: Verbosity) -> None:
    """Set how much the person wants to see."""
    await harness.chat.says("/help")
    await harness.at_rest()

    def work(connection: Connection) -> None:
        person = people.find_by_account(connection, platform="fake", user_id="1")
        assert person
        people.set_preferences(connection, replace(person, verbosity=verbosity))

    await harness.gateway.database.write("wishes", work)
    harness.gateway.forget_known()
    harness.chat.shown.clear()


async def seen(harness: Harness, *, now: bool) -> None:
    """Return once exactly message 7 has the eyes, or no longer has them."""
    await harness.until(lambda: harness.chat.seen == {"7": now})


# The eyes


async def test_eyes_are_on_the_message_until_it_is_answered(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Ok.")])) as harness:
        await harness.chat.says("think", id="7")
        await seen(harness, now=True)
        go.set()
        await harness.chat.sees_text("Ok.")
        await seen(harness, now=False)


async def test_an_instant_answer_needs_no_eyes(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel(say("Ok.")), timings=LATE) as harness:
        await harness.chat.says("hi", id="7")
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        assert harness.chat.seen == {}


async def test_stop_removes_the_eyes(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Never said.")])) as harness:
        await harness.chat.says("think", id="7")
        await seen(harness, now=True)
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped.")
        await seen(harness, now=False)


async def test_a_failure_removes_the_eyes(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, ModelRejected("no")])) as harness:
        await harness.chat.says("think", id="7")
        await seen(harness, now=True)
        go.set()
        await harness.chat.sees_text("rejected the request")
        await seen(harness, now=False)


async def test_eyes_of_an_earlier_process_are_removed_with_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = FakeChat()
    model = FakeModel([asyncio.Event().wait])
    async with running(tmp_path, model, chat=chat, TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE) as harness:
        await chat.says("think", id="7")
        await seen(harness, now=True)
    chat.inlet = None
    chat.seen = {"7": True}  # a killed process removes nothing
    async with running(tmp_path, FakeModel(say("Ok.")), chat=chat, timings=LATE) as harness:
        await chat.sees_text("Ok.")
        await seen(harness, now=False)


async def test_nothing_is_shown_once_the_gateway_is_closed(tmp_path: Path) -> None:
    chat = FakeChat()
    tool = Oven()
    async with running(
        tmp_path, bake(), chat=chat, tools=(tool,), TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE
    ) as harness:
        await chat.says("bake", id="7")
        await tool.reached.wait()
        await chat.sees_text("Using bake")
        dispatcher, indicators = harness.gateway.dispatcher, harness.gateway.dispatcher.indicators
    shown, typed, viewers = len(chat.shown), len(chat.typed), dict(chat.seen)
    dispatcher.close()
    assert not indicators.mark_seen(Chat(platform="fake", address='["1",null,true]'), "7")
    indicators.type(Chat(platform="fake", address='["1",null,true]'))
    indicators.unmark(Chat(platform="fake", address='["1",null,true]'), "7")
    await asyncio.sleep(0)
    assert (len(chat.shown), len(chat.typed), chat.seen) == (shown, typed, viewers)


@dataclass
class BlindChat(FakeChat):
    """A platform without indicators."""

    react = None  # type: ignore[assignment]
    type = None  # type: ignore[assignment]


async def test_a_platform_without_indicators_gets_none(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Ok.")]), chat=BlindChat()) as harness:
        await harness.chat.says("think", id="7")
        await harness.until(lambda: harness.model.streaming == 1)
        go.set()
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        assert harness.chat.seen == {}


# The status line


async def test_a_silent_status_line_is_removed_after_the_answer(
    tmp_path: Path,
) -> None:
    oven, look = Oven(), Oven("look")
    async with running(tmp_path, bake("look"), tools=(oven, look)) as harness:
        await harness.chat.says("bake")
        line = await harness.chat.sees_text("Using bake")
        assert (line.is_silent, line.reply_to) == (True, None)
        oven.go.set()
        await harness.chat.until(lambda: "Using look" in line.text)
        assert harness.chat.shown == [line]
        look.go.set()
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Ok."]
        assert not harness.chat.shown[0].is_silent
        assert harness.chat.deleted == [line]
        assert await count(harness, "outbox", "kind = 'status'") == 0


async def test_the_status_line_shows_the_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        presenter_module, "round", lambda seconds: int(seconds * 1000), raising=False
    )
    oven = Oven()
    timings = harnesses.quick(**AT_ONCE_SHOWN, status_interval=0.01)
    async with running(tmp_path, bake(), tools=(oven,), timings=timings) as harness:
        await harness.chat.says("bake")
        line = await harness.chat.sees_text("Using bake")
        await harness.chat.until(lambda: len(line.texts) > 2)
        oven.go.set()
        await harness.chat.sees_text("Ok.")


async def test_answers_only_shows_no_status_line(tmp_path: Path) -> None:
    oven = Oven()
    async with running(tmp_path, bake(), tools=(oven,)) as harness:
        await let(harness, "quiet")
        await harness.chat.says("bake", id="7")
        await oven.reached.wait()
        await seen(harness, now=True)
        oven.go.set()
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        assert harness.chat.deleted == []
        assert [shown.texts for shown in harness.chat.shown] == [["Ok."]]


async def test_every_step_shows_a_line_each(
    tmp_path: Path,
) -> None:
    oven, look = Oven(), Oven("look")
    timings = harnesses.quick(**AT_ONCE_SHOWN, first_words=0.0)
    async with running(tmp_path, bake("look"), tools=(oven, look), timings=timings) as harness:
        await let(harness, "verbose")
        await harness.chat.says("bake")
        line = await harness.chat.sees_text("⏳ Using bake")
        oven.go.set()
        await harness.chat.until(lambda: line.text == "✓ Using bake\n⏳ Using look")
        look.go.set()
        await harness.chat.sees_text("Ok.")


@dataclass
class StepsChat(FakeChat):
    """A platform with its own list of steps."""

    shows_steps: bool = True
    steps: list[tuple[Step, ...]] = field(default_factory=list)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        self.steps.append(message.steps)
        return await super().send(message)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        self.steps.append(message.steps)
        await super().edit(message, message_id)


async def test_native_steps_replace_the_status_line(tmp_path: Path) -> None:
    oven = Oven()
    chat = StepsChat()
    async with running(tmp_path, bake(), chat=chat, tools=(oven,)) as harness:
        await chat.says("bake")
        await harness.until(lambda: any(steps for steps in chat.steps))
        assert [step.state for step in chat.steps[-1]] == ["running"]
        oven.go.set()
        await chat.sees_text("Ok.")
        await harness.at_rest()
        assert [shown.text for shown in chat.shown] == ["Ok."]
        assert chat.deleted == []
        assert chat.steps[-1] == (), "the answer is a message like any other"


@pytest.mark.parametrize("lost", [True, False])
async def test_a_status_line_with_unknown_delivery_is_found_and_removed(
    tmp_path: Path, lost: bool
) -> None:
    oven = Oven()
    async with running(tmp_path, bake(), chat=BlindChat(), tools=(oven,)) as harness:
        harness.chat.plan(Unsure("no answer"), lost=lost)
        await harness.chat.says("bake", id="from Ana")
        await oven.reached.wait()
        await harness.until(lambda: not harness.chat.mishaps)
        await harness.until(harness.gateway.dispatcher.is_idle)
        oven.go.set()
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        assert [shown.text for shown in harness.chat.shown] == ["Ok."]
        assert len(harness.chat.deleted) == (1 if lost else 0)
        assert await count(harness, "outbox", "kind = 'status'") == 0


async def test_a_status_line_of_an_earlier_process_is_removed(tmp_path: Path) -> None:
    chat = FakeChat()
    oven = Oven()
    async with running(
        tmp_path, bake(), chat=chat, tools=(oven,), TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE
    ) as harness:
        await chat.says("bake")
        line = await chat.sees_text("Using bake")
        await harness.until(harness.gateway.dispatcher.is_idle)
    chat.inlet = None
    later = Oven()
    async with running(tmp_path, FakeModel(say("Ok.")), chat=chat, tools=(later,)) as harness:
        await later.reached.wait()
        assert chat.shown == [line], "the same line is gone on with"
        later.go.set()
        await chat.sees_text("Ok.")
        await harness.at_rest()
        assert [shown.text for shown in chat.shown] == ["Ok."]
        assert chat.deleted == [line]


async def test_removing_a_status_line_is_retried(tmp_path: Path) -> None:
    oven = Oven()
    async with running(tmp_path, bake(), chat=BlindChat(), tools=(oven,)) as harness:
        await harness.chat.says("bake")
        await harness.chat.sees_text("Using bake")
        await harness.until(harness.gateway.dispatcher.is_idle)
        harness.chat.mishaps.extend((None, (Unreachable("down"), False), (Unsure("hm"), True)))
        oven.go.set()
        await harness.chat.sees_text("Ok.")
        async with asyncio.timeout(PATIENCE):
            while await count(harness, "outbox", "kind = 'status'"):
                await asyncio.sleep(0.002)
        assert [shown.text for shown in harness.chat.shown] == ["Ok."]
        assert len(harness.chat.deleted) == 1


async def test_a_presenter_that_is_closed_plans_nothing(tmp_path: Path) -> None:
    oven = Oven()
    async with running(tmp_path, bake(), tools=(oven,)) as harness:
        await harness.chat.says("bake")
        await harness.chat.sees_text("Using bake")
        handle = next(iter(harness.gateway.lanes._handles.values()))
        presenter = handle.presenter
        assert isinstance(presenter, Presenter)
        oven.go.set()
        await harness.chat.sees_text("Ok.")
        await harness.at_rest()
        timers = (presenter._words_timer, presenter._status_timer, presenter._indicator_timer)
        assert all(timer is None or timer.cancelled() for timer in timers)


async def test_removing_the_eyes_is_retried(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Ok.")])) as harness:
        await harness.chat.says("think", id="7")
        await seen(harness, now=True)
        await harness.until(harness.gateway.dispatcher.is_idle)
        await harness.chat.says("/stop")
        slow = RateLimited("slow", retry_after=0.01)
        harness.chat.mishaps.extend((slow, False) for _ in range(2))
        await seen(harness, now=False)
        await harness.chat.sees_text("(Stopped.")


async def test_removing_the_eyes_is_given_up(tmp_path: Path) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        tries = 0

        async def fail(*_: object, seen: bool) -> None:
            nonlocal tries
            tries += 1
            raise Unreachable("down")

        chat.react = fail  # type: ignore[assignment, method-assign]
        indicators = harness.gateway.dispatcher.indicators
        indicators.unmark(Chat(platform="fake", address='["1",null,true]'), "7")
        await harness.until(lambda: tries == 1 + MOST_TRIES)
        await harness.until(lambda: indicators.is_idle() and not indicators._retrying)
        assert tries == 1 + MOST_TRIES
        assert indicators.mark_seen(Chat(platform="fake", address='["1",null,true]'), "8")
        await harness.until(lambda: tries == 2 + MOST_TRIES)


async def test_a_shutdown_waits_until_the_eyes_are_removed(tmp_path: Path) -> None:
    go = asyncio.Event()
    chat = FakeChat()
    model = FakeModel([go.wait, *ask(call("recall", '{"query": "tea"}'))])
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("think", id="7")
        await seen(harness, now=True)
        chat.gate = asyncio.Event()
        harness.gateway.lanes.drain()
        go.set()
        await harness.until(harness.gateway.lanes.is_idle)
        assert not harness.gateway.is_at_rest()
        chat.gate.set()
    assert chat.seen == {"7": False}


@dataclass
class BrokenChat(FakeChat):
    """A platform whose adapter has a bug."""

    tried: asyncio.Event = field(default_factory=asyncio.Event)

    async def type(self, address: Address) -> None:
        self.tried.set()
        raise KeyError("planned")


async def test_an_indicator_that_breaks_its_adapter_ends_no_gateway(tmp_path: Path) -> None:
    chat = BrokenChat()
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("Done.")]), chat=chat) as harness:
        await chat.says("work")
        await chat.tried.wait()
        go.set()
        await chat.sees_text("Done.")
        await harness.at_rest()
