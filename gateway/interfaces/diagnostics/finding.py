"""A finding about one part of an installation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fault"]

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


def describe(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each finding, and one below it for its fix."""
    width = max(len(finding.part) for finding in findings)
    lines = []
    for one in findings:
        lines.append(f"{_MARKS[one.state]} {one.part:<{width}}  {one.text}")
        if one.fix:
            lines.append(f"      {'':<{width}}  Fix: {one.fix}")
    return lines
