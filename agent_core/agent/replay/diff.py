"""Compares requests that were made again with those that were made; pure."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.agent.replay.rebuild import RebuiltCall
from agent_core.agent.replay.replayer import ReplayedRequest
from agent_core.transcript import Message, dump_parts

Verdict = Literal["identical", "differs", "fewer", "not_noted"]
"""All are the same; one is another; the turn ended before one was made; one can't be compared,
because no fingerprint was noted then."""

_MOST_LINES = 24
_LONGEST = 240
"""Characters of a line that are shown, around where it differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of a turn that was played again.

    `compared` counts the requests that were the same. The next one, where there is one, is
    what the verdict is about; `lines` show how it differs, as far as that can be told.
    """

    verdict: Verdict
    compared: int
    lines: tuple[str, ...] = ()


def compare(calls: Sequence[RebuiltCall], made: Sequence[ReplayedRequest]) -> Comparison:
    """Hold the requests that were made again against the noted fingerprints, in order."""
    for number, call in enumerate(calls):
        if call.spent.request_hash is None:
            return Comparison(verdict="not_noted", compared=number)
        if number >= len(made):
            return Comparison(verdict="fewer", compared=number)
        if made[number].hash != call.spent.request_hash:
            lines = _differ(call, made[number])
            return Comparison(verdict="differs", compared=number, lines=lines)
    return Comparison(verdict="identical", compared=len(calls))


def differ_in_words(before: str, after: str) -> tuple[str, ...]:
    """How one text became another, as a unified diff; nothing where they are the same."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "then", "now", lineterm="", n=1
    )
    return tuple(lines)


def _differ(call: RebuiltCall, made: ReplayedRequest) -> tuple[str, ...]:
    """The first places where a request is another than the one that was made."""
    request, spent = made.request, call.spent
    before = [f"model {spent.asked_model}", f"at most {spent.output_limit} tokens"]
    after = [f"model {request.model}", f"at most {request.max_output_tokens} tokens"]
    if call.sent:
        before += [f"pictures {sorted(call.sent.shown)}", *map(_tell, call.sent.messages)]
        after += [f"pictures {sorted(request.images)}", *map(_tell, request.messages)]
    lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, old, old_end, new, new_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        olds, news = before[old:old_end], after[new:new_end]
        start = _where(olds, news)
        lines += [f"-{_cut(one, start)}" for one in olds]
        lines += [f"+{_cut(one, start)}" for one in news]
    return tuple(lines[:_MOST_LINES])


def _tell(message: Message) -> str:
    return f"{message.role} {dump_parts(message.parts)}"


def _where(olds: Sequence[str], news: Sequence[str]) -> int:
    """Where the first two lines part ways."""
    pairs = zip(olds[0] if olds else "", news[0] if news else "", strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), 0)


def _cut(line: str, start: int) -> str:
    """A line around the place where it differs."""
    begin = max(0, start - _LONGEST // 3)
    part = line[begin : begin + _LONGEST]
    return f"{'…' if begin else ''}{part}{'…' if begin + len(part) < len(line) else ''}"
