"""A turn that is cut short: everything it started ends with it, at once."""

import asyncio
from collections.abc import Mapping

import pytest

from agent_core.errors import ModelBusy
from agent_core.events import Emit, Event, TextGrew, ToolEnded, ToolStarted
from agent_core.tools.contract import ToolContext, ToolResult
from tests.agent_core.agent.loop.rig import Left, Rig
from tests.fakes.host import FakeHost
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool
from tests.patience import PATIENCE


class Gate:
    """Tells that someone has come, and never lets anyone through."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await asyncio.Event().wait()

    async def act(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await self.wait()
        raise AssertionError


async def consume(rig: Rig, events: list[Event], watch: Emit | None) -> None:
    async def emit(event: Event) -> None:
        events.append(event)
        if watch:
            await watch(event)

    await rig.loop(rig.turn(), emit).run()


async def cancel_at(rig: Rig, gate: Gate, watch: Emit | None = None) -> list[Event]:
    """Run until the gate is reached, cancel, and see that nothing is left behind."""
    before = asyncio.all_tasks()
    events: list[Event] = []
    task = asyncio.create_task(consume(rig, events, watch))
    async with asyncio.timeout(PATIENCE):
        await gate.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert asyncio.all_tasks() == before
    assert rig.model.streaming == 0
    assert "conclude" not in rig.journal.kinds
    return events


async def test_cancelling_while_tools_run_leaves_no_task_behind() -> None:
    gate = Gate()
    tools = [FakeTool("hang", gate.act), FakeTool("look")]
    calls = (call("hang", call_id="a"), call("hang", call_id="b"), call("look", call_id="c"))
    rig = Rig(ask(*calls), tools=tools)
    events = await cancel_at(rig, gate)
    assert sum(isinstance(event, ToolStarted) for event in events) == 3
    assert tools[0].running == 0
    assert len(tools[0].asked) == 2


async def test_cancelling_while_an_answer_streams_closes_the_stream() -> None:
    gate = Gate()
    text, answer = say("a")
    events = await cancel_at(Rig([text, gate.wait, answer]), gate)
    assert events == [TextGrew(delta="a")]


async def test_cancelling_while_waiting_to_retry_ends_the_wait() -> None:
    gate = Gate()
    rig = Rig([ModelBusy("busy")])

    class WaitingHost(FakeHost):
        async def pause(self, seconds: float) -> None:
            await gate.wait()

    rig.host = WaitingHost()
    await cancel_at(rig, gate)


@pytest.mark.parametrize("kind", ["answer", "result", "input"])
async def test_cancelling_while_something_is_recorded_goes_through(kind: str) -> None:
    gate = Gate()

    async def hold(recorded: str) -> None:
        if recorded == kind:
            await gate.wait()

    rig = Rig(ask(call("look")), say("seen"), tools=[FakeTool("look")])
    rig.journal.before = hold
    await cancel_at(rig, gate)


async def test_a_watcher_that_leaves_while_tools_run_ends_them() -> None:
    before = asyncio.all_tasks()
    gate = Gate()
    hanging = FakeTool("hang", gate.act)
    tools = [hanging, FakeTool("look")]
    rig = Rig(ask(call("hang", call_id="a"), call("look", call_id="b")), tools=tools)

    async def emit(event: Event) -> None:
        if not isinstance(event, ToolStarted):
            assert hanging.running == 1
            raise Left

    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Left):
            await rig.loop(rig.turn(), emit).run()
    assert hanging.running == 0
    assert asyncio.all_tasks() == before


async def test_a_watcher_that_leaves_while_an_answer_streams_closes_the_stream() -> None:
    rig = Rig(say("a", "b", "c"))

    async def emit(event: Event) -> None:
        assert rig.model.streaming == 1
        raise Left

    with pytest.raises(Left):
        await rig.loop(rig.turn(), emit).run()
    assert rig.model.streaming == 0


async def test_cancelling_while_a_watcher_is_slow_ends_the_tools() -> None:
    gate = Gate()
    hanging = FakeTool("hang", Gate().act)
    rig = Rig(
        ask(call("hang", call_id="a"), call("look", call_id="b")),
        tools=[hanging, FakeTool("look")],
    )

    async def emit(event: Event) -> None:
        if isinstance(event, ToolEnded):
            await gate.wait()

    await cancel_at(rig, gate, emit)
    assert hanging.running == 0


async def test_a_tool_that_cleans_up_is_waited_for() -> None:
    gate = Gate()
    cleaned: list[str] = []

    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        try:
            await gate.wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(context.call_id)
        raise AssertionError

    rig = Rig(
        ask(call("hang", call_id="a"), call("hang", call_id="b")), tools=[FakeTool("hang", act)]
    )
    await cancel_at(rig, gate)
    assert sorted(cleaned) == ["a", "b"]


async def test_what_the_journal_raises_goes_through() -> None:
    class Full(Exception):
        pass

    async def refuse(kind: str) -> None:
        raise Full

    rig = Rig(ask(call("look")), tools=[FakeTool("look")])
    rig.journal.before = refuse
    with pytest.raises(Full):
        await rig.run()
    assert rig.model.streaming == 0
