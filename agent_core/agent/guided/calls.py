"""Turn a decision into a call of a real tool; code reckons the dates. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import datetime

from agent_core.agent.guided.decisions import LANGUAGES, Decision
from agent_core.agent.guided.transcript import GuidedTurn, find_job
from agent_core.ids import CallId
from agent_core.spoken_times import read_when
from agent_core.transcript import ToolCallPart

_NEXT = re.compile(r"Next: \w{3} (\d{4}-\d\d-\d\d) \d\d:\d\d")
_AT = re.compile(r"at (\d\d:\d\d)")
_ONCE = ": Once, "
"""How the tool's list describes a job with a single time."""
_ACTIONS = {"delete_reminder": "delete", "pause_reminder": "pause"}


def plan_call(decision: Decision, turn: GuidedTurn, call_id: str) -> ToolCallPart | None:
    """Return the call that does what was decided; None if its time can't be understood."""
    given = decision.given
    match decision.intent:
        case "remind_once" | "remind_every":
            timing = _reckon(given["when"], turn.now)
            job = {"action": "create", "kind": "message", "text": given["text"]}
            return _make(call_id, "schedule", {**job, **timing}) if timing else None
        case "delete_reminder" | "pause_reminder":
            job_id = _read_number(given["which"])
            arguments: dict[str, object] = {"action": _ACTIONS[decision.intent], "job": job_id}
            return _make(call_id, "schedule", arguments)
        case "move_reminder":
            job_id = _read_number(given["which"])
            timing = _move(given["when"], turn, find_job(turn.jobs or "", job_id))
            arguments = {"action": "change", "job": job_id, **(timing or {})}
            return _make(call_id, "schedule", arguments) if timing else None
        case "remember":
            return _make(call_id, "memory", _edit("add", "user", text=given["fact"]))
        case "correct_memory" | "forget":
            target, old = turn.known.entries[_read_number(given["old"]) - 1]
            if decision.intent == "forget":
                return _make(call_id, "memory", _edit("remove", target, old=old))
            edit = _edit("replace", target, old=old, text=given["fact"])
            return _make(call_id, "memory", edit)
        case "search_past":
            return _make(call_id, "recall", {"query": given["words"]})
        case "set_language":
            return _make(call_id, "settings", {"language": LANGUAGES[given["language"]]})
        case "set_time_zone":
            return _make(call_id, "settings", {"time_zone": given["city"]})
        case "set_quiet_hours":
            hours = given["hours"]
            return _make(call_id, "settings", {"quiet_hours": "" if hours == "none" else hours})
    return None


def _reckon(when: str, now: datetime | None) -> dict[str, object] | None:
    timing = read_when(when, now) if now else None
    if timing is None:
        return None
    fields = {
        "at": timing.at,
        "cron": timing.cron,
        "in_minutes": timing.in_minutes,
        "every_minutes": timing.every_minutes,
    }
    return {name: value for name, value in fields.items() if value}


def _move(when: str, turn: GuidedTurn, job: str) -> dict[str, object] | None:
    """Return the new time of a job; a time of day alone keeps the day.

    What repeats is never made single, or the other way round.
    """
    is_once = _ONCE in job
    day, clock = _NEXT.search(job), _AT.fullmatch(when)
    if clock:
        return {"at": f"{day[1]}T{clock[1]}"} if day and is_once else None
    timing = _reckon(when, turn.now)
    return timing if timing and is_once == bool({"at", "in_minutes"} & timing.keys()) else None


def _read_number(label: str) -> int:
    return int(label.partition(" ")[0])


def _edit(action: str, target: str, **given: str) -> dict[str, object]:
    return {"action": action, "target": target, **given}


def _make(call_id: str, name: str, arguments: Mapping[str, object]) -> ToolCallPart:
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCallPart(call_id=CallId(call_id), name=name, arguments=text)
