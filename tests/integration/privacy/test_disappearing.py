"""Messages that a chat deletes leave the history with their answers, and teach nothing."""

from pathlib import Path

from agent_core.ids import TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import reviews
from tests.fakes.model import FakeModel, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greet, greeted

START = (2026, 11, 29, 12, 0)
HOUR = 3600


async def rows_with(harness: Harness, word: str) -> int:
    """How many rows hold a word, in the tables of what was said."""

    def look(connection: Connection) -> int:
        found = 0
        for table, column in (
            ("messages", "text"),
            ("inbox", "payload"),
            ("outbox", "body"),
            ("steps", "outcome"),
        ):
            sql = f"SELECT COUNT(*) FROM {table} WHERE instr({column}, ?)"
            found += connection.execute(sql, (word,)).fetchone()[0]
        return found

    return await harness.read(look)


async def sweep(harness: Harness) -> None:
    gateway = harness.gateway
    await gateway.disappearing.look()


async def test_a_message_goes_when_its_chat_deletes_it_and_the_rest_stays(tmp_path: Path) -> None:
    clock = Clock(*START)
    model = greeted(say("The falcon is fine."), say("The heron is fine."), say("Nothing."))
    async with running(tmp_path, model, now=clock) as harness:
        await greet(harness)
        await harness.chat.says("my secret is falcon", expires=HOUR)
        shown = await harness.chat.sees_text("The falcon is fine.")
        assert "Messages disappear in this chat" in shown.text
        await harness.chat.says("and heron stays")
        await harness.chat.sees_text("The heron is fine.")
        await harness.at_rest()
        assert await rows_with(harness, "falcon") >= 3
        clock.move(harness, minutes=59)
        await sweep(harness)
        assert await rows_with(harness, "falcon") >= 3
        clock.move(harness, minutes=2)
        await sweep(harness)
        assert await rows_with(harness, "falcon") == 0
        assert await rows_with(harness, "heron") >= 3
        await harness.chat.says("what do you know?")
        await harness.at_rest()
        assert "falcon" not in str(model.requests[-1])
        assert "heron" in str(model.requests[-1])


async def test_the_person_learns_of_it_once(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("one"), say("two"))) as harness:
        await harness.chat.says("first", expires=HOUR)
        await harness.chat.sees_text("one")
        await harness.chat.says("second", expires=HOUR)
        await harness.chat.sees_text("two")
        assert sum("Messages disappear" in text for text in harness.chat.texts) == 1


async def test_nothing_is_learned_from_it_unasked(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("one"), say("two"))) as harness:
        await harness.chat.says("it will go", expires=HOUR)
        await harness.chat.sees_text("one")
        await harness.at_rest()
        (person,) = [one for one in await harness.read(people.list_all) if one.kind == "human"]

        def count(connection: Connection) -> int:
            return reviews.count_turns(connection, person_id=person.id, after=TurnId(0), most=9)

        assert await harness.read(count) == 0
        await harness.chat.says("it stays")
        await harness.chat.sees_text("two")
        await harness.at_rest()
        assert await harness.read(count) == 1
