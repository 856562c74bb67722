"""Messages with unknown delivery are found by edits that change nothing."""

import pytest

from adapters.errors import RateLimited, Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.telegram.payloads import KnownIds
from tests.adapters.telegram.rig import ANNA, ROOM, Rig, running, to
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.inlet import FakeInlet

Known = PlatformMessageId


async def test_a_new_process_finds_it_among_other_peoples_messages(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as rig:
        before = await rig.adapter.send(to(ANNA, "before"))
        await rig.adapter.send(to(8, "to somebody else"))
        api.fail("sendMessage", kind=faults.LOSE)
        with pytest.raises(Unsure):
            await rig.adapter.send(to(ANNA, "in doubt"))
    for _ in range(10):
        await api.says(ANNA, "are you there?")
    async with running(api, inlet) as rig:
        found = await rig.adapter.find(to(ANNA, "in doubt"), [Known("3"), before])
        assert found == str(api.messages(ANNA)[1].message_id)
    assert api.texts(8) == ["to somebody else"]


async def test_a_message_that_never_arrived_is_not_found(rig: Rig) -> None:
    before = await rig.adapter.send(to(ANNA, "before"))
    rig.api.fail("sendMessage", kind=faults.DROP)
    with pytest.raises(Unsure):
        await rig.adapter.send(to(ANNA, "in doubt"))
    assert await rig.adapter.find(to(ANNA, "in doubt"), [before]) is None
    assert rig.api.calls["editMessageText"] <= 20
    assert rig.api.texts(ANNA) == ["before"]


async def test_later_messages_are_left_alone(rig: Rig) -> None:
    before = await rig.adapter.send(to(ROOM, "before"))
    rig.api.fail("sendMessage", kind=faults.DROP)
    with pytest.raises(Unsure):
        await rig.adapter.send(to(ROOM, "in doubt"))
    await rig.adapter.send(to(ROOM, "for somebody in another topic"))
    assert await rig.adapter.find(to(ROOM, "in doubt"), [before]) is None
    assert rig.api.texts(ROOM) == ["before", "for somebody in another topic"]


async def test_without_a_place_to_start_nothing_is_claimed(rig: Rig) -> None:
    with pytest.raises(Unsure):
        await rig.adapter.find(to(ANNA, "in doubt"), [])


@pytest.mark.parametrize("fault", [faults.DROP, faults.http(502)])
async def test_a_failed_search_claims_nothing(rig: Rig, fault: faults.Fault) -> None:
    before = await rig.adapter.send(to(ANNA, "before"))
    rig.api.fail("editMessageText", kind=fault)
    with pytest.raises(Unreachable):
        await rig.adapter.find(to(ANNA, "in doubt"), [before])
    rig.api.fail("editMessageText", kind=faults.retry_after(9))
    with pytest.raises(RateLimited):
        await rig.adapter.find(to(ANNA, "in doubt"), [before])


async def test_more_messages_than_can_be_looked_through_leave_it_unsure(rig: Rig) -> None:
    before = await rig.adapter.send(to(ANNA, "before"))
    for number in range(120):
        await rig.api.says(8, f"{number}")
    await rig.inlet.receives(120)
    with pytest.raises(Unsure):
        await rig.adapter.find(to(ANNA, "in doubt"), [before])
    assert rig.api.calls["editMessageText"] == 100


def test_private_chats_share_a_counter_and_supergroups_have_their_own() -> None:
    recent_ids = KnownIds()
    recent_ids.note_updates(
        [
            {"message": {"message_id": 900, "chat": {"id": 8}}},
            {"message": {"message_id": 20, "chat": {"id": ROOM}}},
            {"message": "poison"},
            {"message": {"message_id": "x", "chat": {"id": 8}}},
        ]
    )
    assert recent_ids.candidates(ANNA, 890).within_reach == [*range(891, 921)]
    assert recent_ids.candidates(ROOM, 10).within_reach == [*range(11, 41)]
    assert recent_ids.candidates(ROOM - 1, 10).within_reach == [*range(11, 111)]
    assert not recent_ids.candidates(ROOM - 1, 10).are_more
    assert recent_ids.candidates(ANNA, 10).are_more


def test_the_memory_of_messages_is_bounded() -> None:
    recent_ids = KnownIds()
    for number in range(1, 5001):
        recent_ids.note_sent(ROOM, number)
    assert recent_ids.candidates(ROOM, 890).within_reach == [*range(891, 905)]
    assert recent_ids.candidates(ROOM, 4990).within_reach == [*range(5001, 5021)]
