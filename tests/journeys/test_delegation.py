"""Delegated tasks: helpers do them, and a stop or a restart reaches the helpers."""

import asyncio

import pytest

from gateway.app.timings import Timings
from gateway.turns.presenter import PresenterTimings
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import AT_ONCE, PATIENCE, Stage, call, calls, facts, results

pytestmark = [pytest.mark.process, needs_bubblewrap]

ON = {"TALARIA_TOOLS__BACKEND": "local"}
BOTH = calls(call("delegate_task", tasks=[{"goal": "Count to one"}, {"goal": "Count to one"}]))
SHOWN = Timings(display=PresenterTimings(first_status=0.05))


def is_helper(body: Json) -> bool:
    """Return whether a helper made this call."""
    return "You are a helper" in str(body["messages"][0])


def hold_helpers(stage: Stage, messages: int) -> asyncio.Event:
    """Hold helpers' calls with this many messages until the event is set."""
    released = asyncio.Event()

    async def wait(body: Json) -> None:
        if is_helper(body) and len(body["messages"]) == messages:
            async with asyncio.timeout(PATIENCE):
                await released.wait()

    stage.model.before = wait
    return released


async def test_helpers_work_in_the_workspace_and_the_chat_shows_their_progress(
    stage: Stage,
) -> None:
    count = calls(call("terminal", command="echo one >> counted"))
    async with stage.open(timings=SHOWN, **ON) as harness:
        stage.plan(BOTH, count, count, "Counted.", "Counted.", "Both have counted.")
        released = hold_helpers(stage, messages=1)
        await harness.notes(stage.telegram.says(ANNA, "let two helpers count"))
        await harness.sees(ANNA, "Helpers are working: 0 of 2 done")
        released.set()
        await harness.at_rest()
    assert (stage.home / "workspaces" / "anna" / "counted").read_text() == "one\none\n"
    assert [m.text for m in stage.telegram.messages(ANNA)] == ["Both have counted."]
    (found,) = results(stage.turns[-1])
    assert found == (
        "## Helper 1, done: Count to one\nCounted.\n\n## Helper 2, done: Count to one\nCounted."
    )
    helper = next(body for body in stage.turns if is_helper(body))
    names = {tool["name"] for tool in helper["tools"]}
    assert "terminal" in names
    jobs = {"remind", "schedule_job", "manage_jobs"}
    assert not names & {"delegate_task", "memory", "ask", "send_file", "settings", *jobs}


async def test_stop_ends_the_helpers_too(stage: Stage) -> None:
    wait = calls(call("terminal", command="echo started >> here; sleep 1000"))
    here = stage.home / "workspaces" / "anna" / "here"
    async with stage.open(**ON) as harness:
        stage.plan(BOTH, wait, wait)
        await harness.notes(stage.telegram.says(ANNA, "let two helpers wait"))
        await harness.until(here.exists)
        stage.plan("Here I am.")
        await harness.takes(stage.telegram.says(ANNA, "/stop"))
        assert await harness.count("turns", "state = 'running'") == 0
        assert await harness.ask(ANNA, "are you there?") == "Here I am."


async def test_a_restart_continues_helpers_and_repeats_no_command(stage: Stage) -> None:
    count = calls(call("terminal", command="echo one >> counted"))
    one = calls(call("delegate_task", tasks=[{"goal": "Count to one"}]))
    async with stage.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, **ON) as harness:
        stage.plan(one, count)
        released = hold_helpers(stage, messages=3)
        await harness.notes(stage.telegram.says(ANNA, "let a helper count"))
        await harness.until(lambda: len(stage.turns) == 3)
    released.set()
    stage.plan("Counted.", "It has counted.")
    async with stage.open(**ON) as harness:
        await harness.sees(ANNA, "It has counted.")
        await harness.at_rest()
    assert (stage.home / "workspaces" / "anna" / "counted").read_text() == "one\n"
    assert [m.text for m in stage.telegram.messages(ANNA)] == ["It has counted."]


async def test_a_background_task_wakes_the_conversation_when_it_ends(
    stage: Stage,
) -> None:
    later = calls(call("delegate_task", tasks=[{"goal": "Count to one"}], background=True))
    count = calls(call("terminal", command="echo one >> counted"))
    woken = "Task 1-1 that you gave a helper in the background"
    planned = stage.model.answer

    def answer(body: Json) -> Reply:
        if is_helper(body) and "tools" in body:
            return count if len(body["messages"]) == 1 else text_answer("Counted.")
        return text_answer("It has counted to one.") if woken in facts(body) else planned(body)

    stage.model.answer = answer
    async with stage.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, **ON) as harness:
        stage.plan(later, "I let it count.", "Fine.")
        released = hold_helpers(stage, messages=3)
        await stage.telegram.says(ANNA, "count while we go on")
        await harness.sees(ANNA, "I let it count.")
        await harness.until(lambda: any(len(body["messages"]) == 3 for body in helpers(stage)))
        await stage.telegram.says(ANNA, "how are you?")
        await harness.sees(ANNA, "Fine.")
    released.set()
    async with stage.open(**ON) as harness:
        await harness.sees(ANNA, "It has counted to one.")
        await harness.at_rest()
    assert (stage.home / "workspaces" / "anna" / "counted").read_text() == "one\n"
    assert [m.text for m in stage.telegram.messages(ANNA)] == [
        "I let it count.",
        "Fine.",
        "It has counted to one.",
    ]
    last = stage.turns[-1]
    assert "In the background: 1-1." in str(last["messages"])
    assert "Counted." in str(last["messages"][-1])


def helpers(stage: Stage) -> list[Json]:
    return [body for body in stage.turns if is_helper(body)]
