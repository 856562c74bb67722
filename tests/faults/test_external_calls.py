"""Kills during a call to the model or a platform, and during a normal shutdown."""

import pytest

from tests.faults.deployment import Deployment, Moment
from tests.faults.drivers import PEOPLE
from tests.faults.script import Verb

TOPICS = range(2 * PEOPLE, 2 * PEOPLE + 6)
"""Chats in the group, each in its own topic."""


async def _die_and_recover(deployment: Deployment, verb: Verb) -> None:
    process = await deployment.open_process()
    await deployment.says(1, verb)
    await process.died()
    await deployment.says(1)
    await deployment.says(2)
    deployment.clear_faults()
    await deployment.open_process()


@pytest.mark.parametrize("moment", ["before", "during", "after"])
@pytest.mark.parametrize("verb", ["say", "ring"])
async def test_a_kill_in_a_model_call_loses_nothing(
    deployment: Deployment, verb: Verb, moment: Moment
) -> None:
    deployment.kill_at_model(moment)
    await _die_and_recover(deployment, verb)
    findings = await deployment.stop_and_inspect()
    findings.assert_flawless()
    assert findings.repeats <= 1


@pytest.mark.parametrize("number", [1, 2])
async def test_a_kill_after_the_tool_repeats_no_model_call(
    deployment: Deployment, number: int
) -> None:
    deployment.kill_at_model("before", number=number)
    await _die_and_recover(deployment, "ring")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize(
    ("moment", "is_lost"), [("before", True), ("before", False), ("after", False)]
)
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_kill_in_a_send_shows_nothing_twice(
    deployment: Deployment, number: int, moment: Moment, is_lost: bool
) -> None:
    deployment.kill_at_call("sendMessage", moment=moment, number=number, is_lost=is_lost)
    await _die_and_recover(deployment, "long")
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize(
    ("moment", "is_lost"), [("before", True), ("before", False), ("after", False)]
)
@pytest.mark.parametrize(
    ("method", "number"), [("sendMessage", 1), ("editMessageText", 1), ("editMessageText", 2)]
)
async def test_a_kill_in_a_live_message_shows_nothing_twice(
    deployment: Deployment, method: str, number: int, moment: Moment, is_lost: bool
) -> None:
    deployment.stream_slowly()
    deployment.kill_at_call(method, moment=moment, number=number, is_lost=is_lost)
    await _die_and_recover(deployment, "slow")
    (await deployment.stop_and_inspect()).assert_flawless()


async def test_a_kill_while_topics_are_answered_confuses_none(
    deployment: Deployment,
) -> None:
    """Topics share the group's message numbers, so one could be taken for another's."""
    await deployment.open_process()
    first = [await deployment.says(chat) for chat in TOPICS]
    await deployment.all_seen(first)
    deployment.kill_at_calls("sendMessage", number=len(TOPICS), within=0.5)
    for chat in TOPICS:
        await deployment.says(chat)
    assert deployment.process is not None
    await deployment.process.died()
    deployment.clear_faults()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


async def test_sigterm_lets_a_turn_finish_and_deliver(deployment: Deployment) -> None:
    released = deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1)
    await deployment.model_called()
    process.terminate()
    released.set()
    await process.died()
    deployment.look().assert_flawless()


async def test_sigterm_leaves_further_steps_to_the_next_start(deployment: Deployment) -> None:
    released = deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1, "ring")
    await deployment.model_called()
    process.terminate()
    released.set()
    await process.died()
    assert process.outcome == "ended"
    deployment.clear_faults()
    await deployment.open_process()
    findings = await deployment.stop_and_inspect()
    findings.assert_flawless()
    assert findings.repeats == 0
    assert findings.rung == 1


async def test_a_kill_during_shutdown_loses_nothing(deployment: Deployment) -> None:
    deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1)
    await deployment.model_called()
    process.terminate()
    await deployment.says(2)
    process.kill()
    await process.died()
    deployment.clear_faults()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()
