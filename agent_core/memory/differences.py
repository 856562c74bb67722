"""What goes and what comes with a change of a text, short enough for a chat. Pure."""

from collections.abc import Sequence
from itertools import takewhile

from agent_core.memory.approval import show_changes
from agent_core.state.memory.ledger import Change
from agent_core.transcript import strip_controls

LONGEST = 700
"""Characters of each side of a change; two of them fit a message on every platform."""
_AROUND = 80
"""Characters shown before and behind what differs."""
_CUT = "[… {count:,} …]"
"""The mark of characters that are left out; it needs no translation."""


def show_exchange(target: str, changes: Sequence[Change]) -> str:
    """Format changes of a list as its name, what goes (`-`) and what comes (`+`).

    Of long texts, the part that differs is shown, with a mark for each part that is left out.
    """
    return f"[{target}]\n{show_changes([_shorten(change) for change in changes])}"


def shorten_pair(before: str, after: str) -> tuple[str, str]:
    """Cut two texts around what differs, so that each has at most about `LONGEST` characters."""
    before, after = strip_controls(before), strip_controls(after)
    if max(len(before), len(after)) <= LONGEST:
        return before, after
    start = _count_common(before, after)
    most = min(len(before), len(after)) - start
    end = min(_count_common(before[::-1], after[::-1]), most)
    head, tail = max(0, start - _AROUND), max(0, end - _AROUND)
    return _cut(before, head, tail), _cut(after, head, tail)


def clip(text: str) -> str:
    """Cut the middle out of a long description of a change."""
    return _cut(strip_controls(text), 0, 0)


def _shorten(change: Change) -> Change:
    before, after = shorten_pair(change.before or "", change.after or "")
    return Change(
        operation=change.operation,
        position=change.position,
        before=None if change.before is None else before,
        after=None if change.after is None else after,
    )


def _count_common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _cut(text: str, head: int, tail: int) -> str:
    """Leave out the first and the last characters of a text, and the middle of what is too long."""
    shown = text[head : len(text) - tail]
    if len(shown) > LONGEST:
        half = LONGEST // 2
        shown = f"{shown[:half]}{_mark(len(shown) - 2 * half)}{shown[-half:]}"
    return f"{_mark(head)}{shown}{_mark(tail)}"


def _mark(count: int) -> str:
    return _CUT.format(count=count) if count else ""
