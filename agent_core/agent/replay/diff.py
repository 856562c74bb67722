"""Compare replayed requests with the recorded ones; pure."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.agent.replay.rebuild import RebuiltCall
from agent_core.agent.replay.replayer import ReplayedRequest
from agent_core.transcript import Message, dump_parts

ReplayVerdict = Literal["identical", "differs", "fewer", "not_noted"]
"""Every request is equal; one differs; the turn ended before it made one; or one can't be compared,
because no fingerprint was recorded.
"""

_MOST_LINES = 24
_LONGEST = 240
"""Characters of a line that are shown, around the difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a replay.

    `compared` counts the equal requests. The verdict is about the next request, if any; `lines`
    show the difference as far as it is known.
    """

    verdict: ReplayVerdict
    compared: int
    lines: tuple[str, ...] = ()


def compare(calls: Sequence[RebuiltCall], replayed: Sequence[ReplayedRequest]) -> Comparison:
    """Compare the replayed requests with the recorded fingerprints, in order."""
    for number, call in enumerate(calls):
        if call.spent.request_hash is None:
            return Comparison(verdict="not_noted", compared=number)
        if number >= len(replayed):
            return Comparison(verdict="fewer", compared=number)
        if replayed[number].hash != call.spent.request_hash:
            lines = _differ(call, replayed[number])
            return Comparison(verdict="differs", compared=number, lines=lines)
    return Comparison(verdict="identical", compared=len(calls))


def differ_in_words(before: str, after: str) -> tuple[str, ...]:
    """The unified diff of two texts; empty if they are equal."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "then", "now", lineterm="", n=1
    )
    return tuple(lines)


def _differ(call: RebuiltCall, replayed: ReplayedRequest) -> tuple[str, ...]:
    """The first differences between a replayed request and the recorded one."""
    request, spent = replayed.request, call.spent
    before = [f"model {spent.asked_model}", f"at most {spent.output_limit} tokens"]
    after = [f"model {request.model}", f"at most {request.max_output_tokens} tokens"]
    if spent.request_shape or request.shape:
        before.append(f"shape {spent.request_shape}")
        after.append(f"shape {request.shape}")
    if call.sent:
        before += [f"pictures {sorted(call.sent.shown)}", *map(_describe, call.sent.messages)]
        after += [f"pictures {sorted(request.images)}", *map(_describe, request.messages)]
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


def _describe(message: Message) -> str:
    return f"{message.role} {dump_parts(message.parts)}"


def _where(olds: Sequence[str], news: Sequence[str]) -> int:
    """The position of the first difference between the first two lines."""
    pairs = zip(olds[0] if olds else "", news[0] if news else "", strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), 0)


def _cut(line: str, start: int) -> str:
    """The part of a line around its difference."""
    begin = max(0, start - _LONGEST // 3)
    part = line[begin : begin + _LONGEST]
    return f"{'…' if begin else ''}{part}{'…' if begin + len(part) < len(line) else ''}"
