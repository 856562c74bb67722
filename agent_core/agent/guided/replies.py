"""Sentences of the guided mode; each follows from the result of a tool; pure."""

import json
from typing import Literal

from agent_core.agent.guided.decisions import Decision
from agent_core.agent.guided.transcript import Step
from agent_core.localization import Text

_DONE = Text("Done.")
_REMEMBERED = Text("I'll remember: {entry}")
_FORGOTTEN = Text("I've forgotten: {entry}")
_NOT_DONE = Text("That was not done. {reason}")
_UNCLEAR = Text("I'm not sure what you want, so I changed nothing. Can you say it in other words?")
_JOBS, _NO_JOBS = Text("Your reminders:\n{lines}"), Text("You have no reminders.")
_WHICH, _NONE = Text("Which one do you mean?"), Text("None of these")
_RIGHT, _YES, _NO = Text("{entry}: {moment}. Is that right?"), Text("Yes"), Text("No")
_LEFT = Text("All right, I changed nothing.")
_KEPT = ("No job was created", "Nothing was changed", "Nothing to do", "Proposed, not done")
"""How the result of a call begins that changed nothing without an error."""


def reply(kind: Literal["jobs", "which", "none", "left", "yes", "no"], jobs: str = "") -> str:
    """Return a sentence for the person."""
    match kind:
        case "jobs":
            return _JOBS(lines=jobs) if jobs else _NO_JOBS()
        case "which":
            return _WHICH()
        case "none":
            return _NONE()
        case "yes":
            return _YES()
        case "no":
            return _NO()
        case _:
            return _LEFT()


def confirm_time(decision: Decision) -> str:
    """Ask whether the model has read a time rightly."""
    what = decision.given.get("text") or decision.given["which"].partition(" ")[2]
    return _RIGHT(entry=what, moment=decision.given["when"])


def name_failure() -> str:
    """Say that a decision could not be followed."""
    return _UNCLEAR()


def describe_step(step: Step) -> str:
    """Say what a call did, or that it did nothing."""
    result = step.result
    if result is None or result.is_error:
        reason = result.text if result else ""
        return _NOT_DONE(reason=reason.partition(" was not run: ")[2] or reason).strip()
    if result.text.startswith(_KEPT):
        return _LEFT()
    if step.call.name != "memory":
        return _DONE()
    given = json.loads(step.call.arguments)
    said = _FORGOTTEN if given["action"] == "remove" else _REMEMBERED
    return said(entry=given.get("text") or given["old"])
