"""When a frozen prompt may go on being used in a room, by what it shows and what may be seen."""

from dataclasses import replace

import pytest

from agent_core.agent.prompt.visibility import (
    VisibleMemory,
    dump_shown,
    is_still_allowed,
    load_shown,
    select_shared,
)
from agent_core.ids import BlockId, PersonId
from agent_core.memory.shared import SharedList
from agent_core.memory.store import MemoryLimits, Snapshot
from agent_core.state.memory.blocks import Block


def visibility(room: str = "", borrowed: str = "") -> VisibleMemory:
    """Entries by their letters."""
    notes = Snapshot(memory=tuple(room), user=(), memory_size=0, user_size=0, limits=MemoryLimits())
    return VisibleMemory(room=notes, borrowed=tuple(borrowed))


@pytest.mark.parametrize(
    ("shown", "allowed", "stands"),
    [
        (visibility(), visibility(), True),
        (visibility("ab", "x"), visibility("ab", "x"), True),
        (visibility("ab", "xy"), visibility("ba", "yx"), True),
        (visibility("a"), visibility("ab"), True),
        (visibility("ab"), visibility("a"), False),
        (visibility("a"), visibility("b"), False),
        (visibility("a"), visibility(), False),
        (visibility("a"), VisibleMemory(), False),
        (visibility(borrowed="x"), visibility(borrowed="xy"), False),
        (visibility(borrowed="xy"), visibility(borrowed="x"), False),
        (visibility(borrowed="x"), visibility("x"), False),
        (visibility("x"), visibility(borrowed="x"), False),
        (VisibleMemory(), visibility("a"), True),
    ],
)
def test_growth_of_a_room_s_memory_can_wait_and_nothing_else(
    shown: VisibleMemory, allowed: VisibleMemory, stands: bool
) -> None:
    assert is_still_allowed(shown.shown, allowed.shown) == stands


def block(label: str = "shopping", entries: str = "ab", **rest: object) -> SharedList:
    """A block with entries by their letters."""
    fields: dict[str, object] = {
        "id": BlockId(1),
        "person_id": PersonId(7),
        "slug": label,
        "label": label,
        "description": "d",
        "limit": 100,
        "is_read_only": False,
        "made_by": PersonId(1),
        **rest,
    }
    made = Block(**fields)  # type: ignore[arg-type]
    return SharedList(
        person_id=made.person_id,
        kind="block",
        slug=label,
        target=f"block:{label}",
        limit=made.limit,
        entries=tuple(entries),
        block=made,
    )


def team(entries: str = "ab") -> SharedList:
    return replace(block(entries=entries), kind="team", block=None, person_id=PersonId(8))


@pytest.mark.parametrize(
    ("allowed", "stands"),
    [
        ((team(), block()), True),
        ((team("abc"), block(entries="abc")), True),
        ((team("a"), block()), False),
        ((team("ac"), block()), False),
        ((team(), block(entries="ac")), False),
        ((team(),), False),
        ((team(), block(), block("other", "", id=BlockId(2), person_id=PersonId(9))), False),
        ((team(), block(description="e")), False),
        ((team(), block(limit=200)), False),
        ((team(), block(is_read_only=True)), False),
        ((team(), block("renamed")), False),
    ],
)
def test_what_is_added_to_shared_lists_can_be_told_and_nothing_else(
    allowed: tuple[SharedList, ...], stands: bool
) -> None:
    shown = VisibleMemory(shared=(team(), block()))
    assert is_still_allowed(shown.shown, VisibleMemory(shared=allowed).shown) == stands


def test_the_same_words_in_two_lists_are_two_entries() -> None:
    shown, allowed = (
        VisibleMemory(shared=(team("a"),)),
        VisibleMemory(shared=(team(""), block(entries="a"))),
    )
    assert not is_still_allowed(select_shared(shown.shown), select_shared(allowed.shown))


def test_marks_are_kept_as_they_are() -> None:
    shown = visibility("ab", "xy").shown
    assert load_shown(dump_shown(shown)) == shown
    assert dump_shown(shown) == dump_shown(load_shown(dump_shown(shown)))
