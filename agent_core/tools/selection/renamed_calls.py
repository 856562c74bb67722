"""Translate calls of tools that others have replaced; pure.

A transcript, a stored proposal or a skill may still hold a call of `schedule`.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_core.transcript import ToolCallPart

_OLD = "schedule"
_TIMINGS = ("cron", "at", "in_minutes", "every_minutes", "on")
_FOR_JOBS = ("gate", "aware", "model", "tools", "skills", "day_usd", "pause_after")


def renew(call: ToolCallPart) -> ToolCallPart:
    """Return the present call that does what an old one did; any other call unchanged.

    A malformed call stays unchanged, so that its fault can be reported.
    """
    if call.name != _OLD:
        return call
    try:
        given = json.loads(call.arguments)
        name, arguments = _renew(given)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return call
    return replace(call, name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _renew(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments of the present call. Raises `KeyError` if there is none."""
    fields = {name: value for name, value in given.items() if name != "action"}
    if when := _read_when(fields):
        fields["when"] = when
    if given["action"] != "create":
        is_change = given["action"] == "change"
        kept = fields if is_change else {name: fields[name] for name in ("job",) if name in fields}
        return "manage_jobs", {"action": given["action"], **kept}
    fields.pop("job", None)
    kind = fields.pop("kind")
    if kind == "message":
        return "remind", {name: one for name, one in fields.items() if name not in _FOR_JOBS}
    if kind != "prompt":
        raise KeyError(kind)
    return "schedule_job", fields


def _read_when(fields: dict[str, Any]) -> str:
    """Take the time out of the fields of an old call, as `when` says it."""
    times, rule = fields.pop("times", None), fields.pop("rule", None)
    found = [" ".join([*(times or ()), rule or "FREQ=DAILY"])] if times or rule else []
    for name in _TIMINGS:
        if value := fields.pop(name, None):
            value = int(value) if isinstance(value, float) else value
            said = {"in_minutes": f"in {value} minutes", "every_minutes": f"every {value} minutes"}
            found.append(said.get(name, str(value)))
    return " or ".join(found)
