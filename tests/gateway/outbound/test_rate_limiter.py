"""The rate limiter: a burst and an average for each chat, an average over all."""

import asyncio

import pytest

from adapters.contract import Pace
from adapters.ids import Address
from gateway.chats import name_chat
from gateway.outbound.rate_limiter import RateLimiter
from tests.patience import PATIENCE


def chat(name: str, thread: str | None = None, *, is_direct: bool = True) -> str:
    return name_chat(Address(chat_id=name, thread_id=thread, is_direct=is_direct))


def passed(started: float) -> float:
    return asyncio.get_running_loop().time() - started


async def test_without_limits_nobody_waits() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0, edit_interval=0, per_second=0))
    async with asyncio.timeout(PATIENCE):
        for _ in range(1000):
            await rate_limiter.wait(chat("a"))


async def test_a_chat_waits_for_its_interval_and_others_do_not() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0.05, edit_interval=0, per_second=0))
    started = asyncio.get_running_loop().time()
    await rate_limiter.wait(chat("a"))
    await rate_limiter.wait(chat("b"))
    await rate_limiter.wait(chat("a"))
    assert passed(started) >= 0.04


@pytest.mark.parametrize(("is_direct", "interval"), [(True, 0.1), (False, 0.2)])
async def test_a_quiet_chat_takes_a_burst_and_then_the_average(
    is_direct: bool, interval: float
) -> None:
    pace = Pace(chat_interval=0.1, room_interval=0.2, burst=5, edit_interval=0, per_second=0)
    rate_limiter = RateLimiter(pace)
    started = asyncio.get_running_loop().time()
    threads = [chat("a", f"thread {number}", is_direct=is_direct) for number in range(7)]
    for thread in threads[:5]:  # the threads of a chat share its bucket
        assert rate_limiter.is_free(thread)
        await rate_limiter.wait(thread)
    assert not rate_limiter.is_free(threads[5])
    for thread in threads[5:]:
        await rate_limiter.wait(thread)
    assert passed(started) >= 1.9 * interval
    assert rate_limiter.is_free(chat("b", is_direct=is_direct))


async def test_a_pause_that_the_platform_asks_for_empties_the_bucket() -> None:
    pace = Pace(chat_interval=0.05, burst=5, edit_interval=0, per_second=0)
    rate_limiter = RateLimiter(pace)
    started = asyncio.get_running_loop().time()
    rate_limiter.note_limited(chat("a"), 0.2)
    assert rate_limiter.is_free(chat("b"))
    await rate_limiter.wait(chat("a"))
    assert passed(started) >= 0.19
    await rate_limiter.wait(chat("a"))
    assert passed(started) >= 0.24, "no burst follows"


async def test_over_all_chats_the_average_stays_at_the_limit() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0, edit_interval=0, per_second=100))
    started = asyncio.get_running_loop().time()
    for number in range(115):
        await rate_limiter.wait(chat(f"chat {number}"))
    # A second's worth goes at once, the rest at the limit.
    assert passed(started) >= 0.1


async def test_courtesy_has_no_room_while_messages_wait() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0, edit_interval=0, per_second=1))
    assert rate_limiter.has_room()
    await rate_limiter.wait(chat("a"))
    waiting = asyncio.create_task(rate_limiter.wait(chat("b")))
    await asyncio.sleep(0)
    assert not rate_limiter.has_room()
    waiting.cancel()


async def test_messages_without_a_waiting_person_let_answers_go_first() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0, edit_interval=0, per_second=100))
    order: list[str] = []

    async def send(name: str, *, is_patient: bool) -> None:
        if is_patient:
            await rate_limiter.give_way()
        await rate_limiter.wait(chat(name))
        order.append(name)

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for number in range(130):  # a second's worth goes at once, and the rest waits
            group.create_task(rate_limiter.wait(chat(f"chat {number}")))
        for number in range(10):
            group.create_task(send(f"reminder {number}", is_patient=True))
        await asyncio.sleep(0)
        for number in range(3):
            group.create_task(send(f"answer {number}", is_patient=False))
    assert len(order) == 13
    assert max(order.index(f"answer {number}") for number in range(3)) <= 4
    assert [name for name in order if "reminder" in name] == [f"reminder {n}" for n in range(10)]


async def test_reminders_leave_a_place_for_an_answer() -> None:
    rate_limiter = RateLimiter(Pace(chat_interval=0, edit_interval=0, per_second=20))
    for number in range(20):  # a second's worth goes at once
        await rate_limiter.wait(chat(f"chat {number}"))
    async with asyncio.timeout(PATIENCE):
        for number in range(3):
            await rate_limiter.give_way()
            await rate_limiter.wait(chat(f"reminder {number}"))
            assert rate_limiter.has_room()
