"""Ceilings of the day: reserved before each call, never overrun, forgotten by a crash."""

import asyncio
from dataclasses import replace

import pytest

from agent_core.agent.quotas.balance import DailyLimit
from agent_core.agent.quotas.reservations import QuotaReservation, Quotas
from agent_core.errors import QuotaExceeded
from agent_core.ids import PersonId
from agent_core.models.contract import Usage
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from tests.agent_core.agent.busy_writer import busy
from tests.agent_core.agent.quotas.priced_request import ASKED
from tests.agent_core.state.rows import add_person
from tests.fakes.quotas import quotas
from tests.patience import PATIENCE

NOON = 1_795_176_000_000
"""2026-11-20T12:00 UTC."""
DAY = 86_400_000
MIDNIGHT = NOON + DAY // 2

UNPRICED = replace(ASKED, model="llama")
"""A call is 100 to 1,100 tokens."""


@pytest.fixture
async def ann(database: Database) -> PersonId:
    return (await database.write("ann", lambda c: add_person(c, "ann"))).id


@pytest.fixture
async def bob(database: Database) -> PersonId:
    return (await database.write("bob", lambda c: add_person(c, "bob"))).id


class Clock:
    """A time of day that a test sets."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


def money(micro_dollars: int) -> DailyLimit:
    return DailyLimit(money=micro_dollars, tokens=0)


async def pay(
    database: Database, person_id: PersonId, micro_dollars: int | None, at: int, tokens: int = 0
) -> None:
    """A call that an earlier process made."""
    spent = ModelCall(
        purpose="turn",
        model="good",
        input_tokens=tokens,
        cache_read_tokens=0,
        cache_write_tokens=0,
        output_tokens=0,
        micro_dollars=micro_dollars,
    )

    def work(connection: Connection) -> None:
        usage.insert(connection, spent, person_id=person_id, turn_id=None, now=at)

    await database.write("pay", work)


def spend(reservation: QuotaReservation, micro_dollars: int) -> None:
    reservation.finalize("good", Usage(input_tokens=micro_dollars))


async def refusal(opened: Quotas, person_id: PersonId, **how: bool) -> QuotaExceeded:
    with pytest.raises(QuotaExceeded) as caught:
        await opened.reserve(person_id, ASKED, **how)
    return caught.value


async def test_what_was_spent_today_counts_and_yesterday_does_not(
    database: Database, ann: PersonId
) -> None:
    await pay(database, ann, 9_000, MIDNIGHT - DAY - 1)
    opened = quotas(database, Clock(), person=money(5_000))
    (await opened.reserve(ann, ASKED)).close()
    await pay(database, ann, 5_000, MIDNIGHT - DAY)
    refused = await refusal(quotas(database, Clock(), person=money(5_000)), ann)
    assert (refused.quota.subject, refused.quota.unit, refused.quota.limit) == (
        "person",
        "money",
        5_000,
    )
    assert refused.quota.resets_at == MIDNIGHT


async def test_a_person_at_the_ceiling_is_no_matter_to_others(
    database: Database, ann: PersonId, bob: PersonId
) -> None:
    opened = quotas(database, Clock(), person=money(5_000), deployment=money(100_000))
    await pay(database, ann, 5_000, NOON)
    await refusal(opened, ann)
    (await opened.reserve(bob, ASKED)).close()


async def test_the_gateway_stops_everybody(
    database: Database, ann: PersonId, bob: PersonId
) -> None:
    await pay(database, ann, 3_000, NOON)
    await pay(database, bob, 2_000, NOON)
    opened = quotas(database, Clock(), person=money(5_000), deployment=money(5_000))
    for person_id in (ann, bob):
        assert (await refusal(opened, person_id)).quota.subject == "deployment"


async def test_the_day_opens_again_at_midnight(database: Database, ann: PersonId) -> None:
    clock = Clock()
    opened = quotas(database, clock, person=money(5_000), deployment=money(5_000))
    spend(await opened.reserve(ann, ASKED), 5_000)
    clock.now = MIDNIGHT - 1
    assert (await refusal(opened, ann)).quota.resets_at == MIDNIGHT
    clock.now = MIDNIGHT
    (await opened.reserve(ann, ASKED)).close()


async def test_a_day_is_that_of_the_persons_own_zone(
    database: Database, ann: PersonId, bob: PersonId
) -> None:
    person = await database.read(lambda c: people.find(c, person_id=ann))
    assert person
    there = replace(person, time_zone="Europe/Vienna")
    await database.write("zone", lambda c: people.set_preferences(c, there))
    for person_id in (ann, bob):
        await pay(database, person_id, 5_000, MIDNIGHT - DAY - 1)  # 00:59 in Vienna
    opened = quotas(database, Clock(), person=money(5_000))
    assert (await refusal(opened, ann)).quota.resets_at == MIDNIGHT - 3_600_000
    (await opened.reserve(bob, ASKED)).close()


async def test_a_call_without_a_price_counts_in_tokens(database: Database, ann: PersonId) -> None:
    await pay(database, ann, 9_999, NOON, tokens=1_000_000)
    opened = quotas(database, Clock(), person=DailyLimit(money=0, tokens=5_000))
    reserved = await opened.reserve(ann, UNPRICED)
    reserved.finalize("llama", Usage(input_tokens=4_000, output_tokens=950))
    with pytest.raises(QuotaExceeded) as caught:
        await opened.reserve(ann, UNPRICED)
    assert caught.value.quota.unit == "tokens"
    (await opened.reserve(ann, ASKED)).close()  # money is another ceiling


async def test_what_costs_nothing_goes_on_at_the_ceiling(database: Database, ann: PersonId) -> None:
    await pay(database, ann, 5_000, NOON)
    opened = quotas(database, Clock(), person=money(5_000))
    (await opened.reserve(ann, replace(ASKED, model="free"))).close()


async def test_near_the_ceiling_the_cheap_model_answers(database: Database, ann: PersonId) -> None:
    opened = quotas(database, Clock(), person=money(10_000))
    first = await opened.reserve(ann, ASKED, cheap="cheap")
    assert (first.request.model, first.used_cheap_model) == ("good", False)
    spend(first, 7_999)
    second = await opened.reserve(ann, ASKED, cheap="cheap")
    assert second.request.model == "good"
    spend(second, 1)
    third = await opened.reserve(ann, ASKED, cheap="cheap")
    assert (third.request.model, third.used_cheap_model) == ("cheap", True)
    assert third.request.messages == ASKED.messages


async def test_background_work_stops_before_anybody_else(database: Database, ann: PersonId) -> None:
    opened = quotas(database, Clock(), person=money(10_000))
    spend(await opened.reserve(ann, ASKED, is_background=True), 8_000)
    await refusal(opened, ann, is_background=True)
    (await opened.reserve(ann, ASKED)).close()


async def test_what_others_have_reserved_is_waited_for(database: Database, ann: PersonId) -> None:
    opened = quotas(database, Clock(), person=money(1_200))
    first = await opened.reserve(ann, ASKED)
    second = asyncio.create_task(opened.reserve(ann, ASKED))
    await opened.status(ann)
    assert not second.done()
    spend(first, 50)
    spend(await second, 50)


async def test_what_is_longer_in_tokens_than_estimated_is_reserved_as_such_from_then_on(
    database: Database, ann: PersonId
) -> None:
    opened = quotas(database, Clock(), person=money(3_000))
    first = await opened.reserve(ann, ASKED)
    first.finalize("good", Usage(cache_read_tokens=300))  # 3 tokens for each that was expected
    assert (await opened.status(ann))[0].spent.micro_dollars == 30
    second = await opened.reserve(ann, ASKED)  # 1,375 of 2,970
    third = await opened.reserve(ann, ASKED)
    fourth = asyncio.create_task(opened.reserve(ann, ASKED))
    await opened.status(ann)
    assert not fourth.done()
    second.close()
    third.close()
    (await fourth).close()


async def test_one_call_alone_may_begin_though_its_most_does_not_fit(
    database: Database, ann: PersonId
) -> None:
    opened = quotas(database, Clock(), person=money(500))
    first = await opened.reserve(ann, ASKED)
    first.close()
    opened = quotas(database, Clock(), person=money(9))
    await refusal(opened, ann)  # not even the least of it does


async def test_a_call_that_failed_gives_everything_back_and_one_that_broke_off_the_unused(
    database: Database, ann: PersonId
) -> None:
    opened = quotas(database, Clock(), person=money(10_000))
    (await opened.reserve(ann, ASKED)).close()
    assert (await opened.status(ann))[0].spent.micro_dollars == 0
    reserved = await opened.reserve(ann, ASKED)
    reserved.close(streamed=400)
    reserved.close(streamed=400)
    assert (await opened.status(ann))[0].spent.micro_dollars == 10 + 100
    (line,) = await database.read(lambda c: usage.list_lines(c, person_id=ann, since=0))
    assert (line.purpose, line.model, line.calls) == ("broken", "good", 1)
    assert line.charged.micro_dollars == 110, "a stop and a start make nothing cheaper"


async def test_a_cancelled_record_of_what_broke_off_is_written_once(
    database: Database, ann: PersonId
) -> None:
    opened = quotas(database, Clock())
    (await opened.reserve(ann, ASKED)).close(streamed=400)
    writing = asyncio.create_task(opened.write_broken())
    async with busy(database):
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await writing
    await opened.write_broken()
    lines = await database.read(lambda c: usage.list_lines(c, person_id=ann, since=0))
    assert [line.calls for line in lines] == [1]


async def test_what_others_hold_for_too_long_is_not_waited_for(
    database: Database, ann: PersonId
) -> None:
    opened = quotas(database, Clock(), person=money(1_200), max_wait=0.02)
    await opened.reserve(ann, ASKED)
    assert (await refusal(opened, ann)).quota.resets_at == MIDNIGHT


async def test_a_crash_leaves_no_reservation_behind(database: Database, ann: PersonId) -> None:
    crashed = quotas(database, Clock(), person=money(1_200))
    await crashed.reserve(ann, ASKED)
    started = quotas(database, Clock(), person=money(1_200))
    async with asyncio.timeout(PATIENCE):
        (await started.reserve(ann, ASKED)).close()


async def test_whoever_gives_up_waiting_holds_nothing(database: Database, ann: PersonId) -> None:
    opened = quotas(database, Clock(), person=money(1_200))
    first = await opened.reserve(ann, ASKED)
    waiting = asyncio.create_task(opened.reserve(ann, ASKED))
    await opened.status(ann)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first.close()
    async with asyncio.timeout(PATIENCE):
        (await opened.reserve(ann, ASKED)).close()


async def test_what_a_joined_account_spent_comes_in(database: Database, ann: PersonId) -> None:
    clock = Clock()
    opened = quotas(database, clock, person=money(5_000))
    spend(await opened.reserve(ann, ASKED), 1_000)
    await pay(database, ann, 5_000, NOON)
    clock.now += 60_000
    await refusal(opened, ann)


@pytest.mark.slow
@pytest.mark.parametrize("cost", [25, 40, 1_125])
@pytest.mark.parametrize("subject", ["person", "deployment"])
async def test_fifty_turns_at_once_do_not_overrun_a_ceiling(
    database: Database, ann: PersonId, bob: PersonId, subject: str, cost: int
) -> None:
    """Each makes calls until it is refused; all of them together stay below the ceiling, but
    for what nobody could know of one call."""
    limit = money(5_000)
    opened = quotas(database, Clock(), **{subject: limit})
    made: list[int] = []
    running = 0

    async def turn(number: int) -> None:
        nonlocal running
        while True:
            try:
                reserved = await opened.reserve(
                    ann if subject == "person" or number % 2 else bob, ASKED
                )
            except QuotaExceeded:
                return
            running += 1
            for _ in range(number % 4):
                await asyncio.sleep(0)
            if number % 7 == 0:
                reserved.close()  # the provider was busy
                running -= 1
                return
            spend(reserved, cost)
            running -= 1
            made.append(cost)

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(turn(number))
    assert running == 0
    assert sum(made) <= 5_000 + 1_125 - 10
    assert sum(made) > 5_000 - max(cost, 10), "what is left was of use to nobody"
