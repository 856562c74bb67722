"""Job messages are part of their person's history, in no model's conversation."""

import json
from pathlib import Path

import pytest

from agent_core.ids import TurnId
from agent_core.state import tokenizer
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs.jobs import Options, Target
from agent_core.state.people import delivery_targets
from agent_core.state.search import message_index, passages
from agent_core.state.search.message_index import Term
from agent_core.state.search.passages import FoundMessage, SessionOverview
from agent_core.state.search.search_scope import SearchFilter
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, find, give_job, greet, greeted, looked, over, texts

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
NOON = (2026, 11, 20, 11, 0)
"""Friday, 12:00 in Berlin."""
ROOM = '["den",null,false]'


async def found(harness: Harness, word: str, scope: str = "") -> list[FoundMessage]:
    """Return the results of Ana's search for a word, oldest first."""

    def look(connection: Connection) -> list[FoundMessage]:
        person_id = ana(connection)
        field = SearchFilter(
            person_id=person_id, scope=scope or f"p{person_id}", except_turn=TurnId(0)
        )
        terms = [Term(word=one) for one in tokenizer.cut(word)]
        held = message_index.list_holders(connection, field=field, terms=terms, limit=50)
        ids = [message_index.message_of(one) for one in held]
        return passages.load_messages(connection, field=field, message_ids=ids)

    return await harness.read(look)


async def sittings(harness: Harness, sayings: list[FoundMessage]) -> list[SessionOverview]:
    """The conversations that they were said in."""

    def look(connection: Connection) -> list[SessionOverview]:
        person_id = ana(connection)
        field = SearchFilter(person_id=person_id, scope=f"p{person_id}", except_turn=TurnId(0))
        wanted = sorted({one.session_id for one in sayings})
        return passages.load_overviews(connection, field=field, session_ids=wanted)

    return await harness.read(look)


async def test_a_reminder_is_found_in_the_conversation_of_its_job(
    tmp_path: Path,
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "0 * * * *")
        for _ in range(3):
            clock.move(harness, hours=1)
            await looked(harness)
        reported = await found(harness, "bread")
        assert [(one.role, one.text, one.platform) for one in reported] == [
            ("assistant", "⏰ Take the bread out.", "fake")
        ] * 3
        (dialogue,) = await sittings(harness, reported)
        assert (dialogue.title, dialogue.last_at) == (job.title, clock())
        states = [run.state for run in await over(harness, job, 3)]
        assert states == ["done"] * 3


async def test_a_commands_output_is_found_and_empty_output_is_not_kept(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "cat words 2>&-; true", "0 * * * *", kind="script")
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        assert await harness.read(_count_turns_of_runs) == 0
        (tmp_path / "words").write_text("Two letters came.")
        clock.move(harness, hours=1)
        await over(harness, job, 2)
        (reported,) = await found(harness, "letters")
        assert reported.text.endswith("Two letters came.")
        (dialogue,) = await sittings(harness, [reported])
        assert dialogue.title == job.title


