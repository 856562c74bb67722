"""Turn a decision into a call of a real tool; code reckons the dates. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from agent_core.agent.guided.decisions import LANGUAGES, MANAGE_JOBS, REMIND, Decision
from agent_core.agent.guided.transcript import GuidedTurn, find_job, is_single
from agent_core.ids import CallId
from agent_core.models.scripted.commands import Remind
from agent_core.models.scripted.parse import read_command
from agent_core.models.scripted.reminders import ME
from agent_core.spoken_times import read_when
from agent_core.transcript import ToolCallPart

_DAY = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d{4})"
)
"""A date as the list of jobs spells it, in English and in German."""
_AT = re.compile(r"at (\d\d:\d\d)")
_ORDER = re.compile(rf"{ME}|\btimer\b", re.IGNORECASE)
_BEYOND = re.compile(
    r"[.!?;]\s|\n|\b(?:instead|again|earlier|later|it|that|this|these|those|them|same|other"
    r"|stattdessen|wieder|nochmal|früher|später|es|das|dies\w*|daran|darüber|davon|gleiche\w*)\b",
    re.IGNORECASE,
)
"""What a plain wish has not: a second sentence, or a word for something that was said before."""
_ACTIONS = {"delete_reminder": "delete", "pause_reminder": "pause"}


def plan_plain_reminder(turn: GuidedTurn, call_id: str) -> ToolCallPart | None:
    """Return the call for a reminder whose words code can read; None if the model has to.

    A slow model needs minutes for what the stand-in reads at once, and reads times worse.
    """
    said = turn.said.strip()
    wish = read_command(said, turn.now) if _ORDER.search(said) else None
    if not isinstance(wish, Remind) or _BEYOND.search(said):
        return None
    (call,) = wish.list_calls({})
    return ToolCallPart(call_id=CallId(call_id), name=call.name, arguments=call.arguments)


def plan_call(decision: Decision, turn: GuidedTurn, call_id: str) -> ToolCallPart | None:
    """Return the call that does what was decided; None if its time can't be understood."""
    given = decision.given
    match decision.intent:
        case "remind_once" | "remind_every":
            timing = _reckon(given["when"], turn.now)
            return (
                _make(call_id, REMIND, {"text": given["text"], "when": timing}) if timing else None
            )
        case "delete_reminder" | "pause_reminder":
            job_id = _read_number(given["which"])
            arguments: dict[str, object] = {"action": _ACTIONS[decision.intent], "job": job_id}
            return _make(call_id, MANAGE_JOBS, arguments)
        case "move_reminder":
            job_id = _read_number(given["which"])
            timing = _move(given["when"], turn, find_job(turn.jobs or "", job_id))
            arguments = {"action": "change", "job": job_id, "when": timing}
            return _make(call_id, MANAGE_JOBS, arguments) if timing else None
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


def find_moment(decision: Decision, turn: GuidedTurn) -> datetime | None:
    """Return the single time of a decision, on the person's clock; None if it has none."""
    when = decision.given.get("when", "")
    if clock := _AT.fullmatch(when):
        day = _DAY.search(find_job(turn.jobs or "", _read_number(decision.given["which"])))
        if day is None:
            return None
        date = "-".join(filter(None, (day["year"], day["month"], day["day"])))
        date = date or f"{day['y']}-{day['m']}-{day['d']}"
        return datetime.fromisoformat(f"{date}T{clock[1]}")
    timing = read_when(when, turn.now) if turn.now else None
    if timing is None or turn.now is None:
        return None
    if timing.in_minutes:
        return turn.now + timedelta(minutes=timing.in_minutes)
    return datetime.fromisoformat(timing.at) if timing.at else None


def _reckon(when: str, now: datetime | None) -> str:
    """Return the words for a time if the tool can read them; "" if it can't."""
    return when if now and read_when(when, now) else ""


def _move(when: str, turn: GuidedTurn, job: str) -> str:
    """Return the new time of a job; the tool keeps the day if a time of day stands alone.

    What repeats is never made single, or the other way round.
    """
    is_once = is_single(job)
    if _AT.fullmatch(when):
        return when if is_once else ""
    timing = read_when(when, turn.now) if turn.now else None
    return when if timing and is_once == bool(timing.at or timing.in_minutes) else ""


def _read_number(label: str) -> int:
    return int(label.partition(" ")[0])


def _edit(action: str, target: str, **given: str) -> dict[str, object]:
    return {"action": action, "target": target, **given}


def _make(call_id: str, name: str, arguments: Mapping[str, object]) -> ToolCallPart:
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCallPart(call_id=CallId(call_id), name=name, arguments=text)
