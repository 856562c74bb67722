"""Decide which due slots run, and which are skipped. Pure."""

from dataclasses import dataclass
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from agent_core.schedule.occurrences import first_slot, last_slot, next_slot, walk_slots
from agent_core.schedule.triggers import Once, Timing
from agent_core.schedule.wall_clock import Slot
from agent_core.state.jobs.missed_slots import Late

GRACE = 60_000
"""Milliseconds until a due slot counts as missed."""
MOST_COUNTED = 1000
"""The most missed slots to list, because a clock that jumps by a year must not cost minutes."""
MOST_RUN = 50
"""The largest number of missed slots that run with `all`; older ones are skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfirePlan:
    """The decision at a moment.

    `run` are the slots to run. `missed` are the other due slots, up to `MOST_COUNTED`. Both are
    oldest first. `next` is the slot to wait for.
    """

    run: tuple[Slot, ...] = ()
    missed: tuple[Slot, ...] = ()
    next: Slot | None = None


def plan_runs(timing: Timing, zone: ZoneInfo, late: Late, waited: Slot, now: int) -> MisfirePlan:
    """Decide at `now` (milliseconds since the epoch) for a job that waits for a slot.

    A single moment (`Once`) is never skipped.
    """
    if waited.at > now:
        return MisfirePlan(next=waited)
    come = takewhile(lambda slot: slot.at <= now, walk_slots(timing, zone, waited))
    due = list(islice(come, MOST_COUNTED))
    if isinstance(timing, Once):
        return MisfirePlan(run=tuple(due))
    newest = due[-1]
    if len(due) == MOST_COUNTED:
        newest = last_slot(timing, zone, now) or newest
        if newest != due[-1]:
            nearest = _list_newest(timing, zone, newest) if late == "all" else [newest]
            due = [*due[len(nearest) :], *nearest]
    behind = next_slot(timing, zone, newest)
    while behind and behind.at <= now:  # slots due at the same moment as the previous one
        due, newest = [*due, behind], behind
        behind = next_slot(timing, zone, newest)
    in_time = tuple(slot for slot in due if now - slot.at <= GRACE)
    if late == "all":
        chosen = tuple(due[-MOST_RUN:])
    elif late == "catch_up":
        chosen = in_time or (newest,)
    else:
        chosen = in_time
    missed = [slot for slot in due if slot not in chosen]
    return MisfirePlan(run=chosen, missed=tuple(missed[:MOST_COUNTED]), next=behind)


def _list_newest(timing: Timing, zone: ZoneInfo, newest: Slot) -> list[Slot]:
    """List the newest slots, up to `MOST_RUN`, oldest first."""
    found = [newest]
    while len(found) < MOST_RUN and (before := last_slot(timing, zone, found[-1].at - 1)):
        found.append(before)
    return found[::-1]


def choose_next_slot(timing: Timing, zone: ZoneInfo, waited: Slot | None, now: int) -> Slot | None:
    """Choose the slot to wait for after a restart, when the clock may have been set back.

    A due slot stays. A slot in the far future is replaced by a nearer one.
    """
    if waited is not None and waited.at <= now:
        return waited
    return first_slot(timing, zone, now)
