"""Workers: one a key, all keys at once, and an error that stays where it happened."""

import asyncio
from collections import deque

from agent_core.ids import TurnId, find_current_turn, set_turn, use_turn
from gateway.fairness import Workers


class Diary:
    """Notes what was served, and can be told to hold or to fail."""

    def __init__(self) -> None:
        self.served: list[tuple[str, int]] = []
        self.failed: list[tuple[str, int]] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def serve(self, key: str, queue: deque[int]) -> None:
        if key in self.gates:
            await self.gates[key].wait()
        item = queue[0]
        if item < 0:
            raise RuntimeError("planned")
        queue.popleft()
        self.served.append((key, item))

    async def fail(self, key: str, item: int, error: Exception) -> None:
        assert str(error) == "planned"
        self.failed.append((key, item))


async def test_items_of_one_key_are_served_in_order() -> None:
    diary = Diary()
    async with asyncio.TaskGroup() as group:
        workers = Workers(group, diary.serve, diary.fail)
        for item in range(20):
            workers.put("a", item)
    assert diary.served == [("a", item) for item in range(20)]


async def test_a_key_that_waits_holds_up_no_other() -> None:
    diary = Diary()
    diary.gates["slow"] = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        workers = Workers(group, diary.serve, diary.fail)
        workers.put("slow", 1)
        workers.put("quick", 2)
        while not diary.served:
            await asyncio.sleep(0)
        assert diary.served == [("quick", 2)]
        assert workers.is_busy("slow")
        diary.gates["slow"].set()
    assert diary.served[-1] == ("slow", 1)


async def test_a_worker_is_gone_once_its_key_has_no_work() -> None:
    diary = Diary()
    async with asyncio.TaskGroup() as group:
        workers = Workers(group, diary.serve, diary.fail)
        workers.put("a", 1)
        assert len(workers) == 1
    assert len(workers) == 0
    assert not workers.waiting("a")


async def test_an_error_is_reported_and_the_rest_of_the_key_goes_on() -> None:
    diary = Diary()
    async with asyncio.TaskGroup() as group:
        workers = Workers(group, diary.serve, diary.fail)
        for item in (1, -2, 3):
            workers.put("a", item)
    assert diary.served == [("a", 1), ("a", 3)]
    assert diary.failed == [("a", -2)]


async def test_an_item_begins_without_the_turn_of_who_put_it_or_of_the_one_before() -> None:
    found: list[TurnId | None] = []

    async def serve(_: str, queue: deque[int]) -> None:
        found.append(find_current_turn())
        set_turn(TurnId(queue.popleft()))

    async with asyncio.TaskGroup() as group:
        workers = Workers(group, serve, Diary().fail)
        with use_turn(TurnId(12)):
            workers.put("a", 1)
            workers.put("a", 2)
    assert found == [None, None]
