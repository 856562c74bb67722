"""The gate: so many at once, so many of one person, and nobody waits behind a crowd."""

import asyncio
from contextlib import suppress

from agent_core.ids import PersonId
from gateway.fairness import FairSemaphore

ANA, BEN, CYD = PersonId(1), PersonId(2), PersonId(3)


class Yard:
    """People who pass a gate one step at a time."""

    def __init__(self, gate: FairSemaphore) -> None:
        self.gate = gate
        self.inside: list[PersonId] = []
        self.order: list[PersonId] = []
        self.channels: list[asyncio.Event] = []

    async def visit(self, person: PersonId) -> None:
        channel = asyncio.Event()
        async with self.gate.place(person):
            self.inside.append(person)
            self.order.append(person)
            self.channels.append(channel)
            await channel.wait()
            self.inside.remove(person)


async def finalize() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_more_than_the_limit_are_inside() -> None:
    yard = Yard(FairSemaphore(at_once=2, per_person=2))
    async with asyncio.TaskGroup() as group:
        for person in (ANA, BEN, CYD):
            group.create_task(yard.visit(person))
        await finalize()
        assert yard.inside == [ANA, BEN]
        yard.channels[0].set()
        await finalize()
        assert yard.inside == [BEN, CYD]
        for channel in yard.channels:
            channel.set()


async def test_one_person_cannot_use_every_slot() -> None:
    yard = Yard(FairSemaphore(at_once=3, per_person=2))
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(yard.visit(ANA))
        group.create_task(yard.visit(BEN))
        await finalize()
        assert sorted(yard.inside) == [ANA, ANA, BEN]
        while len(yard.order) < 6:
            for channel in yard.channels:
                channel.set()
            await finalize()
        for channel in yard.channels:
            channel.set()


async def test_waiters_get_slots_round_robin_by_person() -> None:
    yard = Yard(FairSemaphore(at_once=1, per_person=1))
    async with asyncio.TaskGroup() as group:
        for person in (ANA, ANA, ANA, BEN, CYD):
            group.create_task(yard.visit(person))
        await finalize()
        for step in range(5):
            yard.channels[step].set()
            await finalize()
    assert yard.order == [ANA, ANA, BEN, CYD, ANA]


async def test_a_cancelled_waiter_leaves_its_slot_to_the_next() -> None:
    yard = Yard(FairSemaphore(at_once=1, per_person=1))
    async with asyncio.TaskGroup() as group:
        group.create_task(yard.visit(ANA))
        await finalize()
        quitter = group.create_task(yard.visit(BEN))
        group.create_task(yard.visit(CYD))
        await finalize()
        quitter.cancel()
        with suppress(asyncio.CancelledError):
            await quitter
        yard.channels[0].set()
        await finalize()
        assert yard.inside == [CYD]
        yard.channels[-1].set()


async def test_a_waiter_cancelled_on_admission_returns_its_slot() -> None:
    yard = Yard(FairSemaphore(at_once=1, per_person=1))
    async with asyncio.TaskGroup() as group:
        group.create_task(yard.visit(ANA))
        await finalize()
        quitter = group.create_task(yard.visit(BEN))
        group.create_task(yard.visit(CYD))
        await finalize()
        yard.channels[0].set()
        await asyncio.sleep(0)  # Ana leaves, and Ben's turn is set but not taken up
        quitter.cancel()
        await finalize()
        assert yard.inside == [CYD]
        yard.channels[-1].set()


async def test_a_cancelled_waiter_is_skipped() -> None:
    yard = Yard(FairSemaphore(at_once=1, per_person=1))
    async with asyncio.TaskGroup() as group:
        group.create_task(yard.visit(ANA))
        await finalize()
        quitter = group.create_task(yard.visit(BEN))
        group.create_task(yard.visit(CYD))
        await finalize()
        yard.channels[0].set()
        quitter.cancel()  # Ben's place is asked for before Ben can say that he left
        await finalize()
        assert yard.inside == [CYD]
        yard.channels[-1].set()


async def test_a_turn_can_release_its_slot_while_it_waits() -> None:
    gate = FairSemaphore(at_once=1, per_person=1)
    paused, order = asyncio.Event(), []

    async def wait_outside() -> None:
        async with gate.place(ANA):
            async with gate.released(ANA):
                await paused.wait()
            order.append(ANA)

    yard = Yard(gate)
    async with asyncio.TaskGroup() as group:
        group.create_task(wait_outside())
        await finalize()
        group.create_task(yard.visit(BEN))
        await finalize()
        assert yard.inside == [BEN]
        paused.set()
        await finalize()
        assert order == [], "the place is taken"
        yard.channels[0].set()
    assert order == [ANA]


async def test_a_turn_cancelled_without_its_slot_returns_it_once() -> None:
    gate = FairSemaphore(at_once=1, per_person=1)
    paused = asyncio.Event()

    async def wait_outside() -> None:
        async with gate.place(ANA), gate.released(ANA):
            await paused.wait()

    yard = Yard(gate)
    async with asyncio.TaskGroup() as group:
        for is_late in (False, True):
            waiting = group.create_task(wait_outside())
            await finalize()
            visitor = group.create_task(yard.visit(BEN))
            await finalize()
            if is_late:
                paused.set()
                await finalize()
            waiting.cancel()
            await finalize()
            other = group.create_task(yard.visit(CYD))
            await finalize()
            assert yard.inside == [BEN], "there is one place"
            yard.channels[-1].set()
            await visitor
            await finalize()
            assert yard.inside == [CYD]
            yard.channels[-1].set()
            await other
