"""The edits of a memory that its limit allows; a full list refuses what does not fit. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_core.memory.files import find_flaw, normalise, parse, size
from agent_core.memory.list_changes import apply, compare
from agent_core.state.memory.ledger import Change, MemoryTarget, Operation

EditAction = Literal[Operation, "rewrite"]
Fault = Literal["flaw", "full", "known", "none", "several", "same"]
"""Reasons to refuse an edit, in order: the text is not allowed, the list would be too long, an
entry already says the same, no entry matches, several match, or nothing would change.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A requested edit. `text` is the new entry, `old` a part of the present one.

    For `rewrite`, `text` is the whole list in its file format. `is_for_anyone` makes the entry of
    an add or a replace visible to others in every conversation; otherwise it is private.
    """

    action: EditAction
    target: MemoryTarget
    text: str = ""
    old: str = ""
    is_for_anyone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Refused edits. `shown` are the entries to quote in the answer.

    `index` is the zero-based index of the edit at fault. `size` is the number of characters that
    a `full` list would have had.
    """

    fault: Fault
    shown: tuple[str, ...] = ()
    detail: str = ""
    size: int = 0
    index: int = 0


def plan(entries: tuple[str, ...], edit: Edit, limit: int) -> tuple[Change, ...] | Refusal:
    """Plan one edit; see `plan_all`."""
    planned = plan_all({edit.target: entries}, [edit], {edit.target: limit})
    return planned if isinstance(planned, Refusal) else planned[0]


def plan_all(
    lists: Mapping[MemoryTarget, tuple[str, ...]],
    edits: Sequence[Edit],
    limits: Mapping[MemoryTarget, int],
) -> tuple[tuple[Change, ...], ...] | Refusal:
    """Plan several edits, each on the result of the edits before it.

    Either all edits are planned or none. `limits` are in characters of the written file and apply
    after the last edit. A list that a person made too long by hand may only become shorter.
    """
    then = dict(lists)
    planned: list[tuple[Change, ...]] = []
    for index, edit in enumerate(edits):
        changes = _plan_one(then[edit.target], edit)
        if isinstance(changes, Refusal):
            return replace(changes, index=index)
        for change in changes:
            then[edit.target] = apply(then[edit.target], change)
        planned.append(changes)
    for target in dict.fromkeys(edit.target for edit in edits):
        entries, now, later = lists[target], size(lists[target]), size(then[target])
        if later > limits[target] and later >= now:
            index = max(
                index
                for index, edit in enumerate(edits)
                if edit.target == target and edit.action != "remove"
            )
            return Refusal(fault="full", shown=entries, size=later, index=index)
    return tuple(planned)


def _plan_one(entries: tuple[str, ...], edit: Edit) -> tuple[Change, ...] | Refusal:
    text = normalise(edit.text)
    if edit.action != "remove" and (flaw := find_flaw(text)):
        return Refusal(fault="flaw", detail=flaw)
    if edit.action == "rewrite":
        changes = compare(entries, _drop_duplicates(parse(edit.text)))
        return changes or Refusal(fault="same", shown=entries)
    position = len(entries)
    if edit.action != "add":
        found = _match(entries, edit.old)
        if isinstance(found, Refusal):
            return found
        position = found
    before = None if edit.action == "add" else entries[position]
    after = None if edit.action == "remove" else text
    if before == after:
        return Refusal(fault="same", shown=(text,))
    others = entries[:position] + entries[position + 1 :]
    if after is not None and (duplicate := _find_duplicate(others, after)):
        return Refusal(fault="known", shown=(duplicate,))
    return (Change(operation=edit.action, position=position, before=before, after=after),)


def _match(entries: tuple[str, ...], old: str) -> int | Refusal:
    wanted = _apply_all(old)
    folded = [_apply_all(entry) for entry in entries]
    if wanted in folded:
        return folded.index(wanted)
    found = [place for place, entry in enumerate(folded) if wanted in entry]
    if len(found) == 1:
        return found[0]
    if found:
        return Refusal(fault="several", shown=tuple(entries[place] for place in found))
    return Refusal(fault="none", shown=entries)


def _drop_duplicates(entries: tuple[str, ...]) -> tuple[str, ...]:
    """Drop entries that repeat an earlier one."""
    kept: dict[str, str] = {}
    for entry in entries:
        kept.setdefault(_apply_all(entry), entry)
    return tuple(kept.values())


def _find_duplicate(entries: tuple[str, ...], text: str) -> str | None:
    return next((entry for entry in entries if _apply_all(entry) == _apply_all(text)), None)


def _apply_all(text: str) -> str:
    return " ".join(text.casefold().split())
