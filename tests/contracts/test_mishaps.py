"""Outages, repeats, pauses and chats that are gone: nothing lost, nothing twice."""

import pytest

from adapters.abilities import CanAsk, CanEdit, CanFetch, CanFind
from adapters.errors import ChatGone, RateLimited, Unreachable, Unsure
from adapters.messages import Button, InboundMessage, OutboundFile
from tests.contracts.rig import Place, Rig, running
from tests.contracts.speech import able, deliver, message, need, read
from tests.fakes.inlet import FakeInlet
from tests.patience import until


async def texts(rig: Rig, inlet: FakeInlet, count: int) -> list[str]:
    """What was said to the bot so far, once there is so much of it.

    A platform may hand over more, as long as it reads that as not being meant for the bot.
    """
    await until(lambda: len(heard(rig, inlet)) >= count)
    return [said.text for said in heard(rig, inlet)]


def heard(rig: Rig, inlet: FakeInlet) -> list[InboundMessage]:
    """The messages to the bot that were taken, in order."""
    found = [rig.adapter.receive(event) for event in inlet.taken.values()]
    return [one for one in found if isinstance(one, InboundMessage) and one.is_addressed]


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
    await rig.clear_faults()
    await until(lambda: rig.adapter.health().state == "connected")
    missed = [f"missed {number}" for number in range(5)]
    assert await texts(rig, inlet, 6) == ["before", *missed]
    await rig.says("after")
    assert await texts(rig, inlet, 7) == ["before", *missed, "after"]


async def test_a_long_silence_is_caught_up_with_whole(resting: Rig, inlet: FakeInlet) -> None:
    """More than any platform gives in one page."""
    rig = resting
    async with running(rig, inlet):
        await rig.says("before")
        await inlet.receives(1)
    missed = [f"missed {number}" for number in range(230)]
    for text in missed:
        await rig.says_unheard(text)
    rig.renew()
    async with running(rig, inlet):
        assert await texts(rig, inlet, 231) == ["before", *missed]


async def test_rooms_and_threads_are_caught_up_with_too(resting: Rig, inlet: FakeInlet) -> None:
    rig = resting
    need(rig, "rooms")
    threads: tuple[Place, ...] = ("thread",) if "threads" in rig.traits else ()
    places: tuple[Place, ...] = ("direct", "room", *threads)
    async with running(rig, inlet):
        for place in places:
            await rig.says(f"{place} before", place=place)
        await inlet.receives(len(places))
    for number in range(3):
        for place in places:
            await rig.says_unheard(f"{place} {number}", place=place)
    rig.renew()
    async with running(rig, inlet):
        found = await texts(rig, inlet, 4 * len(places))
        assert len(found) == 4 * len(places)
        for place in places:
            said = [text for text in found if text.startswith(place)]
            assert said == [f"{place} before", *(f"{place} {number}" for number in range(3))]
        await rig.says("after")
        assert (await texts(rig, inlet, 4 * len(places) + 1))[-1] == "after"


async def test_a_store_that_refuses_while_it_is_caught_up_loses_nothing(
    resting: Rig, inlet: FakeInlet
) -> None:
    rig = resting
    async with running(rig, inlet):
        await rig.says("before")
        await inlet.receives(1)
    missed = [f"missed {number}" for number in range(5)]
    for text in missed:
        await rig.says_unheard(text)
    inlet.refusals = 1  # pauses between attempts may grow fast
    rig.renew()
    async with running(rig, inlet):
        assert sorted(await texts(rig, inlet, 6)) == ["before", *missed]


async def test_processes_that_die_half_way_through_lose_nothing(
    resting: Rig, inlet: FakeInlet
) -> None:
    """Each is ended as soon as a little of what was missed is in: marks must not run ahead."""
    rig = resting
    said = ["before"]
    async with running(rig, inlet):
        await rig.says("before")
        await inlet.receives(1)
    for life in range(5):
        for number in range(7):
            said.append(f"life {life} unheard {number}")
            await rig.says_unheard(said[-1])
        known = len(heard(rig, inlet))
        rig.renew()
        async with running(rig, inlet):
            said.append(f"life {life} heard")
            await rig.says(said[-1])
            await texts(rig, inlet, known + 1)
    rig.renew()
    async with running(rig, inlet):
        said.append("the last")
        await rig.says("the last")
        assert sorted(await texts(rig, inlet, len(said))) == sorted(said)


async def test_everything_that_comes_twice_is_one_event(rig: Rig, inlet: FakeInlet) -> None:
    said = await rig.says("frist")
    expected = 1
    if "edits" in rig.traits:
        await inlet.receives(1)
        await rig.edits(said, "first")
        expected += 1
    if CanFetch in rig.abilities:
        notes = OutboundFile(name="notes.txt", media_type="text/plain", data=b"milk")
        await rig.says("my notes", files=[notes])
        expected += 1
    if "rooms" in rig.traits:
        await rig.says("in a room", place="room")
        expected += 1
    if "threads" in rig.traits:
        await rig.says("in a thread", place="thread")
        expected += 1
    if CanAsk in rig.abilities:
        button = Button(key="y", label="Yes")
        await rig.adapter.send(message(rig, "Sure?", buttons=(button,)))
        await rig.presses("Yes")
        expected += 1
    events = await inlet.receives(expected)
    found = [rig.adapter.receive(event) for event in events]
    for _ in range(2):
        inlet.handed_over.clear()
        await rig.redeliver()
        await until(lambda: bool(inlet.handed_over))
    await rig.says("last")
    events = await inlet.receives(expected + 1)
    assert [rig.adapter.receive(event) for event in events[:-1]] == found
    assert (len(events), read(rig, events[-1]).text) == (expected + 1, "last")


async def test_what_was_taken_moves_the_marks(rig: Rig, inlet: FakeInlet) -> None:
    need(rig, "marks")
    for number in range(12):
        await rig.says(f"number {number}")
    events = await inlet.receives(12)
    positions = [event.position for event in events]
    assert all(positions)
    assert positions == sorted(set(positions))
    reached = {event.channel: event.position for event in events}
    assert reached.items() <= (await inlet.marks()).items()


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


@pytest.mark.parametrize("mishap", ["lose_answer", "lose_request"])
async def test_an_unsure_question_in_a_thread_is_asked_once(
    rig: Rig, inlet: FakeInlet, mishap: str
) -> None:
    need(rig, "threads")
    able(rig, CanAsk)
    said = await rig.says("ask me", place="thread")
    (event,) = await inlet.receives(1)
    address = read(rig, event).address
    button = Button(key="y", label="Yes")
    queued = message(rig, "Sure?", address=address, reply_to=said, buttons=(button,))
    getattr(rig, mishap)()
    with pytest.raises(Unsure):
        await rig.adapter.send(queued)
    found = await able(rig, CanFind).find(queued, [said])
    if found is None:
        await deliver(rig, queued, [said])
    assert rig.shown("thread") == ["Sure?"]


async def test_what_surely_did_not_leave_is_told_apart(rig: Rig) -> None:
    await rig.cut()
    with pytest.raises(Unreachable):
        await rig.adapter.send(message(rig, "nobody there"))
    assert rig.shown() == []
    await rig.clear_faults()
    await until(lambda: rig.adapter.health().state == "connected")
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
