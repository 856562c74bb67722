"""A kill at each named commit of the database: everything is still answered once."""

import asyncio
from typing import get_args

import pytest

from gateway.texts.general import QUEUED
from gateway.turns.crash_backoff import CRASH_WAIT
from tests.faults.deployment import Deployment, Moment, Process
from tests.faults.script import Verb

PLAIN = (
    "inbox.store",
    "people.enter",
    "conversations.ensure",
    "turns.begin",
    "turns.settle",
    "outbox.sent",
)
LATER = ("inbox.store:2", "turns.settle:2", "outbox.sent:2")
"""In an open conversation, one commit begins and ends a plain turn."""
WITH_TOOL = ("turns.answer", "turns.input")
LIVE = ("turns.begin", "outbox.opening", "outbox.opened", "turns.settle")
IN_PARTS = ("outbox.sending:1", "outbox.sending:2", "outbox.sent:2", "outbox.sent:3")
STEERED = ("turns.answer", "turns.input", "turns.settle")
PHASES = ("begin", "committed")
_PROMPT = 25.0
"""Seconds for answers beside a turn that kills processes, without restarts. A quiet machine needs
less than five.
"""


async def _die_and_recover(deployment: Deployment, point: str, verb: Verb) -> None:
    process = await deployment.open_process(point)
    await deployment.says(1, verb)
    await process.died()
    await deployment.says(1)  # while nobody is at home
    await deployment.says(2)
    deployment.clear_faults()
    await deployment.open_process()


async def _say_something_first(deployment: Deployment, *kills: str) -> Process:
    """Open the conversation with one answered message."""
    process = await deployment.open_process(*kills)
    await deployment.all_seen([await deployment.says(1)])
    return process


async def _finish_after_a_kill(deployment: Deployment, verb: Verb) -> None:
    process = deployment.process
    assert process
    await deployment.says(1, verb)
    await process.died()
    await deployment.says(1)  # while nobody is at home
    deployment.clear_faults()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_plain_turn_survives_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    await _die_and_recover(deployment, f"{phase}:{name}:1", "say")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("point", LATER)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_that_one_commit_begins_and_ends_survives_a_kill(
    deployment: Deployment, phase: str, point: str
) -> None:
    await _say_something_first(deployment, f"{phase}:{point}")
    await _finish_after_a_kill(deployment, "say")


@pytest.mark.parametrize("name", WITH_TOOL)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_that_begins_with_its_tool_survives_a_kill(
    deployment: Deployment, phase: str, name: str
) -> None:
    await _say_something_first(deployment, f"{phase}:{name}:1")
    await _finish_after_a_kill(deployment, "ring")


@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_with_a_deferred_start_survives_a_kill(
    deployment: Deployment, phase: str
) -> None:
    await _say_something_first(deployment, f"{phase}:turns.begin:2")
    deployment.stream_slowly()
    await _finish_after_a_kill(deployment, "slow")


@pytest.mark.parametrize("moment", get_args(Moment))
async def test_a_model_call_before_its_turn_begins_survives_a_kill(
    deployment: Deployment, moment: Moment
) -> None:
    deployment.kill_at_model(moment, number=2)
    await _say_something_first(deployment)
    await _finish_after_a_kill(deployment, "say")


async def test_a_message_that_kills_processes_is_counted_from_the_second_death(
    deployment: Deployment,
) -> None:
    process = await _say_something_first(deployment)
    deployment.kill_at_model("before")
    guilty = await deployment.says(1)
    for deaths in (0, 1, 2):
        await process.died()
        assert deployment.attempts_of_running() == ([deaths] if deaths else [])
        deployment.kill_at_model("before")
        process = await deployment.open_process()
    await process.died()
    deployment.clear_faults()
    await deployment.open_process()
    await deployment.all_seen([guilty])
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("name", WITH_TOOL)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_with_an_unsafe_tool_survives_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    await _die_and_recover(deployment, f"{phase}:{name}:1", "ring")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_unsafe_tool_that_was_killed_is_not_run_again(
    deployment: Deployment, moment: str
) -> None:
    await _die_and_recover(deployment, f"tool:{moment}:1", "ring")
    findings = await deployment.stop_and_inspect()
    findings.assert_flawless()
    assert findings.rung == (0 if moment == "before" else 1)


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_live_message_survives_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    deployment.stream_slowly()
    await _die_and_recover(deployment, f"{phase}:{name}:1", "slow")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("phase", PHASES)
async def test_an_answer_in_parts_survives_a_kill_between_parts(
    deployment: Deployment, phase: str, name: str
) -> None:
    await _die_and_recover(deployment, f"{phase}:{name}", "long")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("name", STEERED)
