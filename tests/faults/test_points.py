"""Killed once at each named point of the database: everything is answered once all the same."""

from typing import get_args

import pytest

from gateway.texts.general import QUEUED
from tests.faults.speech import Verb
from tests.faults.town import House, Moment, Town

PLAIN = (
    "inbox.store",
    "people.enter",
    "conversations.ensure",
    "turns.begin",
    "turns.settle",
    "outbox.sent",
)
LATER = ("inbox.store:2", "turns.settle:2", "outbox.sent:2")
"""Where a talk is open a plain turn is begun by the commit that ends it."""
WITH_TOOL = ("turns.answer", "turns.result", "turns.input")
LIVE = ("turns.begin", "outbox.opening", "outbox.opened", "turns.settle")
IN_PARTS = ("outbox.sending:1", "outbox.sending:2", "outbox.sent:2", "outbox.sent:3")
STEERED = ("turns.answer", "turns.input", "turns.settle")
PHASES = ("begin", "committed")


async def _die_and_recover(town: Town, point: str, verb: Verb) -> None:
    house = await town.open_house(point)
    await town.says(1, verb)
    await house.died()
    await town.says(1)  # while nobody is at home
    await town.says(2)
    town.hurry()
    await town.open_house()


async def _say_something_first(town: Town, *kills: str) -> House:
    """From then on the talk is open."""
    house = await town.open_house(*kills)
    await town.all_seen([await town.says(1)])
    return house


async def _finish_after_a_kill(town: Town, verb: Verb) -> None:
    house = town.house
    assert house
    await town.says(1, verb)
    await house.died()
    await town.says(1)  # while nobody is at home
    town.hurry()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_plain_turn_survives_a_kill_at_a_commit(town: Town, phase: str, name: str) -> None:
    await _die_and_recover(town, f"{phase}:{name}:1", "say")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("point", LATER)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_that_is_begun_as_it_ends_survives_a_kill_at_a_commit(
    town: Town, phase: str, point: str
) -> None:
    await _say_something_first(town, f"{phase}:{point}")
    await _finish_after_a_kill(town, "say")


@pytest.mark.parametrize("name", WITH_TOOL)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_tool_of_a_turn_that_is_begun_with_it_survives_a_kill(
    town: Town, phase: str, name: str
) -> None:
    await _say_something_first(town, f"{phase}:{name}:1")
    await _finish_after_a_kill(town, "ring")


@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_that_is_begun_after_a_moment_survives_a_kill(town: Town, phase: str) -> None:
    await _say_something_first(town, f"{phase}:turns.begin:2")
    town.stream_slowly()
    await _finish_after_a_kill(town, "slow")


@pytest.mark.parametrize("moment", get_args(Moment))
async def test_a_call_of_the_model_before_its_turn_is_begun_survives_a_kill(
    town: Town, moment: Moment
) -> None:
    town.kill_at_model(moment, number=2)
    await _say_something_first(town)
    await _finish_after_a_kill(town, "say")


async def test_a_message_that_ends_processes_is_counted_from_the_second_death_on(
    town: Town,
) -> None:
    house = await _say_something_first(town)
    town.kill_at_model("before")
    guilty = await town.says(1)
    for deaths in (0, 1, 2):
        await house.died()
        assert town.attempts_of_running() == ([deaths] if deaths else [])
        town.kill_at_model("before")
        house = await town.open_house()
    await house.died()
    town.hurry()
    await town.open_house()
    await town.all_seen([guilty])
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("name", WITH_TOOL)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_with_an_unsafe_tool_survives_a_kill_at_a_commit(
    town: Town, phase: str, name: str
) -> None:
    await _die_and_recover(town, f"{phase}:{name}:1", "ring")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_an_unsafe_tool_that_was_killed_is_not_run_again(town: Town, moment: str) -> None:
    await _die_and_recover(town, f"tool:{moment}:1", "ring")
    findings = await town.come_to_rest()
    findings.must_be_flawless()
    assert findings.rung == (0 if moment == "before" else 1)


@pytest.mark.parametrize("name", LIVE)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_live_message_survives_a_kill_at_a_commit(
    town: Town, phase: str, name: str
) -> None:
    town.stream_slowly()
    await _die_and_recover(town, f"{phase}:{name}:1", "slow")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("phase", PHASES)
async def test_an_answer_in_parts_survives_a_kill_between_them(
    town: Town, phase: str, name: str
) -> None:
    await _die_and_recover(town, f"{phase}:{name}", "long")
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("name", STEERED)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_steer_that_was_taken_survives_a_kill(town: Town, phase: str, name: str) -> None:
    released = town.hold_model()
    house = await town.open_house(f"{phase}:{name}:1")
    await town.says(1)
    await town.model_called()
    await town.says(1)
    await town.all_taken()
    released.set()
    await house.died()
    town.hurry()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()


@pytest.mark.parametrize("phase", PHASES)
async def test_a_command_that_keeps_a_message_survives_a_kill(town: Town, phase: str) -> None:
    town.hold_model()
    house = await town.open_house(f"{phase}:commands.apply:1")
    await town.says(1)
    await town.model_called()
    await town.says(1, "/queue say")
    await house.died()
    town.hurry()
    await town.open_house()
    await town.all_seen(town.said)
    findings = await town.come_to_rest()
    if QUEUED() in findings.strange:  # told before the kill; the restart tells it to nobody
        findings.strange.remove(QUEUED())
    findings.must_be_flawless()


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", ["outbox.doubt", "turns.attempt", "turns.settle"])
async def test_a_kill_while_recovering_from_a_kill_loses_nothing(
    town: Town, phase: str, name: str
) -> None:
    town.kill_at_model("during")
    house = await town.open_house()
    await town.says(1)
    await house.died()
    house = await town.open_house(f"{phase}:{name}:1")
    await house.died()
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()


async def test_a_turn_over_which_six_processes_died_is_set_aside_and_says_so(town: Town) -> None:
    town.kill_at_model("during")
    house = await town.open_house()
    guilty = await town.says(1)
    await house.died()
    town.age_turns(attempts=6)
    town.hurry()
    await town.open_house()
    innocent = await town.says(2)
    await town.all_seen([innocent])
    findings = await town.come_to_rest(within=0)
    assert findings.lost == guilty.tokens
    assert len(findings.strange) == 1
    assert "interrupted" in findings.strange[0]
    assert not findings.twice


async def test_a_suspected_turn_keeps_nobody_else_waiting(town: Town) -> None:
    town.kill_at_model("during")
    house = await town.open_house()
    await town.says(1)
    await house.died()
    town.age_turns(attempts=5)
    town.hurry()
    house = await town.open_house()
    await town.all_seen([await town.says(2)])
    house.terminate()
    await house.died(within=5)
    assert house.last_word == "ended"
    town.age_turns(attempts=2)
    await town.open_house()
    (await town.come_to_rest()).must_be_flawless()
