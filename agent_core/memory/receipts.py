"""Describe to the person what the tools of memory have changed; the gateway adds the buttons."""

from collections.abc import Sequence

from agent_core.localization import Text
from agent_core.state.memory.ledger import Change
from agent_core.transcript import Receipt, flatten

_LONGEST_ENTRY = 120
_ADDED, _CHANGED, _REMOVED = (
    Text("📝 Remembered: {entry}"),
    Text("📝 Changed in memory: {entry}"),
    Text("📝 Removed from memory: {entry}"),
)


def confirm_changes(changes: Sequence[Change]) -> tuple[Receipt, ...]:
    """Confirm changes of a list of memory, a line each."""
    return tuple(confirm(one.before, one.after) for one in changes)


def confirm(before: str | None, after: str | None) -> Receipt:
    """Confirm a change of one entry, which has no text before it exists and after its end."""
    pattern = _ADDED if before is None else _CHANGED if after is not None else _REMOVED
    entry = flatten(after if after is not None else before or "", _LONGEST_ENTRY)
    return Receipt(text=pattern(entry=entry))
