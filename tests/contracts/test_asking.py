"""Buttons are shown, taken away, and come back as presses with their keys."""

import pytest

from adapters.abilities import CanAsk, CanEdit
from adapters.messages import Button
from tests.contracts.rig import Rig, running
from tests.contracts.speech import able, message, read, read_press
from tests.fakes.inlet import FakeInlet
from tests.patience import until

YES = Button(key="approve:AZ09_-:1", label="Yes, do it", style="good")
NO = Button(key="deny:AZ09_-:1", label="No", style="danger")
LATER = Button(key="k" * 40, label="Ask me again later, when there is more time for it 🕰 ok")


async def test_buttons_are_shown_and_an_edit_without_them_takes_them_away(rig: Rig) -> None:
    able(rig, CanAsk)
    asked = await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO, LATER)))
    assert rig.shown() == ["Sure?"]
    assert rig.buttons() == [YES.label, NO.label, LATER.label]
    for _ in range(2):
        await able(rig, CanEdit).edit(message(rig, "Done."), asked)
    await until(lambda: rig.shown() == ["Done."])
    assert rig.buttons() == []


async def test_an_edit_can_bring_other_buttons(rig: Rig) -> None:
    able(rig, CanAsk)
    asked = await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO)))
    await able(rig, CanEdit).edit(message(rig, "Sure?", buttons=(LATER,)), asked)
    await until(lambda: rig.buttons() == [LATER.label])
    assert rig.shown() == ["Sure?"]


async def test_as_many_buttons_as_are_promised_are_shown(rig: Rig) -> None:
    most = able(rig, CanAsk).most_buttons
    assert most >= 5
    many = tuple(Button(key=f"k:{n}", label=f"Choice {n}") for n in range(most))
    await rig.adapter.send(message(rig, "Which?", buttons=many))
    assert rig.buttons() == [button.label for button in many]


@pytest.mark.parametrize("button", [YES, NO, LATER])
async def test_a_press_comes_back_with_its_key_its_message_and_its_person(
    rig: Rig, inlet: FakeInlet, button: Button
) -> None:
    able(rig, CanAsk)
    await rig.says("ask me")
    asked = await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO, LATER)))
    await rig.presses(button.label)
    said, pressed = await inlet.receives(2)
    found = read_press(rig, pressed)
    assert (found.key, found.message_id) == (button.key, asked)
    assert found.sender.user_id == read(rig, said).sender.user_id
    assert (found.address.chat_id, found.address.is_direct) == (rig.address.chat_id, True)
    assert read_press(rig, pressed) == found


async def test_a_press_is_stored_before_it_is_acknowledged(rig: Rig, inlet: FakeInlet) -> None:
    able(rig, CanAsk)
    await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO)))
    acknowledged: list[int] = []
    inlet.before = lambda: acknowledged.append(rig.acknowledged())
    inlet.refusals = 2
    await rig.presses(NO.label)
    await inlet.receives(1)
    await until(lambda: rig.acknowledged() == 1)
    assert acknowledged == [0, 0, 0]


async def test_a_press_that_comes_again_is_one_event(rig: Rig, inlet: FakeInlet) -> None:
    able(rig, CanAsk)
    await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO)))
    await rig.presses(NO.label)
    await inlet.receives(1)
    for _ in range(2):
        await rig.redeliver()
    await rig.says("that was all")
    press, last = await inlet.receives(2)
    assert (read_press(rig, press).key, read(rig, last).text) == (NO.key, "that was all")


async def test_a_button_that_is_pressed_twice_is_pressed(rig: Rig, inlet: FakeInlet) -> None:
    able(rig, CanAsk)
    await rig.adapter.send(message(rig, "Sure?", buttons=(YES, NO)))
    for _ in range(2):
        await rig.presses(YES.label)
    await rig.says("that was all")
    await until(lambda: bool(inlet.taken) and "that was all" in [*inlet.taken.values()][-1].payload)
    *presses, _ = inlet.taken.values()
    assert 1 <= len(presses) <= 2
    assert {read_press(rig, press).key for press in presses} == {YES.key}


async def test_a_button_of_an_earlier_process_can_be_pressed(
    resting: Rig, inlet: FakeInlet
) -> None:
    able(resting, CanAsk)
    async with running(resting, FakeInlet()):
        asked = await resting.adapter.send(message(resting, "Sure?", buttons=(YES, NO)))
    resting.renew()
    async with running(resting, inlet):
        await resting.presses(NO.label)
        (event,) = await inlet.receives(1)
        found = read_press(resting, event)
        assert (found.key, found.message_id) == (NO.key, asked)
        await until(lambda: resting.acknowledged() == 1)
        await able(resting, CanEdit).edit(message(resting, "No, then."), asked)
        await until(lambda: resting.buttons() == [])
