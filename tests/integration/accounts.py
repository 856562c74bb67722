"""People's accounts, each in a direct chat with the gateway."""

import asyncio
import re
from dataclasses import dataclass

from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.texts import people as people_texts
from tests.fakes.chat import Shown
from tests.integration.harness import Harness
from tests.patience import PATIENCE

LATER = 10**15
"""Due time in milliseconds of a task that must not run during a test."""
_IS_WRITING = f"kind = 'memory' AND state IN ('owed', 'running') AND due_at < {LATER}"


@dataclass(frozen=True)
class ChatAccount:
    """One account. Its direct chat has the same id as its user."""

    harness: Harness
    user: str
    name: str

    async def says(self, text: str, **fields: object) -> str:
        """Write; return the reply in that chat once all is at rest."""
        chat = str(fields.get("chat", self.user))
        before = {id(shown): len(shown.texts) for shown in self.harness.chat.shown}
        place: dict[str, object] = {"user": self.user, "chat": self.user, "name": self.name}
        await self.harness.chat.says(text, **place | fields)
        await self.harness.at_rest()
        return "\n".join(
            shown.text
            for shown in self.harness.chat.shown
            if shown.chat_id == chat and len(shown.texts) > before.get(id(shown), 0)
        )

    async def makes_code(self) -> str:
        return code_in(await self.says("/link"))

    def asked(self) -> Shown | None:
        """Return the last message with buttons in this chat."""
        mine = [one for one in self.harness.chat.shown if one.chat_id == self.user]
        return next((one for one in reversed(mine) if one.keyboard), None)

    async def presses(self, label: str, **fields: object) -> None:
        """Press a button of the own chat."""
        place: dict[str, object] = {"user": self.user, "chat": self.user, "name": self.name}
        await self.harness.chat.press(label, **place | fields)
        await self.harness.at_rest()

    async def person(self) -> Person | None:
        return await self.harness.read(
            lambda c: people.find_by_account(c, platform="fake", user_id=self.user)
        )

    async def joins(self, other: "ChatAccount") -> None:
        """Link another account as intended, and wait for its memory files."""
        await other.says(f"/link {await self.makes_code()}")
        await self.presses(people_texts.YES())
        async with asyncio.timeout(PATIENCE):
            while await count(self.harness, "tasks", _IS_WRITING):
                await asyncio.sleep(0.002)


def two_accounts(harness: Harness, second: str = "Benedikt") -> tuple[ChatAccount, ChatAccount]:
    """Return the accounts of Zebrana and of one more person."""
    return ChatAccount(harness, "4711001", "Zebrana"), ChatAccount(harness, "4711002", second)


def code_in(text: str) -> str:
    found = re.search(r"[A-Z2-9]{4}-[A-Z2-9]{4}", text)
    assert found, text
    return found[0]


async def make_owner(harness: Harness, user: str = "1") -> None:
    """Make the person of an account an owner."""

    def work(connection: Connection) -> None:
        person = people.find_by_account(connection, platform="fake", user_id=user)
        assert person
        people.make_owner(connection, person_id=person.id)

    await harness.gateway.database.write("owner", work)
    harness.gateway.forget_known()


async def enrol(harness: Harness, user: str, name: str, *, owner: bool = False) -> None:
    """Make a person known."""
    await harness.chat.says("/help", user=user, name=name, chat=user)
    await harness.at_rest()
    harness.chat.shown.clear()
    if owner:
        await make_owner(harness, user)


async def count(harness: Harness, table: str, condition: str = "1") -> int:
    def look(connection: Connection) -> int:
        row = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE {condition}").fetchone()
        return int(row[0])

    return await harness.read(look)


async def age(harness: Harness, milliseconds: int) -> None:
    """Make codes and questions older by this much."""

    def work(connection: Connection) -> None:
        values = {"time": milliseconds}
        connection.execute("UPDATE link_requests SET expires_at = expires_at - :time", values)
        connection.execute("UPDATE questions SET expires_at = expires_at - :time", values)
        connection.execute("UPDATE guesses SET since = since - :time", values)

    await harness.gateway.database.write("age", work)
