"""Sentences of the guided mode; each follows from the result of a tool; pure."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from agent_core.agent.guided.decisions import Decision
from agent_core.agent.guided.transcript import Step
from agent_core.localization import Text, say_moment

_DONE = Text("Done.")
_REMEMBERED, _FORGOTTEN = Text("I'll remember that."), Text("I've forgotten that.")
"""The receipt below says what."""
_NOT_DONE = Text("I didn't do that.")
_NOT_DONE_BECAUSE = Text("I didn't do that. Details: “{reason}”")
_UNCLEAR = Text("I'm not sure what you want, so I changed nothing. Can you say it in other words?")
_JOBS, _NO_JOBS = Text("Your reminders:\n{lines}"), Text("You have no reminders.")
_WHICH, _NONE = Text("Which one do you mean?"), Text("None of these")
_WHICH_TO: Mapping[str, Text] = {
    "delete_reminder": Text("Which reminder shall I delete?"),
    "pause_reminder": Text("Which reminder shall I pause?"),
    "move_reminder": Text("Which reminder shall I move to another time?"),
    "forget": Text("What shall I forget?"),
}
"""Names the act: the model may have taken one for another."""
_RIGHT, _YES, _NO = (
    Text("Reminder “{entry}”: {moment}. Is that time right?"),
    Text("Yes"),
    Text("No"),
)
_REMIND, _KEEP = Text("Shall I remind you? {entry}: {moment}"), Text("Only keep it in mind")
_LEFT = Text("All right, I changed nothing.")
_KEPT = ("No job was created", "Nothing was changed", "Nothing to do", "Proposed, not done")
"""How the result of a call begins that changed nothing without an error."""


Refusal = Literal["none", "no"]
"""The last option of a question."""
_FIXED = {"none": _NONE, "yes": _YES, "no": _NO, "keep": _KEEP, "left": _LEFT, "done": _DONE}


def reply(kind: Literal["left", "yes", "keep", "done"] | Refusal) -> str:
    """Return a sentence for the person, or the label of a button."""
    return _FIXED[kind]()


def ask_which(intent: str) -> str:
    """Ask which entry or reminder is meant."""
    return _WHICH_TO.get(intent, _WHICH)()


def list_jobs(lines: str) -> str:
    """Say which reminders there are."""
    return _JOBS(lines=lines) if lines else _NO_JOBS()


def confirm_time(decision: Decision, moment: datetime, now: datetime | None) -> str:
    """Ask whether the model has read a time rightly, or whether a fact is meant as a reminder."""
    what = decision.given.get("text") or decision.given["which"].partition(" ")[2]
    ask = _REMIND if "fact" in decision.given else _RIGHT
    return ask(entry=what.rstrip("."), moment=say_moment(moment, now or moment))


def name_failure() -> str:
    """Say that a decision could not be followed."""
    return _UNCLEAR()


def describe_step(step: Step) -> str:
    """Say what a call did, or that it did nothing."""
    result = step.result
    if result is None or result.is_error:
        said = result.text if result else ""
        reason = (said.partition(" was not run: ")[2] or said).strip()
        return _NOT_DONE_BECAUSE(reason=reason) if reason else _NOT_DONE()
    if result.text.startswith(_KEPT):
        return _LEFT()
    if step.call.name != "memory":
        return _DONE()
    given = json.loads(step.call.arguments)
    return (_FORGOTTEN if given["action"] == "remove" else _REMEMBERED)()
