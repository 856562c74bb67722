"""Buttons are sent in rows, and presses are stored before they are answered."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.messages import Button, ButtonPress
from adapters.telegram.payloads import lay_out, read_key
from adapters.telegram.receive import pack, receive
from tests.adapters.telegram.rig import ANNA, Rig, to
from tests.adapters.telegram.updates import ANNA as PERSON
from tests.adapters.telegram.updates import BOT, GROUP, ME, PRIVATE
from tests.emulators import telegram_faults as faults

YES = Button(key="yes:1", label="Yes", style="good")
NO = Button(key="no:1", label="No", style="danger")
LATER = Button(key="later:1", label="Ask me later")


def press(**changes: Any) -> dict[str, Any]:
    message = {"message_id": 5, "from": BOT, "chat": PRIVATE, "date": 1_763_000_000, "text": "?"}
    query = {"id": "1", "from": PERSON, "message": message, "data": "t:yes:1"}
    return {"update_id": 1, "callback_query": query | changes}


def read(update: dict[str, Any]) -> ButtonPress | None:
    found = receive(pack(update, ME, now=1_763_000_000_500))
    assert found is None or isinstance(found, ButtonPress)
    return found


def test_a_press_is_read_with_its_key_its_place_and_its_time() -> None:
    found = read(press())
    assert found is not None
    assert (found.key, found.message_id, found.sent_at) == ("yes:1", "5", 1_763_000_000_500)
    assert (found.address.chat_id, found.address.thread_id, found.address.is_direct) == (
        "11",
        None,
        True,
    )
    assert (found.sender.user_id, found.sender.display_name) == ("11", "Anna Lee")


def test_a_press_in_a_topic_belongs_there() -> None:
    message = {"message_id": 5, "chat": GROUP, "message_thread_id": 9, "is_topic_message": True}
    found = read(press(message=message))
    assert found is not None
    assert (found.address.thread_id, found.address.is_direct) == ("9", False)


def test_a_press_below_a_message_that_is_too_old_has_its_chat() -> None:
    found = read(press(message={"message_id": 5, "chat": GROUP, "date": 0}))
    assert found is not None
    assert (found.address.chat_id, found.message_id) == (str(GROUP["id"]), "5")


@pytest.mark.parametrize(
    "changes", [{"data": "other"}, {"data": ""}, {"message": None}, {"from": None}]
)
def test_a_press_on_a_foreign_message_is_ignored(changes: dict[str, Any]) -> None:
    assert read(press(**changes)) is None


@pytest.mark.parametrize("changes", [{"data": 7}, {"message": {"message_id": 5}}, {"from": {}}])
def test_a_press_that_can_not_be_read_is_a_value_error(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        read(press(**changes))


def test_short_labels_share_a_row_and_long_ones_do_not() -> None:
    long = Button(key="x", label="y" * 60)
    rows = [[key.label for key in row] for row in lay_out([YES, NO, LATER, YES, long, YES])]
    assert rows == [["Yes", "No", "Ask me later"], ["Yes"], ["y" * 60], ["Yes"]]
    assert lay_out([]) == ()


def test_the_longest_key_fits_and_is_read_again() -> None:
    ((key,),) = lay_out([Button(key="k" * 40, label="x")])
    assert len(key.data.encode()) <= 64
    assert read_key(key.data) == "k" * 40


async def test_styles_are_sent_to_telegram(rig: Rig) -> None:
    await rig.adapter.send(replace(to(ANNA, "Sure?"), buttons=(YES, NO, LATER)))
    (shown,) = rig.api.messages(ANNA)
    assert [key.get("style") for key in shown.keyboard[0]] == ["success", "danger", None]


@pytest.mark.parametrize(
    "fault",
    [faults.refused("Bad Request: query is too old"), faults.DROP, faults.http(502),
     faults.retry_after(30), faults.blocked(), faults.refused("Unauthorized", 401)],
)  # fmt: skip
async def test_a_press_that_cannot_be_answered_counts(rig: Rig, fault: faults.Fault) -> None:
    await rig.adapter.send(replace(to(ANNA, "Sure?"), buttons=(YES, NO)))
    rig.api.fail("answerCallbackQuery", kind=fault)
    await rig.api.presses(ANNA, "No")
    await rig.inlet.receives(1)
    await rig.api.says(ANNA, "go on")
    await rig.inlet.receives(2)
    assert rig.adapter.health().state == "connected"


async def test_a_press_may_be_garbage(rig: Rig) -> None:
    for query in ("garbage", {"id": 7}, {}):
        rig.api.push({"callback_query": query})
    await rig.api.says(ANNA, "still here?")
    await rig.inlet.receives(4)
