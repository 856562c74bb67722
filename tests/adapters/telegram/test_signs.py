"""Deleting messages, reactions, and member counts."""

from collections.abc import AsyncIterator

import pytest

from adapters.errors import AdapterError, ChatGone, MessageGone, Rejected, Unreachable, Unsure
from adapters.ids import PlatformMessageId
from tests.adapters.telegram.rig import ANNA, ROOM, running, to
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.fakes.inlet import FakeInlet

HERE, THERE = to(ANNA, "").address, to(ROOM, "").address


@pytest.fixture
async def api() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.user(ANNA)
        emulator.group(ROOM)
        yield emulator


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()


async def test_a_message_is_deleted_once(api: TelegramEmulator, inlet: FakeInlet) -> None:
    async with running(api, inlet) as adapter:
        sent = await adapter.send(to(ANNA, "oops"))
        await adapter.delete(HERE, sent)
        assert api.texts(ANNA) == []
        await adapter.delete(HERE, sent)
        await adapter.delete(HERE, PlatformMessageId("99999"))


async def test_a_message_too_old_to_delete_is_reported(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        sent = await adapter.send(to(ANNA, "old"))
        api.fail("deleteMessage", kind=faults.refused("Bad Request: message can't be deleted"))
        with pytest.raises(MessageGone):
            await adapter.delete(HERE, sent)


async def test_eyes_are_shown_and_removed(api: TelegramEmulator, inlet: FakeInlet) -> None:
    async with running(api, inlet) as adapter:
        said = PlatformMessageId(str(await api.says(ANNA, "hello")))
        for seen, indicators in ((True, ["👀"]), (True, ["👀"]), (False, []), (False, [])):
            await adapter.react(HERE, said, seen=seen)
            assert api.world.reactions == {(ANNA, int(said)): indicators}


async def test_a_reaction_that_cannot_be_shown_is_reported(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        with pytest.raises(MessageGone):
            await adapter.react(HERE, PlatformMessageId("99999"), seen=True)
        said = PlatformMessageId(str(await api.says(ANNA, "hello")))
        api.fail("setMessageReaction", kind=faults.refused("Bad Request: REACTION_INVALID"))
        with pytest.raises(Rejected):
            await adapter.react(HERE, said, seen=True)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(faults.DROP, Unsure), (faults.http(502), Unreachable), (faults.blocked(), ChatGone)],
)
async def test_a_failed_reaction_is_mapped(
    api: TelegramEmulator, inlet: FakeInlet, fault: faults.Fault, expected: type[AdapterError]
) -> None:
    async with running(api, inlet) as adapter:
        said = PlatformMessageId(str(await api.says(ANNA, "hello")))
        sent = await adapter.send(to(ANNA, "oops"))
        api.fail("setMessageReaction", kind=fault)
        api.fail("deleteMessage", kind=fault)
        with pytest.raises(expected):
            await adapter.react(HERE, said, seen=True)
        with pytest.raises(expected):
            await adapter.delete(HERE, sent)


async def test_everybody_but_the_bot_is_counted(api: TelegramEmulator, inlet: FakeInlet) -> None:
    async with running(api, inlet) as adapter:
        api.world.members[ROOM] = 6
        assert await adapter.count_people(THERE) == 5
        api.world.members[ROOM] = 2
        assert await adapter.count_people(THERE) == 1
        assert await adapter.count_people(HERE) == 1


@pytest.mark.parametrize(
    "names",
    [
        {"username": "friends"},
        {"active_usernames": ["friends"]},
        {"linked_chat_id": -1_002_000_000_001},
    ],
)
async def test_readers_of_public_groups_cannot_be_counted(
    api: TelegramEmulator, inlet: FakeInlet, names: dict[str, object]
) -> None:
    async with running(api, inlet) as adapter:
        api.world.members[ROOM] = 2
        api.world.chats[ROOM] |= names
        assert await adapter.count_people(THERE) is None


async def test_the_creator_of_a_group_is_known_unless_they_hide(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    async with running(api, inlet) as adapter:
        assert await adapter.find_creator(THERE) is None
        api.world.creators[ROOM] = ANNA
        assert await adapter.find_creator(THERE) == str(ANNA)
        api.fail("getChatAdministrators", kind=faults.http(502))
        with pytest.raises(Unreachable):
            await adapter.find_creator(THERE)


@pytest.mark.parametrize("method", ["getChat", "getChatMemberCount"])
async def test_a_failed_count_is_reported(
    api: TelegramEmulator, inlet: FakeInlet, method: str
) -> None:
    async with running(api, inlet) as adapter:
        for fault, expected in (
            (faults.http(502), Unreachable),
            (faults.DROP, Unreachable),
            (faults.refused("Forbidden: bot was kicked from the group chat", 403), ChatGone),
        ):
            api.fail(method, kind=fault)
            with pytest.raises(expected):
                await adapter.count_people(THERE)
