"""Leave out the fields of a job that mean nothing.

Small models fill in every field that a schema offers. One such field must not refuse the call.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent_core.schedule.job_fields import DECLARATIONS, JobFields

_ONCE = ("at", "in_minutes")
_SUN = ("sunrise", "sunset")
_POSITIVE = ("every_minutes", "in_minutes", "count", "pause_after")
"""Numbers of which 0 means nothing."""
_FOR_PROMPTS = ("gate", "aware", "model", "tools", "skills", "day_usd")


def leave_out(given: JobFields, kind: str) -> tuple[JobFields, tuple[str, ...]]:
    """Return the fields without those that mean nothing, and the names of those left out.

    `kind` is the kind of the job. A field that could mean something stays, to be judged.
    """
    unused = [name for name in _list_unused(given, kind) if getattr(given, name) is not None]
    names = tuple(dict.fromkeys(unused))
    return replace(given, **dict.fromkeys(names)), names


def note_left_out(names: Sequence[str]) -> str:
    """Return the sentence on fields that were left out, with a leading space; "" for none."""
    if not names:
        return ""
    return f" Left out, because they mean nothing here: {', '.join(f'`{one}`' for one in names)}."


def _list_unused(given: JobFields, kind: str) -> list[str]:
    values = {one.name: getattr(given, one.name) for one in DECLARATIONS}
    clears = {one.name for one in DECLARATIONS if one.option}
    # An empty option selects its default; an empty field of another kind says nothing.
    unused = [
        name for name, value in values.items() if name not in clears and value in ("", (), ("",))
    ]
    unused += [name for name in _POSITIVE if (values[name] or 0) <= 0]
    if kind == "message":
        unused += _FOR_PROMPTS
    named = [name for name in (*_ONCE, "cron", "every_minutes", "on") if values[name]]
    if not any(sun in word for word in given.times or () for sun in _SUN):
        unused.append("place")
    if len(named) == 1 and named[0] in _ONCE and not given.times:
        unused += ["skip", "starts", "until"]
        unused += ["count"] if given.count == 1 else []
    return unused
