"""What becomes of slots that were missed."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_core.schedule.misfires import (
    GRACE,
    MOST_COUNTED,
    MOST_RUN,
    MisfirePlan,
    choose_next_slot,
    plan_runs,
)
from agent_core.schedule.occurrences import first_slot, next_slot
from agent_core.schedule.triggers import Timing, milliseconds, read_cron, read_every, read_once
from agent_core.schedule.wall_clock import Slot, find_zone
from agent_core.state.jobs.missed_slots import Late

BERLIN = find_zone("Europe/Berlin")
MONDAY = milliseconds(datetime(2026, 11, 23, tzinfo=UTC))
HOUR = 3_600_000
DAY = 24 * HOUR
DAILY = read_cron("0 8 * * *")


def wait(timing: Timing, after: int = MONDAY) -> Slot:
    slot = first_slot(timing, BERLIN, after)
    assert slot
    return slot


def look(late: Late, lateness: int, timing: Timing = DAILY) -> tuple[Slot, MisfirePlan]:
    waited = wait(timing)
    return waited, plan_runs(timing, BERLIN, late, waited, waited.at + lateness)


@pytest.mark.parametrize("late", ["catch_up", "skip", "all"])
def test_a_slot_in_time_is_run_and_the_next_is_waited_for(late: Late) -> None:
    waited, found = look(late, GRACE)
    assert found == MisfirePlan(run=(waited,), next=next_slot(DAILY, BERLIN, waited))


def test_nothing_happens_before_its_time() -> None:
    waited, found = look("all", -1)
    assert found == MisfirePlan(next=waited)


def test_the_newest_missed_slot_is_caught_up_once() -> None:
    waited, found = look("catch_up", 3 * DAY + HOUR)
    assert [slot.at for slot in found.run] == [waited.at + 3 * DAY]
    assert len(found.missed) == 3
    assert found.next
    assert found.next.at == waited.at + 4 * DAY


def test_missed_slots_are_skipped_and_counted() -> None:
    waited, found = look("skip", 3 * DAY + HOUR)
    assert found.run == ()
    assert [slot.at for slot in found.missed] == [waited.at + n * DAY for n in range(4)]


def test_what_is_in_time_is_run_though_others_were_skipped() -> None:
    waited, found = look("skip", 3 * DAY)
    assert [slot.at for slot in found.run] == [waited.at + 3 * DAY]
    assert len(found.missed) == 3


def test_all_missed_slots_are_run_in_order() -> None:
    waited, found = look("all", 3 * DAY + HOUR)
    assert [slot.at for slot in found.run] == [waited.at + n * DAY for n in range(4)]
    assert len(found.missed) == 0


def test_of_very_many_missed_slots_the_newest_are_run() -> None:
    _, found = look("all", 400 * DAY)
    assert len(found.run) == MOST_RUN
    assert len(found.missed) == 401 - MOST_RUN - 0


@pytest.mark.parametrize("late", ["catch_up", "skip", "all"])
def test_one_moment_is_never_passed_over(late: Late) -> None:
    waited, found = look(late, 90 * DAY, read_once("2026-11-23T08:00"))
    assert found == MisfirePlan(run=(waited,))


def test_a_clock_that_jumps_by_a_year_makes_one_run_of_a_minutely_job() -> None:
    waited, found = look("catch_up", 365 * DAY, read_cron("* * * * *"))
    assert len(found.run) == 1
    assert found.run[0].at > waited.at + 365 * DAY - GRACE
    assert len(found.missed) == MOST_COUNTED - 1
    assert found.next
    assert found.next.at > waited.at + 365 * DAY


def test_two_slots_of_one_moment_are_both_run() -> None:
    new_york = find_zone("America/New_York")
    timing = read_cron("0,30 2 * * *")
    first = first_slot(timing, new_york, milliseconds(datetime(2027, 3, 14, tzinfo=UTC)))
    assert first
    found = plan_runs(timing, new_york, "catch_up", first, first.at)
    assert [slot.name for slot in found.run] == ["2027-03-14T02:00", "2027-03-14T02:30"]


@pytest.mark.parametrize("back", [HOUR, 5 * DAY, 366 * DAY])
def test_a_clock_that_was_put_back_is_waited_by(back: int) -> None:
    waited = wait(DAILY)
    now = waited.at - back
    found = choose_next_slot(DAILY, BERLIN, waited, now)
    assert found
    assert now < found.at <= now + DAY + HOUR


def test_an_interval_that_was_set_by_a_clock_far_ahead_does_not_wait_for_it() -> None:
    timing = read_every(3600, MONDAY + 366 * DAY)
    found = choose_next_slot(timing, BERLIN, wait(timing, MONDAY + 366 * DAY), MONDAY + 1000)
    assert found
    assert found.at == MONDAY + HOUR


def test_what_has_come_due_is_not_forgotten_at_a_start() -> None:
    waited = wait(DAILY)
    assert choose_next_slot(DAILY, BERLIN, waited, waited.at + 9 * DAY) == waited


def test_an_interval_is_caught_up_as_a_time_is() -> None:
    timing = read_every(3600, MONDAY)
    waited, found = look("catch_up", 10 * HOUR + 1000, timing)
    assert found.run == (Slot(name=found.run[0].name, at=waited.at + 10 * HOUR),)
    assert len(found.missed) == 10
    assert timedelta(milliseconds=found.run[0].at - waited.at) == timedelta(hours=10)


@pytest.mark.parametrize("text", ["*/5 * * * *", "0 8-20 * * *"])
def test_after_a_year_off_what_is_run_is_not_a_year_old(text: str) -> None:
    timing = read_cron(text)
    now = MONDAY + 366 * DAY
    found = plan_runs(timing, BERLIN, "all", wait(timing), now)
    assert len(found.run) == MOST_RUN
    assert all(now - slot.at < 7 * DAY for slot in found.run)
    behind = [next_slot(timing, BERLIN, slot) for slot in found.run]
    assert behind == [*found.run[1:], found.next]
