"""Deleting messages, reactions, and member counts."""

import pytest

from adapters.errors import (
    AdapterError,
    ChatGone,
    MessageGone,
    MessageLocked,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import PlatformMessageId
from tests.adapters.telegram.rig import ANNA, ROOM, Rig, to
from tests.emulators import telegram_faults as faults

HERE, THERE = to(ANNA, "").address, to(ROOM, "").address


async def test_a_message_too_old_to_delete_is_reported(rig: Rig) -> None:
    sent = await rig.adapter.send(to(ANNA, "old"))
    rig.api.fail("deleteMessage", kind=faults.refused("Bad Request: message can't be deleted"))
    with pytest.raises(MessageLocked):
        await rig.adapter.delete(HERE, sent)


async def test_eyes_are_shown_and_removed(rig: Rig) -> None:
    said = PlatformMessageId(str(await rig.api.says(ANNA, "hello")))
    for seen, indicators in ((True, ["👀"]), (True, ["👀"]), (False, []), (False, [])):
        await rig.adapter.react(HERE, said, seen=seen)
        assert rig.api.world.reactions == {(ANNA, int(said)): indicators}


async def test_a_reaction_that_cannot_be_shown_is_reported(rig: Rig) -> None:
    with pytest.raises(MessageGone):
        await rig.adapter.react(HERE, PlatformMessageId("99999"), seen=True)
    said = PlatformMessageId(str(await rig.api.says(ANNA, "hello")))
    rig.api.fail("setMessageReaction", kind=faults.refused("Bad Request: REACTION_INVALID"))
    with pytest.raises(Rejected):
        await rig.adapter.react(HERE, said, seen=True)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(faults.DROP, Unsure), (faults.http(502), Unreachable), (faults.blocked(), ChatGone)],
)
async def test_a_failed_reaction_is_mapped(
    rig: Rig, fault: faults.Fault, expected: type[AdapterError]
) -> None:
    said = PlatformMessageId(str(await rig.api.says(ANNA, "hello")))
    sent = await rig.adapter.send(to(ANNA, "oops"))
    rig.api.fail("setMessageReaction", kind=fault)
    rig.api.fail("deleteMessage", kind=fault)
    with pytest.raises(expected):
        await rig.adapter.react(HERE, said, seen=True)
    with pytest.raises(expected):
        await rig.adapter.delete(HERE, sent)


async def test_everybody_but_the_bot_is_counted(rig: Rig) -> None:
    rig.api.world.members[ROOM] = 6
    assert await rig.adapter.count_people(THERE) == 5
    rig.api.world.members[ROOM] = 2
    assert await rig.adapter.count_people(THERE) == 1
    assert await rig.adapter.count_people(HERE) == 1


@pytest.mark.parametrize(
    "names",
    [
        {"username": "friends"},
        {"active_usernames": ["friends"]},
        {"linked_chat_id": -1_002_000_000_001},
    ],
)
async def test_readers_of_public_groups_cannot_be_counted(
    rig: Rig, names: dict[str, object]
) -> None:
    rig.api.world.members[ROOM] = 2
    rig.api.world.chats[ROOM] |= names
    assert await rig.adapter.count_people(THERE) is None


async def test_the_creator_of_a_group_is_known_unless_they_hide(rig: Rig) -> None:
    assert await rig.adapter.find_creator(THERE) is None
    rig.api.world.creators[ROOM] = ANNA
    assert await rig.adapter.find_creator(THERE) == str(ANNA)
    rig.api.fail("getChatAdministrators", kind=faults.http(502))
    with pytest.raises(Unreachable):
        await rig.adapter.find_creator(THERE)


@pytest.mark.parametrize("method", ["getChat", "getChatMemberCount"])
async def test_a_failed_count_is_reported(rig: Rig, method: str) -> None:
    for fault, expected in (
        (faults.http(502), Unreachable),
        (faults.DROP, Unreachable),
        (faults.refused("Forbidden: bot was kicked from the group chat", 403), ChatGone),
    ):
        rig.api.fail(method, kind=fault)
        with pytest.raises(expected):
            await rig.adapter.count_people(THERE)
