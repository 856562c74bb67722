"""Which of the slots that have come due are run, and which are passed over; pure."""

from dataclasses import dataclass
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from agent_core.schedule.occurrences import Slot, first_slot, last_slot, next_slot, walk
from agent_core.schedule.triggers import Once, Timing
from agent_core.state.jobs.jobs import Late

GRACE = 60_000
"""Milliseconds; a slot is in time until then, and so is every one that came due with it."""
MOST_COUNTED = 1000
"""Missed slots are counted up to here: a clock that jumped by a year must not cost minutes."""
MOST_RUN = 50
"""Missed slots that `all` runs; of more than these the oldest are passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What comes of a moment.

    `run` are the slots to run, oldest first. `missed` is how many others came due before the
    newest of all, at most `MOST_COUNTED`, and `passed` the newest slot of those that are not
    run at all, if `run` is empty. `next` is the slot that is waited for from now on.
    """

    run: tuple[Slot, ...] = ()
    missed: int = 0
    passed: Slot | None = None
    next: Slot | None = None


def plan(timing: Timing, zone: ZoneInfo, late: Late, waited: Slot, now: int) -> Plan:
    """What to do at `now` (milliseconds since the epoch) for a job that waits for a slot.

    A moment that is meant only once is never passed over.
    """
    if waited.at > now:
        return Plan(next=waited)
    come = takewhile(lambda slot: slot.at <= now, walk(timing, zone, waited))
    due = list(islice(come, MOST_COUNTED))
    if isinstance(timing, Once):
        return Plan(run=tuple(due))
    newest = due[-1]
    if len(due) == MOST_COUNTED:
        newest = last_slot(timing, zone, now) or newest
        if newest != due[-1]:
            nearest = _list_newest(timing, zone, newest) if late == "all" else [newest]
            due = [*due[len(nearest) :], *nearest]
    behind = next_slot(timing, zone, newest)
    while behind and behind.at <= now:  # due at the very moment of the one before
        due, newest = [*due, behind], behind
        behind = next_slot(timing, zone, newest)
    in_time = tuple(slot for slot in due if now - slot.at <= GRACE)
    if late == "all":
        chosen = tuple(due[-MOST_RUN:])
    elif late == "catch_up":
        chosen = in_time or (newest,)
    else:
        chosen = in_time
    missed = min(len(due) - len(chosen), MOST_COUNTED)
    return Plan(run=chosen, missed=missed, passed=None if chosen else newest, next=behind)


def _list_newest(timing: Timing, zone: ZoneInfo, newest: Slot) -> list[Slot]:
    """The newest slots of all, as many as are run at most."""
    found = [newest]
    while len(found) < MOST_RUN and (before := last_slot(timing, zone, found[-1].at - 1)):
        found.append(before)
    return found[::-1]


def resume(timing: Timing, zone: ZoneInfo, waited: Slot | None, now: int) -> Slot | None:
    """The slot to wait for where the clock may have been put back meanwhile.

    What has come due stays to be planned; a slot far ahead gives way to a nearer one.
    """
    if waited is not None and waited.at <= now:
        return waited
    return first_slot(timing, zone, now)
