"""Changes of a list of entries: planned, replayed, found by comparing, and merged."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from agent_core.memory.entries import find_flaw, normalise, size
from agent_core.state.ledger import Change, Operation, Target

Fault = Literal["flaw", "full", "known", "none", "several", "same"]
"""Why an edit is not made: the text can't be kept, it would not fit, an entry says it already,
no entry matches, more than one does, or the entry reads so already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What is asked for. `text` is the new entry, `old` a part of the one it is about.

    `is_for_anyone` lets others see the entry wherever they talk; else it is private.
    """

    action: Operation
    target: Target
    text: str = ""
    old: str = ""
    is_for_anyone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An edit that is not made. `shown` are the entries that the answer should name.

    `size` is, for `full`, how many characters there would have been.
    """

    fault: Fault
    shown: tuple[str, ...] = ()
    detail: str = ""
    size: int = 0


def plan(entries: tuple[str, ...], edit: Edit, limit: int) -> Change | Refusal:
    """The change that an edit comes to. `limit` is in characters of the written file.

    A list that a person made too long by hand may only become shorter.
    """
    text = normalise(edit.text)
    if edit.action != "remove" and (flaw := find_flaw(text)):
        return Refusal(fault="flaw", detail=flaw)
    position = len(entries)
    if edit.action != "add":
        found = _match(entries, edit.old)
        if isinstance(found, Refusal):
            return found
        position = found
    before = None if edit.action == "add" else entries[position]
    change = Change(
        operation=edit.action,
        position=position,
        before=before,
        after=None if edit.action == "remove" else text,
    )
    if before == change.after:
        return Refusal(fault="same", shown=(text,))
    others = entries[:position] + entries[position + 1 :]
    if change.after is not None and (twin := _find_twin(others, change.after)):
        return Refusal(fault="known", shown=(twin,))
    now, then = size(entries), size(apply(entries, change))
    if then > limit and then >= now:
        return Refusal(fault="full", shown=entries, size=then)
    return change


def apply(entries: tuple[str, ...], change: Change) -> tuple[str, ...]:
    """The list after one change. Raises `ValueError` if the change is of another list."""
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
