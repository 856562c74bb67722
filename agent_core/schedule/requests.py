"""Arguments of the `schedule` tool, read into a wish; pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from agent_core.errors import ToolArgumentError
from agent_core.schedule.planner import Wish
from agent_core.schedule.slots import find_zone
from agent_core.schedule.timing import Once, Timing, moment, read_cron, read_every, read_once
from agent_core.state.jobs import Options, Target
from agent_core.transcript import ToolSpec

ACTIONS = ("create", "list", "change", "pause", "resume", "run_now", "delete")
_TIMINGS = ("cron", "every_minutes", "at", "in_minutes")
_HERE, _HOME = "here", "home"
_PLATFORMS = ("telegram", "discord", "slack")
_SKILLS = ("digest",)
"""Those that come with the program; see `agent_core.digest.skills`."""

SPEC = ToolSpec(
    name="schedule",
    description=(
        "Reminders and recurring work, done at their time without you being asked. One of cron"
        " (5 fields; L and LW: last day and working day of a month), every_minutes, at (local time"
        " like 2026-11-23T08:00) or in_minutes says when. kind `message`: `text` is sent as it"
        " stands; `prompt`: you get `text` then, with your tools, and your answer is sent."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": list(ACTIONS)},
                "job": {"type": "integer", "description": "its number"},
                "kind": {"type": "string", "enum": ["message", "prompt"]},
                "title": {"type": "string"},
                "text": {"type": "string"},
                "cron": {"type": "string"},
                "every_minutes": {"type": "integer"},
                "at": {"type": "string"},
                "in_minutes": {"type": "integer"},
                "zone": {"type": "string", "description": "IANA, if not the person's own"},
                "to": {
                    "type": "array",
                    "items": {"type": "string", "enum": [_HERE, _HOME, *_PLATFORMS]},
                },
                "late": {"type": "string", "enum": ["catch_up", "skip", "all"]},
                "urgent": {"type": "boolean", "description": "also in quiet hours"},
                "skill": {
                    "type": "string",
                    "enum": list(_SKILLS),
                    "description": "put its sources' addresses into `text`",
                },
                "aware": {"type": "boolean", "description": "a run sees the ones before it"},
                "day_usd": {"type": "number", "description": "the most that a day's runs may cost"},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


def read_wish(
    arguments: Mapping[str, object], *, here: Target, zone: str, known: Options, now: int
) -> Wish:
    """What a call asks for. `here` is where the turn is held, `known` how the job runs so far.

    Raises `ToolArgumentError` with a sentence.
    """
    options = known
    if (is_aware := arguments.get("aware")) is not None:
        options = replace(options, is_aware=bool(is_aware))
    if skill := _text(arguments, "skill"):
        options = replace(options, skills=(skill,))
    day_usd = arguments.get("day_usd")
    if isinstance(day_usd, int | float):
        if not 0 < day_usd <= 1000:
            raise ToolArgumentError("`day_usd` is more than 0 and at most 1000")
        options = replace(options, day_micro_dollars=round(day_usd * 1_000_000))
    named = _text(arguments, "zone")
    urgent = arguments.get("urgent")
    return Wish(
        kind=arguments.get("kind"),  # type: ignore[arg-type]  # the schema allows the two only
        title=_text(arguments, "title"),
        body=_text(arguments, "text"),
        timing=_read_timing(arguments, named or zone, now),
        zone=named,
        late=arguments.get("late"),  # type: ignore[arg-type]  # as above
        options=options if options != known else None,
        targets=_read_targets(arguments.get("to"), here),
        is_urgent=None if urgent is None else bool(urgent),
    )


def _read_timing(arguments: Mapping[str, object], zone: str, now: int) -> Timing | None:
    given = [name for name in _TIMINGS if arguments.get(name) is not None]
    if len(given) > 1:
        raise ToolArgumentError(f"say when in one way: {' and '.join(given)} can't both hold")
    if not given:
        return None
    value = arguments[given[0]]
    try:
        match given[0]:
            case "cron":
                return read_cron(str(value))
            case "every_minutes":
                return read_every(int(str(value)) * 60, now)
            case "at":
                return read_once(str(value))
            case _:
                return _read_span(int(str(value)), zone, now)
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error


def _read_span(minutes: int, zone: str, now: int) -> Timing:
    """So many minutes from now; the moment is named to the minute, and never before its time."""
    if minutes < 1:
        raise ToolArgumentError("`in_minutes` is at least 1")
    whole = moment(now + 59_999) + timedelta(minutes=minutes)
    return Once(at=whole.astimezone(find_zone(zone)).replace(tzinfo=None, second=0, microsecond=0))


def _read_targets(wanted: object, here: Target) -> tuple[Target, ...] | None:
    if not isinstance(wanted, list) or not wanted:
        return None
    found = []
    for word in dict.fromkeys(map(str, wanted)):
        if word == _HERE:
            found.append(here)
        elif word == _HOME:
            found.append(Target(kind="home"))
        else:
            found.append(Target(kind="account", platform=word))
    return tuple(found)


def _text(arguments: Mapping[str, object], name: str) -> str | None:
    value = arguments.get(name)
    return value.strip() or None if isinstance(value, str) else None