async def test_a_reported_failure_is_no_output(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(
            harness, "exit 3", "0 * * * *", kind="script", options=Options(pause_after=1)
        )
        for minutes in (60, 1, 5):
            clock.move(harness, minutes=minutes)
            await looked(harness)
        await harness.chat.sees_text("because it failed. The reason")
        assert (await find(harness, job)).state == "paused"
        assert await harness.read(_count_turns_of_runs) == 0


async def test_a_deferred_message_is_found_once_sent(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        await harness.gateway.database.write(
            "test", lambda c: delivery_targets.set_days_off(c, person_id=ana(c), days=(6, 7))
        )
        places = [
            Target(kind="home"),
            Target(kind="place", platform="fake", chat='["9",null,true]'),
        ]
        await give_job(harness, "Water the plants.", "2026-11-21T09:00", targets=places)
        await give_job(harness, "Feed the cat.", "2026-11-22T09:00")
        for hours in (21, 24):
            clock.move(harness, hours=hours)
            await looked(harness)
        assert await found(harness, "plants") == []
        clock.move(harness, hours=15)
        await harness.chat.sees_text("During your quiet time, 2 messages arrived")
        await looked(harness)
        assert sum("Water the plants." in text for text in texts(harness)) == 2
        (plants,), (cat,) = await found(harness, "plants"), await found(harness, "cat")
        assert (plants.text, cat.text) == ("⏰ Water the plants.", "⏰ Feed the cat.")
        assert plants.said_at == clock()


async def test_turn_numbers_do_not_collide(tmp_path: Path) -> None:
    """A job sends while a turn has its number but is not stored yet."""
    clock, chat = Clock(*NOON), FakeChat()
    async with running(tmp_path, greeted(), chat=chat, now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "0 * * * *")

        async def speak() -> None:
            clock.move(harness, hours=1)
            await over(harness, job, 1)

        harness.model.plays.append([speak, *say("Here I am.")])
        await harness.chat.says("are you there?")
        await harness.chat.sees_text("Here I am.")
        await looked(harness)
        assert len(await found(harness, "bread")) == 1
        harness.model.plays.append(say("Still here."))
        await harness.chat.says("and now?")
        await harness.chat.sees_text("Still here.")
        sent = harness.model.requests[-1].messages
        assert not any("bread" in message.text for message in sent)
    model = FakeModel(say("Back again."), say("Back again."))  # one may become the title
    async with running(tmp_path, model, chat=chat, now=clock, **SETTINGS) as harness:
        clock.move(harness, hours=1)
        await over(harness, job, 2)
        await looked(harness)
        await harness.chat.says("hello again")
        await harness.chat.sees_text("Back again.")
        assert len(await found(harness, "bread")) == 2


async def test_recall_finds_a_jobs_messages(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    model = greeted()
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await greet(harness)
        await give_job(harness, "Take the bread out.", "2026-11-20T13:00")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Take the bread out.")
        model.plays += [ask(call("recall", json.dumps({"query": "bread"}))), say("At one.")]
        await harness.chat.says("when did you remind me?")
        await harness.chat.sees_text("At one.")
        assert "Take the bread out." in str(model.requests[-1].messages[-1])


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_jobs_message_in_a_room_has_the_scope_of_a_turn(
    tmp_path: Path, is_known: bool
) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        if is_known:
            harness.model.plays.append(say("Hello all."))
            await harness.chat.says("hi", chat="den", direct=False)
            await harness.chat.sees_text("Hello all.")
            await harness.at_rest()
        place = Target(kind="place", platform="fake", chat=ROOM)
        job = await give_job(harness, "Dinner is ready.", "2026-11-20T13:00", targets=[place])
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        (reported,) = await found(harness, "dinner")
        rows = await harness.read(
            lambda c: c.execute(
                "SELECT messages.audience, conversations.scope, conversations.room_id IS NULL"
                " FROM messages JOIN turns ON turns.id = messages.turn_id JOIN conversations"
                " ON conversations.id = turns.conversation_id WHERE messages.id = ?",
                (reported.id,),
            ).fetchone()
        )
        audience, scope, is_private = rows
        assert bool(is_private) != is_known
        assert (audience == "private") != is_known
        assert scope.startswith("c" if is_known else "p")


def _count_turns_of_runs(connection: Connection) -> int:
    row = connection.execute("SELECT COUNT(*) FROM turns WHERE run_id IS NOT NULL").fetchone()
    return int(row[0])


async def test_a_jobs_turn_is_found_by_its_run(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Take the bread out.", "2026-11-20T13:00")
        clock.move(harness, hours=1)
        (run,) = await over(harness, job, 1)
        turn = await harness.read(lambda c: job_runs.find_turn(c, run_id=run.id))
        assert turn
        assert turn[1] == "answered"


async def test_a_prompts_conversation_is_titled_like_its_job(tmp_path: Path) -> None:
    clock = Clock(*NOON)
    async with running(tmp_path, greeted(say("Rye, at nine.")), now=clock, **SETTINGS) as harness:
        await greet(harness)
        job = await give_job(harness, "Ask for bread.", "2026-11-20T13:00", kind="prompt")
        clock.move(harness, hours=1)
        await over(harness, job, 1)
        (dialogue,) = await sittings(harness, await found(harness, "rye"))
        assert dialogue.title == job.title
