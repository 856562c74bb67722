"""A real database in which people and the assistant have talked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import MessageId, PromptHash, TurnId
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.transcript import Message, Role, TextPart
from tests.databases import open_database

MINUTE = 60_000
PROMPT = PromptHash("0" * 64)


@dataclass(frozen=True)
class Dialogue:
    """One conversation of one person."""

    person: Person
    conversation: Conversation
    platform: str

    @property
    def scope(self) -> str:
        return self.conversation.scope


class Archive:
    """Where what was said is kept; each saying is a turn of its own, a minute after the last."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._now = 1_770_000_000_000

    async def meet(self, slug: str) -> Person:
        return await self.database.write(
            "meet",
            lambda connection: people.insert(
                connection, slug=slug, name=slug, role="member", now=0
            ),
        )

    async def open(self, person: Person, *, room: str = "", platform: str = "telegram") -> Dialogue:
        def work(connection: Connection) -> Conversation:
            sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
            key = room or f"{platform}:{person.slug}"
            return sessions.ensure_conversation(
                connection,
                sessions.NewConversation(
                    key=key,
                    kind="room" if room else "direct",
                    person_id=person.id,
                    is_direct=not room,
                ),
                now=0,
            )

        conversation = await self.database.write("open", work)
        return Dialogue(person=person, conversation=conversation, platform=platform)

    async def say(self, dialogue: Dialogue, *texts: str, role: Role = "user") -> list[MessageId]:
        said: list[MessageId] = []
        for text in texts:
            message = Message(role=role, parts=(TextPart(text=text),))
            said += await self.keep(dialogue, message)
        return said

    async def keep(self, dialogue: Dialogue, *kept: Message) -> list[MessageId]:
        self._now += MINUTE
        now = self._now

        def work(connection: Connection) -> list[MessageId]:
            session_id = sessions.insert(
                connection, conversation_id=dialogue.conversation.id, now=now
            )
            turn_id = turns.insert(
                connection,
                conversation=dialogue.conversation,
                session_id=session_id,
                request=TurnRequest(
                    person_id=dialogue.person.id,
                    account_id=None,
                    place=Place(chat=Chat(platform=dialogue.platform, address="{}")),
                ),
                prompt_hash=PROMPT,
                now=now,
            )
            shelf = TranscriptPlace(
                session_id=session_id,
                turn_id=turn_id,
                person_id=dialogue.conversation.person_id,
                conversation_id=dialogue.conversation.id,
                platform=dialogue.platform,
            )
            return messages.append(connection, shelf, kept, now=now)

        return await self.database.write("keep", work)

    async def turn_of(self, message_id: MessageId) -> TurnId:
        row = await self.database.read(
            lambda connection: connection.execute(
                "SELECT turn_id FROM messages WHERE id = :id", {"id": message_id}
            ).fetchone()
        )
        return TurnId(row[0])


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    database = await open_database(tmp_path / "state.db")
    yield Archive(database)
    await database.close()


@pytest.fixture
async def ann(archive: Archive) -> Dialogue:
    return await archive.open(await archive.meet("ann"))


@pytest.fixture
async def bob(archive: Archive, ann: Dialogue) -> Dialogue:
    return await archive.open(await archive.meet("bob"))
