"""Find the scripts of skills that failed among the calls of a turn or a replay. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from agent_core.transcript import Message, ToolCallPart, ToolResultPart

_SCRIPT = re.compile(
    r"(?:^|\W)\.skills/(?P<folder>[\w-]+)(?:/(?P<path>[\w./-]+))?"
    r"|\bskill__(?P<skill>[\w-]+?)__(?P<tool>[\w-]+)"
)
"""A script as a command names it, or as a tool; see `agent_core.skills.tools`."""
_ENDED_BADLY = re.compile(r"^\[(?:Exit status -?\d+\.|It was stopped )", re.MULTILINE)
"""The lines of `terminal` about a status, or a limit that ended the command."""
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
"""Counts only with a skill's own file behind it: a log that a script shows may have others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFailure:
    """The last run of a skill's script, which failed; `trace` is the result of the call.

    `script` is the name of its file without the ending; "" if no call names it.
    """

    skill: str
    script: str
    trace: str


def list_script_failures(
    messages: Sequence[Message], skills: Collection[str]
) -> list[ScriptFailure]:
    """List the scripts of these skills whose last run failed.

    An earlier failure that a later run of the same script overcame is none. A command that was
    refused or could not start has no status, and says nothing about the script.
    """
    last: dict[tuple[str, str], ScriptFailure | None] = {}
    calls: dict[str, ToolCallPart] = {}
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, ToolCallPart):
            calls[part.call_id] = part
        elif isinstance(part, ToolResultPart) and part.call_id in calls:
            call = calls[part.call_id]
            has_failed = _ENDED_BADLY.search(part.text) is not None
            broken = _list_scripts("".join(_TRACEBACK.split(part.text, maxsplit=1)[1:]), skills)
            named = _list_scripts(f"{call.name} {call.arguments}", skills)
            for skill, script in sorted(named | broken):
                failure = ScriptFailure(skill=skill, script=script, trace=part.text)
                is_broken = has_failed or skill in {name for name, _ in broken}
                last[skill, script] = failure if is_broken else None
    return [failure for failure in last.values() if failure]


def _list_scripts(text: str, skills: Collection[str]) -> set[tuple[str, str]]:
    found = (
        (one["folder"] or one["skill"], PurePath(one["path"] or one["tool"] or "").stem)
        for one in _SCRIPT.finditer(text)
    )
    return {(skill, script) for skill, script in found if skill in skills}