@pytest.mark.parametrize("phase", PHASES)
async def test_an_accepted_steer_survives_a_kill(
    deployment: Deployment, phase: str, name: str
) -> None:
    released = deployment.hold_model()
    process = await deployment.open_process(f"{phase}:{name}:1")
    await deployment.says(1)
    await deployment.model_called()
    await deployment.says(1)
    await deployment.steered()
    released.set()
    await process.died()
    deployment.clear_faults()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("phase", PHASES)
async def test_a_queue_command_survives_a_kill(deployment: Deployment, phase: str) -> None:
    deployment.hold_model()
    process = await deployment.open_process(f"{phase}:commands.apply:1")
    await deployment.says(1)
    await deployment.model_called()
    await deployment.says(1, "/queue say")
    await process.died()
    deployment.clear_faults()
    await deployment.open_process()
    await deployment.all_seen(deployment.said)
    findings = await deployment.stop_and_inspect()
    if QUEUED() in findings.strange:  # sent before the kill, and not again after the restart
        findings.strange.remove(QUEUED())
    findings.assert_flawless()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", ["outbox.doubt", "turns.attempt", "turns.settle"])
async def test_a_kill_during_recovery_loses_nothing(
    deployment: Deployment, phase: str, name: str
) -> None:
    deployment.kill_at_model("during")
    process = await deployment.open_process()
    await deployment.says(1)
    await process.died()
    process = await deployment.open_process(f"{phase}:{name}:1")
    await process.died()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


async def test_a_turn_that_crashed_six_times_is_given_up_with_a_notice(
    deployment: Deployment,
) -> None:
    deployment.kill_at_model("during")
    process = await deployment.open_process()
    guilty = await deployment.says(1)
    await process.died()
    deployment.add_crashes(crashes=6)
    deployment.clear_faults()
    await deployment.open_process()
    innocent = await deployment.says(2)
    await deployment.all_seen([innocent])
    await deployment.sees(1, "interrupted")
    findings = await deployment.stop_and_inspect(stillness=0)
    assert findings.lost == guilty.tokens
    assert len(findings.strange) == 1
    assert "interrupted" in findings.strange[0]
    assert not findings.twice


async def test_a_turn_in_crash_backoff_delays_nobody_else(deployment: Deployment) -> None:
    deployment.kill_at_model("during")
    process = await deployment.open_process()
    await deployment.says(1)
    await process.died()
    deployment.add_crashes(crashes=5)
    deployment.clear_faults()
    process = await deployment.open_process()
    await deployment.all_seen([await deployment.says(2)])
    process.terminate()
    await process.died(within=5)
    assert process.outcome == "ended"
    deployment.add_crashes(crashes=2)
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


async def test_a_turn_that_kills_the_process_harms_no_other_turn(
    deployment: Deployment,
) -> None:
    deployment.stream_slowly()
    clock = asyncio.get_running_loop().time
    began = clock()
    process = await _say_something_first(deployment)
    prompt = _PROMPT + clock() - began
    innocent = [await deployment.says(chat, "slow") for chat in range(2, 7)]
    await deployment.model_called(number=6)
    guilty = await deployment.says(1, "collapse")
    await process.died()
    innocent.append(await deployment.says(7))  # while nobody is at home

    async with asyncio.TaskGroup() as group:
        supervisor = group.create_task(deployment.supervise())
        async with asyncio.timeout(prompt):
            await deployment.all_seen(innocent)
        for chat in (2, 8):  # the turn kills these processes, too
            async with asyncio.timeout(prompt):
                await deployment.all_seen([await deployment.says(chat)])
        await deployment.all_ended()
        await deployment.sees(1, "interrupted")
        crashes = 1 + deployment.crashes
        supervisor.cancel()
    findings = await deployment.stop_and_inspect(stillness=0)
    assert crashes == 6
    assert findings.lost == guilty.tokens
    assert "interrupted" in "".join(findings.strange)
    assert not findings.twice


async def test_turns_killed_from_outside_are_answered_soon(
    deployment: Deployment,
) -> None:
    deployment.hold_model()
    process = await deployment.open_process()
    said = [await deployment.says(chat) for chat in range(1, 6)]
    await deployment.model_called(number=5)
    await deployment.all_begun(len(said))
    process.kill()
    await process.died()
    deployment.add_crashes(crashes=3)
    deployment.clear_faults()
    process = await deployment.open_process()
    await process.ready()
    async with asyncio.timeout(CRASH_WAIT + _PROMPT):
        await deployment.all_seen(said)
    (await deployment.stop_and_inspect()).assert_flawless()
