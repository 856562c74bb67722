"""A database with one person, and messages of a turn."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxKind, OutboxRow
from gateway.outbound.live_message import LiveMessage
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.databases import open_database
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.rig import CHAT, Delivery, delivering


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    await opened.write("person", add_person)
    yield opened
    await opened.close()


@pytest.fixture
async def delivery(database: Database) -> AsyncIterator[Delivery]:
    async with delivering(database, FakeChat()) as delivery:
        yield delivery


async def begin_turn(database: Database) -> TurnId:
    def work(connection: Connection) -> TurnId:
        turn_id = add_turn(connection, add_dialogue(connection, add_person(connection, "ben")))
        turns.move(
            connection, turn_id=turn_id, place=Place(chat=Chat(platform="fake", address=CHAT))
        )
        return turn_id

    return await database.write("turn", work)


async def finalize(database: Database, turn_id: TurnId, body: str) -> OutboxRow:
    """Write the outbox rows of an ended turn."""

    def work(connection: Connection) -> OutboxRow:
        turns.end(connection, turn_id=turn_id, state="answered", reason="", now=1)
        live = outbox.find_live(connection, turn_id=turn_id)
        if live:
            return outbox.finalize_live(connection, outbox_id=live.id, body=body)
        return outbox.enqueue(connection, queued_message_of(turn_id, body), now=1)

    return await database.write("settle", work)


def queued_message_of(
    turn_id: TurnId, body: str = "", *, kind: OutboxKind = "message"
) -> NewOutboxMessage:
    return NewOutboxMessage(
        chat=Chat(platform="fake", address=CHAT),
        body=body,
        person_id=PersonId(1),
        turn_id=turn_id,
        kind=kind,
    )


def live_of(turn_id: TurnId, text: str, *, kind: OutboxKind = "message") -> LiveMessage:
    live = LiveMessage(queued_message_of(turn_id, kind=kind))
    live.text = text
    return live
