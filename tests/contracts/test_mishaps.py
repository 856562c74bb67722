"""Outages, repeats, pauses and chats that are gone: nothing lost, nothing twice."""

import pytest

from adapters.abilities import CanEdit, CanFind
from adapters.errors import ChatGone, RateLimited, Unreachable, Unsure
from tests.contracts.rig import Rig, connected, running, until
from tests.contracts.speech import able, deliver, message, need, read
from tests.fakes.inlet import FakeInlet


async def texts(rig: Rig, inlet: FakeInlet, count: int) -> list[str]:
    """What was said so far, once there is so much of it."""
    return [read(rig, event).text for event in await inlet.receives(count)]


# In


async def test_what_was_written_while_nobody_listened_comes_once_and_in_order(
    resting: Rig, inlet: FakeInlet
) -> None:
    rig = resting
    async with running(rig, inlet):
        await rig.says("before")
        await inlet.receives(1)
    for number in range(5):
        await rig.says_unheard(f"missed {number}")
    rig.renew()
    async with running(rig, inlet):
        missed = [f"missed {number}" for number in range(5)]
        assert await texts(rig, inlet, 6) == ["before", *missed]
        await rig.says("after")
        assert await texts(rig, inlet, 7) == ["before", *missed, "after"]
    rig.renew()
    async with running(rig, inlet):
        await rig.says("and again")
        assert (await texts(rig, inlet, 8))[-2:] == ["after", "and again"]


async def test_what_was_written_during_an_outage_comes_once_and_in_order(
    rig: Rig, inlet: FakeInlet
) -> None:
    await rig.says("before")
    await inlet.receives(1)
    await rig.cut()
    for number in range(5):
        await rig.says_unheard(f"missed {number}")
    await rig.mend()
    await connected(rig)
    missed = [f"missed {number}" for number in range(5)]
    assert await texts(rig, inlet, 6) == ["before", *missed]
    await rig.says("after")
    assert await texts(rig, inlet, 7) == ["before", *missed, "after"]


async def test_everything_that_comes_twice_is_one_event(rig: Rig, inlet: FakeInlet) -> None:
    for number in range(5):
        await rig.says(f"number {number}")
    await inlet.receives(5)
    handed_over = len(inlet.handed_over)
    await rig.redeliver()
    await until(lambda: len(inlet.handed_over) > handed_over)
    await rig.says("last")
    assert await texts(rig, inlet, 6) == [*(f"number {n}" for n in range(5)), "last"]


async def test_what_was_taken_moves_the_marks(rig: Rig, inlet: FakeInlet) -> None:
    need(rig, "marks")
    for number in range(12):
        await rig.says(f"number {number}")
    events = await inlet.receives(12)
    positions = [event.position for event in events]
    assert all(positions)
    assert positions == sorted(set(positions))
    assert {event.channel: event.position for event in events} == await inlet.marks()


# Out


@pytest.mark.parametrize("mishap", ["lose_answer", "lose_request"])
async def test_an_unsure_message_is_shown_once_in_the_end(rig: Rig, mishap: str) -> None:
    known = [await rig.adapter.send(message(rig, "before", "k0"))]
    newest = able(rig, CanFind).newest(rig.address)
    if newest is not None:
        known.append(newest)
    getattr(rig, mishap)()
    with pytest.raises(Unsure):
        await rig.adapter.send(message(rig, "in doubt", "k1"))
    found = await able(rig, CanFind).find(message(rig, "in doubt", "k1"), known)
    if found is None:
        found = await deliver(rig, message(rig, "in doubt", "k1"), known)
    assert rig.shown() == ["before", "in doubt"]
    await able(rig, CanEdit).edit(message(rig, "no doubt", "k1"), found)
    await until(lambda: rig.shown() == ["before", "no doubt"])


async def test_what_an_earlier_process_left_in_doubt_is_shown_once(
    resting: Rig, inlet: FakeInlet
) -> None:
    rig = resting
    async with running(rig, inlet):
        known = [await rig.adapter.send(message(rig, "before", "k0"))]
        rig.lose_answer()
        with pytest.raises(Unsure):
            await rig.adapter.send(message(rig, "in doubt", "k1"))
    rig.renew()
    async with running(rig, inlet):
        found = await able(rig, CanFind).find(message(rig, "in doubt", "k1"), known)
        if found is None:
            await deliver(rig, message(rig, "in doubt", "k1"), known)
        assert rig.shown() == ["before", "in doubt"]


async def test_what_surely_did_not_leave_is_told_apart(rig: Rig) -> None:
    await rig.cut()
    with pytest.raises(Unreachable):
        await rig.adapter.send(message(rig, "nobody there"))
    assert rig.shown() == []
    await rig.mend()
    await connected(rig)
    await rig.adapter.send(message(rig, "there again"))
    assert rig.shown() == ["there again"]


async def test_a_pause_is_as_long_as_the_platform_asks(rig: Rig) -> None:
    need(rig, "limits")
    rig.limit(17)
    with pytest.raises(RateLimited) as caught:
        await rig.adapter.send(message(rig, "too fast"))
    assert 17 <= caught.value.retry_after < 18
    await rig.adapter.send(message(rig, "slower"))
    assert rig.shown() == ["slower"]


async def test_a_chat_that_is_gone_is_told_for_good(rig: Rig, inlet: FakeInlet) -> None:
    if not rig.ways_to_go:
        pytest.skip("nobody leaves here")
    for number, way in enumerate(rig.ways_to_go):
        address = await rig.goes(way)
        with pytest.raises(ChatGone, match=r"\S+ \S+"):
            await rig.adapter.send(message(rig, "anyone?", f"k{number}", address=address))
