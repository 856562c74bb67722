"""What every chat platform does for Talaria: hears a person, and shows them what is said."""

import asyncio

import pytest

from adapters.abilities import CanDelete, CanEdit, CanType
from adapters.ids import EventId
from adapters.messages import RawEvent
from tests.contracts.long_text import LONG
from tests.contracts.rig import Rig, running
from tests.contracts.speech import able, message, need, read
from tests.fakes.inlet import FakeInlet
from tests.patience import until


async def test_what_a_person_writes_is_handed_over_and_read(rig: Rig, inlet: FakeInlet) -> None:
    said = await rig.says("Good morning 👋")
    (event,) = await inlet.receives(1)
    found = read(rig, event)
    assert (found.text, found.address, found.is_addressed) == ("Good morning 👋", rig.address, True)
    assert (found.message_id, found.is_edit) == (said, False)
    assert found.sender.user_id
    assert read(rig, event) == found


async def test_messages_come_in_in_order(rig: Rig, inlet: FakeInlet) -> None:
    for number in range(20):
        await rig.says(f"number {number}")
    found = [read(rig, event).text for event in await inlet.receives(20)]
    assert found == [f"number {n}" for n in range(20)]


async def test_what_was_not_stored_is_handed_over_again(rig: Rig, inlet: FakeInlet) -> None:
    inlet.refusals = 2
    await rig.says("keep me")
    (event,) = await inlet.receives(1)
    assert inlet.handed_over == [event.event_id] * 3


async def test_a_changed_message_comes_in_as_an_edit_of_the_first(
    rig: Rig, inlet: FakeInlet
) -> None:
    need(rig, "edits")
    said = await rig.says("frist")
    await inlet.receives(1)
    await rig.edits(said, "first")
    first, second = [read(rig, event) for event in await inlet.receives(2)]
    assert (first.text, first.is_edit, second.text, second.is_edit) == (
        "frist",
        False,
        "first",
        True,
    )
    assert first.message_id == second.message_id == said


async def test_a_message_is_shown_and_named(rig: Rig) -> None:
    first = await rig.adapter.send(message(rig, "one", "k1"))
    second = await rig.adapter.send(message(rig, "two", "k2"))
    assert rig.shown() == ["one", "two"]
    assert first != second


async def test_an_answer_is_shown_whether_or_not_it_rings(rig: Rig, inlet: FakeInlet) -> None:
    said = await rig.says("well?")
    await rig.adapter.send(message(rig, "yes", "k1", reply_to=said))
    await rig.adapter.send(message(rig, "no", "k2", reply_to=said, is_silent=True))
    assert rig.shown() == ["yes", "no"]


async def test_an_edit_changes_one_message_and_may_be_repeated(rig: Rig) -> None:
    adapter = able(rig, CanEdit)
    await rig.adapter.send(message(rig, "one", "k1"))
    second = await rig.adapter.send(message(rig, "two", "k2"))
    for _ in range(2):
        await adapter.edit(message(rig, "two, and more", "k2"), second)
    await until(lambda: rig.shown() == ["one", "two, and more"])


async def test_a_message_that_grows_ends_as_the_final_words_say(rig: Rig) -> None:
    need(rig, "grows")
    adapter = able(rig, CanEdit)
    grown = await rig.adapter.send(message(rig, "Let me", "k1", is_live=True))
    for text in ("Let me see", "Let me see: it is", "No. It is"):
        await adapter.edit(message(rig, text, "k1", is_live=True), grown)
    for _ in range(2):
        await adapter.edit(message(rig, "No. It is five.", "k1"), grown)
    await until(lambda: rig.shown() == ["No. It is five."])


async def test_what_an_earlier_process_left_growing_is_ended_by_the_next(
    resting: Rig, inlet: FakeInlet
) -> None:
    need(resting, "grows")
    adapter = able(resting, CanEdit)
    async with running(resting, inlet):
        grown = await adapter.send(message(resting, "Let me", "k1", is_live=True))
        await adapter.edit(message(resting, "Let me see", "k1", is_live=True), grown)
    resting.renew()
    adapter = able(resting, CanEdit)
    async with running(resting, inlet):
        for text in ("Let me see: it", "No. It"):
            await adapter.edit(message(resting, text, "k1", is_live=True), grown)
        for _ in range(2):
            await adapter.edit(message(resting, "No. It is five.", "k1"), grown)
        await until(lambda: resting.shown() == ["No. It is five."])


async def test_an_answer_to_what_is_gone_is_shown_all_the_same(rig: Rig) -> None:
    adapter = able(rig, CanDelete)
    gone = await rig.adapter.send(message(rig, "oops", "k1"))
    await adapter.delete(rig.address, gone)
    await rig.adapter.send(message(rig, "answer", "k2", reply_to=gone))
    await until(lambda: rig.shown() == ["answer"])


async def test_every_part_of_a_long_text_can_be_sent(rig: Rig) -> None:
    parts = rig.adapter.split(LONG)
    for number, part in enumerate(parts):
        await rig.adapter.send(message(rig, part, f"k{number}"))
    shown = "".join(rig.shown())
    assert shown.count("sentence") == 400
    assert shown.count("print('x')") == 600
    assert shown.endswith("The end.")


@pytest.mark.parametrize(
    "text",
    [
        "😀" * 5000,
        "שלום\u202e עולם " * 500,
        "*_`~[<@&>|\\" * 600,
        "> " * 300 + "deep",
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 400,
        "&lt;b&gt; <b>x</b> <@U1> <!here> @everyone <#C1> :smile:",
        "x\x00y\ud800z",
        "w" * 30_000,
    ],
)
async def test_the_strangest_texts_get_through(rig: Rig, text: str) -> None:
    parts = rig.adapter.split(text)
    for number, part in enumerate(parts):
        await rig.adapter.send(message(rig, part, f"k{number}"))
    assert len(rig.shown()) == len(parts)


@pytest.mark.parametrize(
    "text",
    ["a < b && c > d", "two\n\nlines", "1 * 2 * 3 _x_ `y` [l](u)", "👩‍👩‍👧 שלום", "/new it"],
)
async def test_words_come_in_letter_for_letter(rig: Rig, inlet: FakeInlet, text: str) -> None:
    await rig.says(text)
    (event,) = await inlet.receives(1)
    assert read(rig, event).text == text


async def test_a_text_always_has_a_first_part(rig: Rig) -> None:
    assert rig.adapter.split("") == ("",)
    assert rig.adapter.split("short **text**") == ("short **text**",)


async def test_typing_is_shown_without_a_word(rig: Rig) -> None:
    adapter = able(rig, CanType)
    await adapter.type(rig.address)
    assert rig.shown() == []
    assert adapter.typing_lasts > 0


async def test_many_messages_at_once_are_all_shown_once(rig: Rig) -> None:
    queued = [message(rig, f"number {n}", f"k{n}") for n in range(30)]
    sent = await asyncio.gather(*(rig.adapter.send(one) for one in queued))
    assert len(set(sent)) == 30
    assert sorted(rig.shown()) == sorted(one.text for one in queued)


@pytest.mark.parametrize("payload", ["", "null", "[1]", "{}", '{"update": 7}'])
async def test_an_event_that_can_not_be_read_is_a_value_error(resting: Rig, payload: str) -> None:
    with pytest.raises(ValueError):
        resting.adapter.receive(RawEvent(event_id=EventId("1"), payload=payload))
