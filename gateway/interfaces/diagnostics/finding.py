"""A finding about one part of an installation."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fault"]

_WIDTH = len("external memory")
"""The longest part has this name."""
_MARKS = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part; a `fault` prevents the gateway from starting or from its work."""

    part: str
    state: State
    text: str
    fix: str = ""
    """What to do, as a sentence; empty if the text says it or nothing is to be done."""


def make_finding(part: str, state: State, text: str, fix: str = "") -> Finding:
    """Make a finding; what is well needs no fix."""
    return Finding(part=part, state=state, text=text, fix="" if state == "ok" else fix)


def describe(finding: Finding) -> str:
    """Return the line of a finding, and one below it for its fix."""
    line = f"{_MARKS[finding.state]} {finding.part:<{_WIDTH}}  {finding.text}"
    return f"{line}\n      {'':<{_WIDTH}}  Fix: {finding.fix}" if finding.fix else line
