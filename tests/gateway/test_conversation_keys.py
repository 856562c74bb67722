"""Which messages share a conversation."""

from dataclasses import replace

from agent_core.ids import PersonId
from gateway.conversation_keys import name_own
from tests.gateway.queued_messages import ANA, DIRECT, ROOM, THREAD

BEN = replace(ANA, id=PersonId(2), slug="ben", name="Ben")


def test_a_direct_conversation_is_the_persons_on_every_platform() -> None:
    keys = {
        name_own(platform, address, ANA)
        for platform in ("telegram", "console")
        for address in (DIRECT, replace(DIRECT, chat_id="6", thread_id="7"))
    }
    assert len(keys) == 1
    assert name_own("telegram", DIRECT, BEN) not in keys


def test_in_a_room_each_person_and_each_thread_has_a_conversation() -> None:
    keys = {
        name_own(platform, address, person)
        for platform in ("telegram", "slack")
        for address in (ROOM, THREAD)
        for person in (ANA, BEN)
    }
    assert len(keys) == 8
