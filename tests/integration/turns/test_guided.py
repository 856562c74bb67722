"""Guided turns in a whole gateway: real tools, recorded steps, and a replay to the same bytes."""

import json
from pathlib import Path

from agent_core.agent.replay.diff import Comparison, compare
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import TurnRecord, read_record
from agent_core.agent.replay.replayer import replay
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from gateway.home import DATABASE
from tests.fakes.model import Play, say
from tests.integration.harness import running
from tests.integration.turns.untitled import Talker, dialogue


def decide(intent: str, **given: str) -> Play:
    return say(json.dumps({"do": intent, **given}))


async def test_a_guided_conversation_acts_talks_and_is_replayed(tmp_path: Path) -> None:
    model = Talker(
        decide("chat"),
        say("Hello."),
        decide("remember", fact="I drink tea."),
        decide("remind_once", text="make tea", when="in 20 minutes"),
        decide("list_reminders"),
    )
    async with running(tmp_path, model, TALARIA_MODEL__MODE="guided") as harness:
        await dialogue(harness, "hi", "Hello.")
        await dialogue(harness, "Remember that I drink tea.", "I'll remember that.")
        await dialogue(harness, "In 20 minutes I make tea.", "Done.")
        await harness.chat.says("What is planned?")
        await harness.chat.sees_text("make tea**: Once")
        await harness.at_rest()
        (number,) = await harness.gateway.database.read(
            lambda c: c.execute("SELECT id FROM jobs WHERE title = 'make tea'").fetchone()
        )
        model.plays.append(decide("delete_reminder", which=f"{number} make tea"))
        await harness.chat.says("Drop the tea.")
        await harness.until(lambda: not model.plays)
        await harness.at_rest()
    assert [bool(one.response_schema) for one in model.requests] == [True, False, *[True] * 4]
    assert all(one.tools == () for one in model.requests)
    await _check(tmp_path)


def _read_all(connection: Connection) -> list[TurnRecord]:
    recent = turns.list_recent(connection, limit=100)
    return [record for turn in recent if (record := read_record(connection, turn.id))]


async def _check(home: Path) -> None:
    """Check what was done, and rebuild and replay each turn."""
    database = await Database.open(home / DATABASE)
    try:
        records = await database.read(_read_all)
        states = await database.read(lambda c: c.execute("SELECT state FROM jobs").fetchall())
    finally:
        await database.close()
    assert [row[0] for row in states if row[0] == "dropped"] == ["dropped"]
    for record in records:
        assert record.prompt
        calls = rebuild_calls(record)
        assert [one.doubt for one in calls] == [""] * len(calls)
        made = await replay(record, calls, record.prompt)
        assert compare(calls, made) == Comparison(verdict="identical", compared=len(calls))
