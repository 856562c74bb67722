"""Messages that waited while accounts were linked, or across a restart, are not lost."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from gateway.texts import people
from tests.databases import open_database
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount, count
from tests.integration.harness import Harness, running
from tests.integration.model_requests import words


async def until_quiet(harness: Harness) -> None:
    """Return once every message is where it waits."""
    gateway = harness.gateway
    await harness.until(lambda: gateway.router.is_idle() and gateway.dispatcher.is_idle())


async def newest_asker(harness: Harness) -> int:
    def look(connection: Connection) -> int:
        row = connection.execute("SELECT person_id FROM turns ORDER BY id DESC LIMIT 1").fetchone()
        return int(row[0])

    return await harness.read(look)


async def test_a_message_edited_during_linking_is_answered_once(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    model = FakeModel(
        say("Hello Ann."), say("Hello Ben."), [go.wait, *say("Hello Cleo.")], say("Yes, both.")
    )
    async with running(tmp_path, model, TALARIA_TURNS__AT_ONCE="1") as harness:
        chat = harness.chat
        ann, ben = ChatAccount(harness, "ann", "Ann"), ChatAccount(harness, "ben", "Ben")
        await ann.says("I am Ann")
        await ben.says("I am Ben")
        code = await ann.makes_code()
        await ben.says(f"/link {code}")
        await chat.says("hold on", user="cleo", chat="cleo", name="Cleo")
        await harness.until(lambda: model.streaming == 1)
        place = {"user": "ben", "chat": "ben", "name": "Ben"}
        await chat.says("fist", id="b1", **place)
        await chat.says("second", id="b2", **place)
        await chat.says("first", id="b1", edit=True, event="edit 1", **place)
        await until_quiet(harness)
        await chat.press(people.YES(), user="ann", chat="ann", name="Ann")
        await until_quiet(harness)
        go.set()
        await chat.sees_text("Yes, both.")
        await harness.at_rest()
        assert words(model)[-2:] == ["first", "second"]
        one = await ann.person()
        assert one
        assert one == await ben.person()
        assert await newest_asker(harness) == one.id
        assert [shown.text for shown in chat.shown].count("Yes, both.") == 1
        assert await count(harness, "inbox", "state <> 'done'") == 0
        assert await count(harness, "turns", "state = 'running'") == 0


@pytest.mark.parametrize("population", [0, 200])
async def test_a_message_edited_before_a_start_is_read_as_edited(
    tmp_path: Path, population: int
) -> None:
    """Even with many events between the message and its edit."""

    def event(number: str, text: str, **more: object) -> tuple[str, str]:
        fields = {"id": number, "text": text, **more}
        return f"{number} {text}", json.dumps(fields)

    between = [event(f"n{number}", "", noise=True) for number in range(population)]
    events = [
        event("1", "/help", user="2", chat="2"),
        event("2", "hello"),
        *between,
        event("3", "and this"),
        event("2", "hallo", edit=True),
        event("2", "Hello!", edit=True),
        event("3", "not mine", edit=True, user="9"),
    ]
    database = await open_database(tmp_path / "state.db")
    await database.write("left", lambda c: inbox.store(c, platform="fake", events=events, now=1))
    await database.close()
    model = FakeModel(say("Hi."), say("Hi."))
    async with running(tmp_path, model, chat=FakeChat()) as harness:
        await harness.chat.sees_text("Hi.")
        await harness.at_rest()
        assert words(model) == ["Hello!", "and this"]
        assert await count(harness, "inbox", "state <> 'done'") == 0
