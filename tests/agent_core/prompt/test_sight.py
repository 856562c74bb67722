"""When a frozen prompt may go on being used in a room, by what it shows and what may be seen."""

import pytest

from agent_core.memory.store import MemoryLimits, Snapshot
from agent_core.prompt.sight import Sight, dump_marks, keeps_to, load_marks


def sight(room: str = "", lent: str = "") -> Sight:
    """Entries by their letters."""
    notes = Snapshot(memory=tuple(room), user=(), memory_size=0, user_size=0, limits=MemoryLimits())
    return Sight(room=notes, lent=tuple(lent))


@pytest.mark.parametrize(
    ("shown", "allowed", "stands"),
    [
        (sight(), sight(), True),
        (sight("ab", "x"), sight("ab", "x"), True),
        (sight("ab", "xy"), sight("ba", "yx"), True),
        (sight("a"), sight("ab"), True),
        (sight("ab"), sight("a"), False),
        (sight("a"), sight("b"), False),
        (sight("a"), sight(), False),
        (sight("a"), Sight(), False),
        (sight(lent="x"), sight(lent="xy"), False),
        (sight(lent="xy"), sight(lent="x"), False),
        (sight(lent="x"), sight("x"), False),
        (sight("x"), sight(lent="x"), False),
        (Sight(), sight("a"), True),
    ],
)
def test_growth_of_a_room_s_memory_can_wait_and_nothing_else(
    shown: Sight, allowed: Sight, stands: bool
) -> None:
    assert keeps_to(shown.marks, allowed.marks) == stands


def test_marks_are_kept_as_they_are() -> None:
    marks = sight("ab", "xy").marks
    assert load_marks(dump_marks(marks)) == marks
    assert dump_marks(marks) == dump_marks(load_marks(dump_marks(marks)))
