"""Judge a request by what it changed, never by the model's words; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal
from zoneinfo import ZoneInfo

from agent_core.schedule.occurrences import first_slot, walk_slots
from agent_core.schedule.triggers import Once, Timing, load_timing, milliseconds, read_cron
from agent_core.schedule.wall_clock import find_zone
from tools.try_model.home import Job, State

ZONE = ZoneInfo("Europe/Berlin")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SLACK = 4 * 60_000
"""Milliseconds by which a span may differ: the model needs time to answer."""

Verdict = Literal["good", "wrong effect", "nothing", "wrong words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a request met and left behind."""

    want: dict[str, Any]
    began: datetime
    """On the person's clock."""
    before: State
    after: State
    answer: str


def judge(run: Run) -> Verdict:
    """Judge what became of a request."""
    is_same = run.before == run.after
    if run.want.get("same"):
        says = run.want.get("says")
        if not is_same:
            return "wrong effect"
        return "good" if not says or any(one in run.answer for one in says) else "wrong words"
    if is_same:
        return "nothing"
    return "good" if _is_as_wanted(run) else "wrong effect"


def _is_as_wanted(run: Run) -> bool:
    want, before, after = run.want, run.before, run.after
    new = [job for number, job in after.jobs.items() if number not in before.jobs]
    changed = {
        job.title: after.jobs[number]
        for number, job in before.jobs.items()
        if after.jobs[number] != job
    }
    has_other = (before.memory != after.memory) != bool({"added", "gone"} & want.keys())
    has_other |= (before.settings != after.settings) != bool(
        {"language", "zone", "quiet"} & want.keys()
    )
    if has_other:
        return False
    if "moved" in want:
        job = changed.pop(want["moved"], None)
        return not new and not changed and job is not None and _is_due(job, want, run)
    if title := want.get("deleted") or want.get("paused"):
        state = "dropped" if "deleted" in want else "paused"
        job = changed.pop(title, None)
        return not new and not changed and job is not None and job.state == state
    if {"once", "in", "cron", "every"} & want.keys():
        return len(new) == 1 and not changed and _is_due(new[0], want, run) and _names(new[0], want)
    is_moved = "zone" in want  # the person said yes to moving the jobs, too
    return not new and (is_moved or not changed) and _is_known(want, after)


def _is_known(want: dict[str, Any], after: State) -> bool:
    memory = "\n".join(after.memory).casefold()
    zone, language, quiet_from, quiet_until = after.settings
    return (
        (not want.get("added") or any(one in memory for one in want["added"]))
        and not any(one in memory for one in want.get("gone", ()))
        and want.get("language") in (None, (language or "").split("-")[0])
        and want.get("zone") in (None, zone)
        and want.get("quiet") in (None, [quiet_from, quiet_until])
    )


def _names(job: Job, want: dict[str, Any]) -> bool:
    return not want.get("words") or any(
        one in f"{job.title} {job.body}".casefold() for one in want["words"]
    )


def _is_due(job: Job, want: dict[str, Any], run: Run) -> bool:
    now = milliseconds(run.began)
    timing = load_timing(job.timing)
    if "once" in want:
        expected = _read_once(want["once"], run.began, run.before)
        return isinstance(timing, Once) and job.next_at == milliseconds(expected)
    if job.next_at is None:
        return False
    if "in" in want:
        return abs(job.next_at - now - want["in"] * 60_000) < _SLACK and isinstance(timing, Once)
    if "every" in want:
        return abs(job.next_at - now - want["every"] * 60_000) < _SLACK or "every" in job.timing
    zone = find_zone(job.zone)
    return _list_next(timing, zone, now) == _list_next(read_cron(want["cron"]), zone, now)


def _list_next(timing: Timing, zone: ZoneInfo, now: int) -> Sequence[int]:
    first = first_slot(timing, zone, now)
    return [one.at for one in islice(walk_slots(timing, zone, first), 6)] if first else []


def find_due(want: dict[str, Any], now: datetime, before: State) -> datetime | None:
    """Return the single time that is wanted; None without one."""
    if "in" in want:
        return now + timedelta(minutes=want["in"])
    return _read_once(want["once"], now, before) if "once" in want else None


def _read_once(words: str, now: datetime, before: State) -> datetime:
    day, clock = words.split(" ")
    hour, minute = map(int, clock.split(":"))
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if day == "tomorrow":
        return at + timedelta(days=1)
    if day == "+2":
        return at + timedelta(days=2)
    if day in _DAYS:
        ahead = (_DAYS.index(day) - now.weekday()) % 7
        return at + timedelta(days=ahead or (7 if at <= now else 0))
    if found := re.fullmatch(r"(\d\d)-(\d\d)", day):
        return at.replace(month=int(found[1]), day=int(found[2]))
    if day != "today":
        due = next(one.next_at for one in before.jobs.values() if one.title.lower() == day)
        old = datetime.fromtimestamp((due or 0) / 1000, ZONE)
        return old.replace(hour=hour, minute=minute)
    return at
