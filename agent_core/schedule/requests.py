"""The arguments of the `schedule` tool, parsed into a job request. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from agent_core.errors import ToolArgumentError
from agent_core.schedule.job_editor import JobRequest
from agent_core.schedule.occurrences import find_zone
from agent_core.schedule.triggers import (
    MOST_INTERVAL,
    Once,
    Timing,
    moment,
    read_cron,
    read_every,
    read_once,
)
from agent_core.state.jobs.jobs import Options, Target
from agent_core.transcript import ToolSpec

ACTIONS = ("create", "list", "change", "pause", "resume", "run_now", "delete")
_TIMINGS = ("cron", "every_minutes", "at", "in_minutes")
_HERE, _HOME = "here", "home"
_PLATFORMS = ("telegram", "discord", "slack")
MOST_NAMES = 20
"""The largest number of tools, or of skills, in a job."""
_LONGEST_NAME = 200
MOST_DAY_USD = 1000
MOST_FAILURES = 100
_MOST_SPAN = MOST_INTERVAL // 60

_NAMES = {"type": "array", "items": {"type": "string"}}

SCHEDULE_SPEC = ToolSpec(
    name="schedule",
    description=(
        "Reminders and recurring work. One of cron (5 fields; L, LW: a month's last day, last"
        " working day), every_minutes, at (local, like 2026-11-23T08:00) or in_minutes says when."
        " kind `message`: `text` is sent as it stands; `prompt`: you get `text` then, with your"
        " tools, and your answer is sent."
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": list(ACTIONS)},
                "job": {"type": "integer"},
                "kind": {"type": "string", "enum": ["message", "prompt"]},
                "title": {"type": "string"},
                "text": {"type": "string"},
                "cron": {"type": "string"},
                "every_minutes": {"type": "integer"},
                "at": {"type": "string"},
                "in_minutes": {"type": "integer"},
                "zone": {"type": "string", "description": "IANA"},
                "to": {
                    "type": "array",
                    "items": {"type": "string", "enum": [_HERE, _HOME, *_PLATFORMS]},
                },
                "late": {"type": "string", "enum": ["catch_up", "skip", "all"]},
                "urgent": {"type": "boolean", "description": "also in quiet hours"},
                "skills": {
                    **_NAMES,
                    "description": "`digest`: put its sources' addresses into `text`",
                },
                "model": {"type": "string"},
                "tools": {**_NAMES, "description": "if not all"},
                "aware": {"type": "boolean", "description": "a run sees the ones before it"},
                "day_usd": {"type": "number", "description": "daily limit"},
                "pause_after": {"type": "integer", "description": "failures in a row"},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        separators=(",", ":"),
    ),
)


def read_request(
    arguments: Mapping[str, object], *, here: Target, zone: str, known: Options, now: int
) -> JobRequest:
    """Parse the arguments of a call. `here` is the chat of the turn, `known` the present options.

    Raises `ToolArgumentError` with a sentence.
    """
    options = _read_options(arguments, known)
    named = _text(arguments, "zone")
    urgent = arguments.get("urgent")
    return JobRequest(
        kind=arguments.get("kind"),  # type: ignore[arg-type]  # the schema allows only these two
        title=_text(arguments, "title"),
        body=_text(arguments, "text"),
        timing=_read_timing(arguments, named or zone, now),
        zone=named,
        late=arguments.get("late"),  # type: ignore[arg-type]  # as above
        options=options if options != known else None,
        targets=_read_targets(arguments.get("to"), here),
        is_urgent=None if urgent is None else bool(urgent),
    )


def _read_options(arguments: Mapping[str, object], known: Options) -> Options:
    """Parse the run options; an empty value or 0 selects the default."""
    options = known
    if (is_aware := arguments.get("aware")) is not None:
        options = replace(options, is_aware=bool(is_aware))
    if isinstance(model := arguments.get("model"), str):
        options = replace(options, model=model.strip())
    if (tools := arguments.get("tools")) is not None:
        options = replace(options, tools=_read_names("tools", tools))
    if (skills := arguments.get("skills")) is not None:
        options = replace(options, skills=_read_names("skills", skills))
    if isinstance(day_usd := arguments.get("day_usd"), int | float):
        if not 0 <= day_usd <= MOST_DAY_USD:
            raise ToolArgumentError(f"`day_usd` is at most {MOST_DAY_USD}, or 0 for no limit")
        micro = round(day_usd * 1_000_000)
        if day_usd and not micro:
            raise ToolArgumentError("`day_usd` is too small; 0 is no limit")
        options = replace(options, day_micro_dollars=micro)
    if isinstance(pause_after := arguments.get("pause_after"), int):
        if not 1 <= pause_after <= MOST_FAILURES:
            raise ToolArgumentError(f"`pause_after` is from 1 to {MOST_FAILURES}")
        options = replace(options, pause_after=pause_after)
    return options


def _read_names(what: str, given: object) -> tuple[str, ...]:
    """Parse a list of unique names. Raises `ToolArgumentError`."""
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise ToolArgumentError(f"`{what}` is a list of names")
    names = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
    if len(names) > MOST_NAMES or any(len(name) > _LONGEST_NAME for name in names):
        raise ToolArgumentError(f"`{what}` takes at most {MOST_NAMES} names")
    return names


def _read_timing(arguments: Mapping[str, object], zone: str, now: int) -> Timing | None:
    given = [name for name in _TIMINGS if arguments.get(name) is not None]
    if len(given) > 1:
        raise ToolArgumentError(f"give only one of {' and '.join(given)}")
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
    """Convert minutes from now to a local time, rounded up to the second."""
    if not 1 <= minutes <= _MOST_SPAN:
        raise ToolArgumentError(f"`in_minutes` is at least 1 and at most {_MOST_SPAN}, a year")
    whole = moment(now + 999) + timedelta(minutes=minutes)
    return Once(at=whole.astimezone(find_zone(zone)).replace(tzinfo=None, microsecond=0))


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
