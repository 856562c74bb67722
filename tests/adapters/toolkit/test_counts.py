"""Member counts are cached only where that reveals nothing."""

import pytest

from adapters.errors import Unreachable
from adapters.toolkit.caches import MemberCounts


class Room:
    """Tells how many are in it, and how often it was asked."""

    def __init__(self, *counts: int | None) -> None:
        self.counts = [*counts]
        self.asked = 0

    async def report(self) -> int | None:
        self.asked += 1
        return self.counts.pop(0)


@pytest.mark.parametrize("people", [2, 40, None])
async def test_other_members_are_cached(people: int | None) -> None:
    counts, room = MemberCounts(60), Room(people, 1)
    assert [await counts.count("room", room.report) for _ in range(3)] == [people] * 3
    assert room.asked == 1


async def test_an_empty_room_is_counted_every_time() -> None:
    counts, room = MemberCounts(60), Room(1, 1, 0, 2, 1)
    assert [await counts.count("room", room.report) for _ in range(5)] == [1, 1, 0, 2, 2]


async def test_each_room_is_counted_by_itself() -> None:
    counts = MemberCounts(60)
    assert await counts.count("one", Room(5).report) == 5
    assert await counts.count("two", Room(7).report) == 7


async def test_an_old_count_is_refreshed() -> None:
    counts, room = MemberCounts(0), Room(3, 4)
    assert [await counts.count("room", room.report) for _ in range(2)] == [3, 4]


async def test_a_failed_count_is_not_cached() -> None:
    async def fail() -> int:
        raise Unreachable("gone")

    counts = MemberCounts(60)
    with pytest.raises(Unreachable):
        await counts.count("room", fail)
    assert await counts.count("room", Room(3).report) == 3
