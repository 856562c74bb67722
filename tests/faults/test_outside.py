"""Killed in the middle of a request to the world outside, or while it ends in order."""

import pytest

from tests.faults.quarters import PEOPLE
from tests.faults.speech import Verb
from tests.faults.town import Moment, Town

TOPICS = range(2 * PEOPLE, 2 * PEOPLE + 6)
"""People of the group, each in a topic of their own."""


async def _die_and_recover(town: Town, verb: Verb) -> None:
    house = await town.open_house()
    await town.says(1, verb)
    await house.died()
    await town.says(1)
    await town.says(2)
    town.hurry()
    await town.open_house()


@pytest.mark.parametrize("moment", ["before", "during", "after"])
@pytest.mark.parametrize("verb", ["say", "ring"])
async def test_a_kill_in_a_model_call_loses_nothing(town: Town, verb: Verb, moment: Moment) -> None:
    town.kill_at_model(moment)
    await _die_and_recover(town, verb)
    findings = await town.come_to_rest()
    findings.must_be_flawless()
    assert findings.repeats <= 1


@pytest.mark.parametrize("number", [1, 2])
async def test_a_kill_after_the_tool_asks_for_nothing_again(town: Town, number: int) -> None:
    town.kill_at_model("before", number=number)
    await _die_and_recover(town, "ring")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize(
    ("moment", "is_lost"), [("before", True), ("before", False), ("after", False)]
)
@pytest.mark.parametrize("number", [1, 2, 3])
async def test_a_kill_in_a_send_shows_nothing_twice(
    town: Town, number: int, moment: Moment, is_lost: bool
) -> None:
    town.kill_at_call("sendMessage", moment=moment, number=number, is_lost=is_lost)
    await _die_and_recover(town, "long")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize(
    ("moment", "is_lost"), [("before", True), ("before", False), ("after", False)]
)
@pytest.mark.parametrize(
    ("method", "number"), [("sendMessage", 1), ("editMessageText", 1), ("editMessageText", 2)]
)
async def test_a_kill_in_a_live_message_shows_nothing_twice(
    town: Town, method: str, number: int, moment: Moment, is_lost: bool
) -> None:
    town.stream_slowly()
    town.kill_at_call(method, moment=moment, number=number, is_lost=is_lost)
    await _die_and_recover(town, "slow")
    (await town.come_to_rest()).must_be_flawless()


async def test_a_kill_while_many_topics_are_answered_mixes_nothing_up(town: Town) -> None:
    """They share the group's count: what is in doubt in one could be taken for the other's."""
    await town.open_house()
    first = [await town.says(chat) for chat in TOPICS]
    await town.all_seen(first)
    town.kill_at_calls("sendMessage", number=len(TOPICS), within=0.5)
    for chat in TOPICS:
        await town.says(chat)
    assert town.house is not None
    await town.house.died()
    town.hurry()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()


async def test_sigterm_lets_a_turn_end_and_be_delivered(town: Town) -> None:
    released = town.hold_model()
    house = await town.open_house()
    await town.says(1)
    await town.model_called()
    house.terminate()
    released.set()
    await house.died()
    town.look().must_be_flawless()


async def test_sigterm_keeps_what_has_more_steps_for_the_next_start(town: Town) -> None:
    released = town.hold_model()
    house = await town.open_house()
    await town.says(1, "ring")
    await town.model_called()
    house.terminate()
    released.set()
    await house.died()
    assert house.last_word == "ended"
    town.hurry()
    await town.open_house()
    findings = await town.come_to_rest()
    findings.must_be_flawless()
    assert findings.repeats == 0
    assert findings.rung == 1


async def test_a_kill_while_it_drains_loses_nothing(town: Town) -> None:
    town.hold_model()
    house = await town.open_house()
    await town.says(1)
    await town.model_called()
    house.terminate()
    await town.says(2)
    house.kill()
    await house.died()
    town.hurry()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()
