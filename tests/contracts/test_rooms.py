"""Rooms and threads, who reads along there, and small signs on a message."""

from adapters.abilities import CanCount, CanDelete, CanReact
from adapters.messages import EmojiReaction, RawEvent
from tests.contracts.rig import Place, Rig
from tests.contracts.speech import able, message, need, read
from tests.fakes.inlet import FakeInlet
from tests.patience import until


async def test_a_mention_in_a_room_is_for_the_bot_and_is_answered_there(
    rig: Rig, inlet: FakeInlet
) -> None:
    need(rig, "rooms")
    assert rig.room
    said = await rig.says("hello there", place="room")
    (event,) = await inlet.receives(1)
    found = read(rig, event)
    assert (found.text, found.is_addressed, found.message_id) == ("hello there", True, said)
    assert (found.address.chat_id, found.address.is_direct) == (rig.room.chat_id, False)
    await rig.adapter.send(message(rig, "hello", address=found.address, reply_to=said))
    assert (rig.shown("room"), rig.shown("thread"), rig.shown()) == (["hello"], [], [])


async def test_what_is_said_in_a_thread_is_answered_in_the_thread(
    rig: Rig, inlet: FakeInlet
) -> None:
    need(rig, "threads")
    assert rig.room
    said = await rig.says("hello there", place="thread")
    (event,) = await inlet.receives(1)
    found = read(rig, event)
    assert (found.text, found.is_addressed, found.quote) == ("hello there", True, None)
    assert (found.address.chat_id, found.address.is_direct) == (rig.room.chat_id, False)
    assert found.address.thread_id
    await rig.adapter.send(message(rig, "hello", address=found.address, reply_to=said))
    assert (rig.shown("room"), rig.shown("thread"), rig.shown()) == ([], ["hello"], [])


async def test_two_places_of_one_room_are_told_apart(rig: Rig, inlet: FakeInlet) -> None:
    need(rig, "threads")
    places: tuple[Place, ...] = ("room", "thread", "thread")
    for place in places:
        await rig.says("hi", place=place)
    one, two, three = [read(rig, event).address for event in await inlet.receives(3)]
    assert one != two == three


async def test_heads_are_counted_and_never_too_few(rig: Rig) -> None:
    adapter = able(rig, CanCount)
    assert rig.room
    assert await adapter.count_people(rig.address) == 1
    count = await adapter.count_people(rig.room)
    assert count is not None
    assert count >= rig.room_people


async def test_a_message_that_was_seen_has_a_sign_until_it_is_taken_away(
    rig: Rig, inlet: FakeInlet
) -> None:
    adapter = able(rig, CanReact)
    said = await rig.says("hello")
    for _ in range(2):
        await adapter.react(rig.address, said, seen=True)
        await until(lambda: len(rig.reactions()) == 1)
    for _ in range(2):
        await adapter.react(rig.address, said, seen=False)
        await until(lambda: rig.reactions() == [])


async def test_a_reaction_to_the_bots_message_arrives_and_so_does_its_end(
    rig: Rig, inlet: FakeInlet
) -> None:
    need(rig, "reactions")
    user_id = read(rig, await hears_hello(rig, inlet)).sender.user_id
    await rig.adapter.send(message(rig, "hello"))
    changes: tuple[tuple[str, bool], ...] = (("👍", True), ("👍", False), ("👍", True))
    for number, (sign, is_on) in enumerate(changes):
        reacted = await rig.reacts(sign, is_on=is_on)
        event = (await inlet.receives(2 + number))[-1]
        found = rig.adapter.receive(event)
        assert isinstance(found, EmojiReaction)
        assert (found.address, found.message_id) == (rig.address, reacted)
        assert (found.user_id, found.added) == (user_id, (sign,) if is_on else ())
        # Where a message has one sign of a person, the others may be told as ended, too.
        assert (sign in found.removed) == (not is_on)


async def hears_hello(rig: Rig, inlet: FakeInlet) -> RawEvent:
    await rig.says("hello")
    (event,) = await inlet.receives(1)
    return event


async def test_a_deleted_message_is_gone_and_may_be_deleted_again(rig: Rig) -> None:
    adapter = able(rig, CanDelete)
    first = await rig.adapter.send(message(rig, "oops", "k1"))
    await rig.adapter.send(message(rig, "better", "k2"))
    for _ in range(2):
        await adapter.delete(rig.address, first)
    await until(lambda: rig.shown() == ["better"])
