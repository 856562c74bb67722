"""Tools that need approval: nothing happens before this call is approved, then once."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from agent_core.state.queues import inbox
from agent_core.tools.contract import ToolContext, ToolResult
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.accounts import count, enrol
from tests.integration.harness import running
from tests.integration.model_requests import results
from tests.integration.questions import ROOM, waiting
from tests.integration.turns.payment import Payment

AT_ONCE = {"TALARIA_TURNS__DRAIN_SECONDS": "0"}


def pay(amount: str, call_id: str = "c1") -> tuple[str, str, str]:
    return "pay", f'{{"amount": "{amount}", "to": "Ben"}}', call_id


async def test_nothing_happens_before_the_approval(tmp_path: Path) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), say("Done."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        message = await waiting(harness, "Pay 5 € to Ben?")
        assert message.labels == ["Once", "No", "No, and say why"]
        assert (tool.asked, await count(harness, "steps")) == ([], 0)
        await harness.chat.press("Once")
        await harness.chat.sees_text("Done.")
        await harness.at_rest()
        assert [arguments for arguments, _ in tool.asked] == [{"amount": "5 €", "to": "Ben"}]
        assert results(model) == ["Paid 5 €."]
        assert "Pay 5 € to Ben?" in message.text
        assert message.text.endswith("→ Once (Ana)")
        assert await count(harness, "steps", "outcome = 'Paid 5 €.'") == 1


async def test_a_rejected_call_is_not_run_and_the_model_is_told(tmp_path: Path) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        await waiting(harness, "Pay 5 €")
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        await harness.at_rest()
        assert tool.asked == []
        assert results(model) == ["`pay` was not run. The person said no."]
        assert await count(harness, "steps", "is_error = 1 AND outcome IS NOT NULL") == 1


@pytest.mark.parametrize("said", ["yes, but only 4", "yes", "ok"])
async def test_other_text_approves_nothing(tmp_path: Path, said: str) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), say("I see."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        await waiting(harness, "Pay 5 €")
        await harness.chat.says(said)
        await harness.chat.sees_text("I see.")
        assert tool.asked == []
        assert "`pay` was not run. They did not decide" in results(model)[0]


async def test_an_old_approval_approves_nothing_new(tmp_path: Path) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), ask(call(*pay("50 €", "c2"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        first = await waiting(harness, "Pay 5 €")
        key = first.keyboard[0].key
        await harness.chat.press("Once")
        second = await harness.chat.sees_text("Pay 50 €")
        await waiting(harness, "Pay 50 €")
        for message in (first, second):
            await harness.chat.press_key(key, message.id)
        await harness.until(harness.gateway.router.is_idle)
        assert len(tool.asked) == 1
        assert second.labels == ["Once", "No", "No, and say why"]
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        assert len(tool.asked) == 1


async def test_the_same_call_id_in_a_later_turn_is_asked_for_again(tmp_path: Path) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), say("Done."), ask(call(*pay("6 €"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        await waiting(harness, "Pay 5 €")
        await harness.chat.press("Once")
        await harness.chat.sees_text("Done.")
        await harness.at_rest()
        await harness.chat.says("again")
        await waiting(harness, "Pay 6 €")
        assert len(tool.asked) == 1
        await harness.chat.press("No")
        await harness.chat.sees_text("Left.")
        assert len(tool.asked) == 1


async def test_in_a_room_nobody_else_approves(tmp_path: Path) -> None:
    tool = Payment()
    model = FakeModel(ask(call(*pay("5 €"))), say("Left."))
    async with running(tmp_path, model, tools=(tool,)) as harness:
        await enrol(harness, "ben", "Ben")
        await harness.chat.says("pay Ben", **ROOM)
        await waiting(harness, "Pay 5 €")
        await harness.chat.press("Once", user="ben", name="Ben", direct=False)
        await harness.chat.sees_text(general.QUESTION_NOT_YOURS())
        assert tool.asked == []
        await harness.chat.press("No", direct=False)
        await harness.chat.sees_text("Left.")
        assert tool.asked == []


async def test_stop_during_an_approval_runs_nothing(tmp_path: Path) -> None:
    tool = Payment()
    async with running(tmp_path, FakeModel(ask(call(*pay("5 €")))), tools=(tool,)) as harness:
        await harness.chat.says("pay Ben")
        message = await waiting(harness, "Pay 5 €")
        await harness.chat.says("/stop")
        await harness.chat.sees_text("(Stopped.")
        await harness.at_rest()
        assert message.labels == []
        assert tool.asked == []


async def store_unhandled_press(home: Path, key: str, message_id: str) -> None:
    """Store a press that an earlier process accepted but did not handle."""
    database = await Database.open(home / "state.db")
    event = f'{{"press": "{key}", "message": "{message_id}"}}'
    await database.write(
        "left", lambda c: inbox.store(c, platform="fake", events=[("left", event)], now=1)
    )
    await database.close()


@pytest.mark.parametrize("choice", [0, 1])
async def test_an_approval_during_downtime_counts_at_the_next_start(
    tmp_path: Path, choice: int
) -> None:
    chat = FakeChat()
    model = FakeModel(ask(call(*pay("5 €"))))
    async with running(tmp_path, model, chat=chat, tools=(Payment(),)) as harness:
        await chat.says("pay Ben")
        message = await waiting(harness, "Pay 5 €")
    chat.inlet = None
    await store_unhandled_press(tmp_path, message.keyboard[choice].key, message.id)
    tool = Payment()
    model = FakeModel(say("So be it."))
    async with running(tmp_path, model, chat=chat, tools=(tool,)) as harness:
        await chat.sees_text("So be it.")
        await harness.at_rest()
        assert len(tool.asked) == (1 if choice == 0 else 0)
        reported = "Paid 5 €." if choice == 0 else "`pay` was not run. The person said no."
        assert results(model) == [reported]
        assert len(chat.shown) == 2


async def test_a_call_with_unknown_outcome_is_not_repeated(tmp_path: Path) -> None:
    chat = FakeChat()
    tool = Payment()
    tool.go.clear()
    model = FakeModel(ask(call(*pay("5 €"))))
    async with running(tmp_path, model, chat=chat, tools=(tool,), **AT_ONCE) as harness:
        await chat.says("pay Ben")
        await waiting(harness, "Pay 5 €")
        await chat.press("Once")
        await tool.reached.wait()
    chat.inlet = None
    later = Payment()
    model = FakeModel(say("I don't know."))
    async with running(tmp_path, model, chat=chat, tools=(later,)) as harness:
        await chat.sees_text("I don't know.")
        await harness.at_rest()
        assert later.asked == []
        assert len(chat.shown) == 2, "nobody is asked again"
        assert "5 €" not in results(model)[0]


async def test_a_shutdown_during_an_approval_lets_other_calls_finish(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    reached, go = asyncio.Event(), asyncio.Event()

    async def look(_: Mapping[str, object], __: ToolContext) -> ToolResult:
        reached.set()
        await go.wait()
        return ToolResult(text="seen")

    tools = (Payment(), FakeTool("look", look, effect="unsafe"))
    model = FakeModel(ask(call(*pay("5 €")), call("look", "{}", "c2")))
    async with running(tmp_path, model, chat=chat, tools=tools) as harness:
        await chat.says("pay Ben")
        message = await waiting(harness, "Pay 5 €")
        await reached.wait()
        harness.gateway.lanes.drain()
        await harness.until(lambda: not harness.gateway.questions.answers._futures)
        go.set()
        await harness.until(harness.gateway.lanes.is_idle)
        assert await count(harness, "steps", "outcome = 'seen'") == 1
    chat.inlet = None
    later = FakeTool("look", effect="unsafe")
    model = FakeModel(say("Done."))
    async with running(tmp_path, model, chat=chat, tools=(Payment(), later)) as harness:
        await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
        await chat.press("Once")
        await chat.sees_text("Done.")
        assert results(model) == ["Paid 5 €.", "seen"]
        assert later.asked == []
        assert message.text.endswith("→ Once (Ana)")
