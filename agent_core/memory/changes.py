"""Changes of a list of entries: planned, replayed, found by comparing, and merged."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from agent_core.memory.files import find_flaw, normalise, parse, size
from agent_core.state.memory.ledger import Change, Operation, Target

Action = Literal[Operation, "rewrite"]
Fault = Literal["flaw", "full", "known", "none", "several", "same"]
"""Why an edit is not made: the text can't be kept, it would not fit, an entry says it already,
no entry matches, more than one does, or entry or list read so already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is asked for. `text` is the new entry, `old` a part of the one it is about.

    For `rewrite`, `text` is the whole list as its file would say it. `is_for_anyone` lets
    others see the entry of an add or a replace wherever they talk; else it is private.
    """

    action: Action
    target: Target
    text: str = ""
    old: str = ""
    is_for_anyone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Edits that are not made. `shown` are the entries that the answer should name.

    `index` is the place of the edit that is at fault, from 0. `size` is, for `full`, how many
    characters there would have been.
    """

    fault: Fault
    shown: tuple[str, ...] = ()
    detail: str = ""
    size: int = 0
    index: int = 0


def plan(entries: tuple[str, ...], edit: Edit, limit: int) -> tuple[Change, ...] | Refusal:
    """The changes that one edit comes to; see `plan_all`."""
    planned = plan_all({edit.target: entries}, [edit], {edit.target: limit})
    return planned if isinstance(planned, Refusal) else planned[0]


def plan_all(
    lists: Mapping[Target, tuple[str, ...]], edits: Sequence[Edit], limits: Mapping[Target, int]
) -> tuple[tuple[Change, ...], ...] | Refusal:
    """The changes that each of several edits comes to, each on what those before it leave.

    All or none of them are to be made. `limits` are in characters of the written file, and
    hold for what the lists are after the last edit. A list that a person made too long by hand
    may only become shorter.
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
        changes = compare(entries, _drop_twins(parse(edit.text)))
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
    if after is not None and (twin := _find_twin(others, after)):
        return Refusal(fault="known", shown=(twin,))
    return (Change(operation=edit.action, position=position, before=before, after=after),)


def apply(entries: tuple[str, ...], change: Change) -> tuple[str, ...]:
    """The list after one change. Raises `ValueError` if the change is of another list."""
    if change.before is None and change.after is None:
        return entries
    place = change.position
    head, rest = entries[:place], entries[place:]
    if len(head) != place or (change.operation != "add" and rest[:1] != (change.before,)):
        raise ValueError(f"a change of entry {place} does not fit the list it is made to")
    new = () if change.after is None else (change.after,)
    return head + new + (rest if change.operation == "add" else rest[1:])


def replay(changes: Iterable[Change]) -> tuple[str, ...]:
    """The list that changes lead to, from nothing. Raises `ValueError` where one is missing."""
    entries: tuple[str, ...] = ()
    for change in changes:
        entries = apply(entries, change)
    return entries


def compare(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[Change, ...]:
    """The changes that lead from one list to the other, in the order to make them."""
    changes: list[Change] = []
    shift = 0
    for tag, start, end, new_start, new_end in SequenceMatcher(
        a=old, b=new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        gone, come = old[start:end], new[new_start:new_end]
        place = start + shift
        for offset in range(max(len(gone), len(come))):
            before = gone[offset] if offset < len(gone) else None
            after = come[offset] if offset < len(come) else None
            changes.append(
                Change(
                    operation=_name_operation(before, after),
                    position=place + min(offset, len(come)),
                    before=before,
                    after=after,
                )
            )
        shift += len(come) - len(gone)
    return tuple(changes)


def merge(base: tuple[str, ...], ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """What a person made of `base`, with what has become of `base` meanwhile.

    If theirs looks more like ours than like the base, they have seen ours: then it stands
    as it is.
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
    wanted = _fold(old)
    folded = [_fold(entry) for entry in entries]
    if wanted in folded:
        return folded.index(wanted)
    found = [place for place, entry in enumerate(folded) if wanted in entry]
    if len(found) == 1:
        return found[0]
    if found:
        return Refusal(fault="several", shown=tuple(entries[place] for place in found))
    return Refusal(fault="none", shown=entries)


def _drop_twins(entries: tuple[str, ...]) -> tuple[str, ...]:
    """The entries without those that one before them says already."""
    kept: dict[str, str] = {}
    for entry in entries:
        kept.setdefault(_fold(entry), entry)
    return tuple(kept.values())


def _find_twin(entries: tuple[str, ...], text: str) -> str | None:
    return next((entry for entry in entries if _fold(entry) == _fold(text)), None)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _distance(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    first, second = Counter(one), Counter(other)
    return ((first - second) + (second - first)).total()


def _name_operation(before: str | None, after: str | None) -> Operation:
    if before is None:
        return "add"
    return "remove" if after is None else "replace"
