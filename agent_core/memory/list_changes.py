"""Changes of a list of entries: applied, replayed, compared, and merged with a hand edit. Pure."""

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from agent_core.state.memory.ledger import Change, name_operation


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


def _distance(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    first, second = Counter(one), Counter(other)
    return ((first - second) + (second - first)).total()
