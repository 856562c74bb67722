"""Killed in the middle of a request to the world outside, or while it ends in order."""

import pytest

from tests.faults.deployment import Deployment, Moment
from tests.faults.drivers import PEOPLE
from tests.faults.script import Verb

TOPICS = range(2 * PEOPLE, 2 * PEOPLE + 6)
"""People of the group, each in a topic of their own."""


async def _die_and_recover(deployment: Deployment, verb: Verb) -> None:
    process = await deployment.open_process()
    await deployment.says(1, verb)
    await process.died()
    await deployment.says(1)
    await deployment.says(2)
    deployment.hurry()
    await deployment.open_process()


@pytest.mark.parametrize("moment", ["before", "during", "after"])
@pytest.mark.parametrize("verb", ["say", "ring"])
async def test_a_kill_in_a_model_call_loses_nothing(
    deployment: Deployment, verb: Verb, moment: Moment
) -> None:
    deployment.kill_at_model(moment)
    await _die_and_recover(deployment, verb)
    findings = await deployment.come_to_rest()
    findings.must_be_flawless()
    assert findings.repeats <= 1


@pytest.mark.parametrize("number", [1, 2])
async def test_a_kill_after_the_tool_asks_for_nothing_again(
    deployment: Deployment, number: int
) -> None:
    deployment.kill_at_model("before", number=number)
    await _die_and_recover(deployment, "ring")
    (await deployment.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize(
    ("moment", "is_lost"), [("before", True), ("before", False), ("after", False)]
)
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_kill_in_a_send_shows_nothing_twice(
    deployment: Deployment, number: int, moment: Moment, is_lost: bool
) -> None:
    deployment.kill_at_call("sendMessage", moment=moment, number=number, is_lost=is_lost)
    await _die_and_recover(deployment, "long")
    (await deployment.come_to_rest()).must_be_flawless()


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
    (await deployment.come_to_rest()).must_be_flawless()


async def test_a_kill_while_many_topics_are_answered_mixes_nothing_up(
    deployment: Deployment,
) -> None:
    """They share the group's count: what is in doubt in one could be taken for the other's."""
    await deployment.open_process()
    first = [await deployment.says(chat) for chat in TOPICS]
    await deployment.all_seen(first)
    deployment.kill_at_calls("sendMessage", number=len(TOPICS), within=0.5)
    for chat in TOPICS:
        await deployment.says(chat)
    assert deployment.process is not None
    await deployment.process.died()
    deployment.hurry()
    await deployment.open_process()
    (await deployment.come_to_rest()).must_be_flawless()


async def test_sigterm_lets_a_turn_end_and_be_delivered(deployment: Deployment) -> None:
    released = deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1)
    await deployment.model_called()
    process.terminate()
    released.set()
    await process.died()
    deployment.look().must_be_flawless()


async def test_sigterm_keeps_what_has_more_steps_for_the_next_start(deployment: Deployment) -> None:
    released = deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1, "ring")
    await deployment.model_called()
    process.terminate()
    released.set()
    await process.died()
    assert process.last_word == "ended"
    deployment.hurry()
    await deployment.open_process()
    findings = await deployment.come_to_rest()
    findings.must_be_flawless()
    assert findings.repeats == 0
    assert findings.rung == 1


async def test_a_kill_while_it_drains_loses_nothing(deployment: Deployment) -> None:
    deployment.hold_model()
    process = await deployment.open_process()
    await deployment.says(1)
    await deployment.model_called()
    process.terminate()
    await deployment.says(2)
    process.kill()
    await process.died()
    deployment.hurry()
    await deployment.open_process()
    (await deployment.come_to_rest()).must_be_flawless()
