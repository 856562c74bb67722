"""Pure changes of a list of entries: plan, apply, replay, compare and merge."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from agent_core.memory.files import find_flaw, normalise, parse, size
from agent_core.state.memory.ledger import Change, MemoryTarget, Operation, name_operation

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


def apply(entries: tuple[str, ...], change: Change) -> tuple[str, ...]:
    """Apply one change to a list. Raises `ValueError` if the change does not fit the list."""
    if change.before is None and change.after is None:
        return entries
    place = change.position
    head, rest = entries[:place], entries[place:]
    if len(head) != place or (change.operation != "add" and rest[:1] != (change.before,)):
        raise ValueError(f"the change of entry {place} does not fit the list")
    new = () if change.after is None else (change.after,)
    return head + new + (rest if change.operation == "add" else rest[1:])


def replay(changes: Iterable[Change]) -> tuple[str, ...]:
    """Rebuild a list from all its changes. Raises `ValueError` if one is missing."""
    entries: tuple[str, ...] = ()
    for change in changes:
        entries = apply(entries, change)
    return entries


def compare(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Change, ...]:
    """Compute the changes that turn one list into the other, in the order to apply them."""
    changes: list[Change] = []
    shift = 0
    for tag, start, end, new_start, new_end in SequenceMatcher(
        a=old, b=new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        removed, added = old[start:end], new[new_start:new_end]
        place = start + shift
        for offset in range(max(len(removed), len(added))):
            before = removed[offset] if offset < len(removed) else None
            after = added[offset] if offset < len(added) else None
            changes.append(
                Change(
                    operation=name_operation(before, after),
                    position=place + min(offset, len(added)),
                    before=before,
                    after=after,
                )
            )
        shift += len(added) - len(removed)
    return tuple(changes)


def merge(base: tuple[str, ...], ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Merge a person's edit of `base` with the changes that were made to `base` meanwhile.

    If `theirs` is closer to `ours` than to `base`, the person has already seen `ours`. Then
    `theirs` is returned unchanged.
    """
    if _distance(theirs, ours) <= _distance(theirs, base):
        return theirs
    merged = list(theirs)
    for change in compare(base, ours):
        before, after = change.before, change.after
        if before is not None and before in merged:
            place = merged.index(before)
            merged[place : place + 1] = [] if after is None else [after]
        elif after is not None and after not in merged:
            merged.append(after)
    return tuple(merged)


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


def _distance(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    first, second = Counter(one), Counter(other)
    return ((first - second) + (second - first)).total()
