"""A finding about one part of an installation."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fault"]

_WIDTH = len("external memory")
"""Width of the column of parts: the longest part has this name."""
_MARKS = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part. A `fault` prevents the gateway from starting or from working."""

    part: str
    state: State
    text: str
    fix: str = ""
    """A sentence that says what to do; empty if `text` says it or there is nothing to do."""


def make_finding(part: str, state: State, text: str, fix: str = "") -> Finding:
    """Make a finding; an `ok` finding gets no fix."""
    return Finding(part=part, state=state, text=text, fix="" if state == "ok" else fix)


def describe(finding: Finding) -> str:
    """Return the line of a finding, and a second line if there is a fix."""
    line = f"{_MARKS[finding.state]} {finding.part:<{_WIDTH}}  {finding.text}"
    return f"{line}\n      {'':<{_WIDTH}}  Fix: {finding.fix}" if finding.fix else line
