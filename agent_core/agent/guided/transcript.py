"""Read the present turn from a transcript: the words, the jobs and what was done; pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agent_core.agent.guided.decisions import MANAGE_JOBS, Known
from agent_core.localization import say_moment
from agent_core.models.contract import ModelRequest
from agent_core.models.transcript_view import read_clock, read_notes
from agent_core.transcript import Message, RawPart, ToolCallPart, ToolResultPart

PROVIDER = "guided"
"""The provider of the parts that hold a decision."""
LIST_JOBS = '{"action": "list"}'
_JOB = re.compile(
    r'^(?P<number>\d+)\. (?P<title>"(?:[^"\\]|\\.)*") \((?P<kind>\w+)\)(?P<rest>.*)$', re.M
)

_TIMES = re.compile(r"^(?P<timing>.*?)\.? Next: (?P<next>[^;(]*[^;(. ])")
"""What a job's line says of its times, in the person's language: all, and the next one."""
_MOMENT = re.compile(
    r"\b\w{2,3} (?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"|(?P<day_>\d\d)\.(?P<month_>\d\d)\.(?P<year_>\d{4})) (?P<hour>\d\d):(?P<minute>\d\d)"
)
"""A moment in full, as `format_moment` writes it in one of the languages."""


MESSAGE_AGENT = "message_agent"
_BY_TOOL = f"{MESSAGE_AGENT} (mode team)"
"""Stands in the sentence of `/team` in every language."""
_TEAM = re.compile(r"\b[Tt]eam ([a-z][a-z0-9-]{0,31})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call of the turn and its result."""

    call: ToolCallPart
    result: ToolResultPart | None
    decision: str
    """The decision that the call follows, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidedTurn:
    """The newest words of a person and what followed them."""

    said: str
    now: datetime | None
    known: Known
    steps: tuple[Step, ...]
    jobs: str | None
    """The list of jobs as the tool wrote it; None if it was not read in this turn."""


def read_turn(request: ModelRequest) -> GuidedTurn | None:
    """Read the turn that a request continues; None if nobody's words begin it."""
    messages = request.messages
    start = find_start(messages)
    if start is None:
        return None
    steps = _list_steps(messages[start + 1 :])
    listed = [step.result for step in steps if is_listing(step.call) and step.result]
    jobs = None if not listed else "" if listed[-1].is_error else listed[-1].text
    notes = read_notes(request.system, messages)
    entries = [(target, text) for target in notes for text in notes[target]]
    return GuidedTurn(
        said=messages[start].text,
        now=read_clock(messages[start]),
        known=Known(jobs=read_jobs(jobs or ""), entries=entries),
        steps=tuple(step for step in steps if not is_listing(step.call)),
        jobs=jobs,
    )


def read_team_order(said: str) -> Mapping[str, str] | None:
    """Read the sentence with which `/team` gives a task to a team; None for other words."""
    head, _, task = said.partition(": ")
    found = _TEAM.search(head) if _BY_TOOL in head else None
    if found is None or not task.strip():
        return None
    return {"mode": "team", "to": found[1], "text": task.strip()}


def find_start(messages: Sequence[Message]) -> int | None:
    """Return the place of the newest words of a person, unless an answer follows them."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role == "user" and message.text.strip():
            return place
        if message.role == "assistant" and not message.calls:
            return None
    return None


def is_listing(call: ToolCallPart) -> bool:
    """True for the call that reads the jobs before a decision."""
    return call.name == MANAGE_JOBS and call.arguments == LIST_JOBS


def read_jobs(listed: str) -> Mapping[int, str]:
    """Return the titles in a list of jobs, by their numbers."""
    return {int(found["number"]): json.loads(found["title"]) for found in _JOB.finditer(listed)}


def find_job(listed: str, number: int) -> str:
    """Return the line of a job in the list of the tool."""
    return next((one[0] for one in _JOB.finditer(listed) if int(one["number"]) == number), "")


def is_single(line: str) -> bool:
    """True for the line of a job with a single time: its next one is all of it."""
    times = _TIMES.match(line.partition(" Text: ")[0])
    return times is not None and times["timing"].endswith(times["next"])


def show_jobs(listed: str, now: datetime | None) -> str:
    """Return a list of jobs for the person: a line each, without numbers and fields.

    Moments are as people say them at the time `now`; without it, in full.
    """
    lines = []
    for found in _JOB.finditer(listed):
        rest = found["rest"].partition(" Text: ")[0].lstrip(": ")
        if is_single(rest):
            rest = rest.partition(" Next: ")[0]
        elif times := _TIMES.match(rest):
            rest = times[0]
        rest = _MOMENT.sub(partial(_say_moment, now=now), rest) if now else rest
        lines.append(f"- **{json.loads(found['title'])}**: {rest}")
    return "\n".join(lines)


def _say_moment(found: re.Match[str], *, now: datetime) -> str:
    year, month, day = (int(found[name] or found[f"{name}_"]) for name in ("year", "month", "day"))
    clock = int(found["hour"]), int(found["minute"])
    return say_moment(datetime(year, month, day, *clock), now.replace(tzinfo=None))


def _list_steps(messages: Sequence[Message]) -> list[Step]:
    results = {
        part.call_id: part
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    steps = []
    for message in messages:
        decision = next((part.payload for part in message.parts if isinstance(part, RawPart)), "")
        steps += [
            Step(call=call, result=results.get(call.call_id), decision=decision)
            for call in message.calls
        ]
    return steps
