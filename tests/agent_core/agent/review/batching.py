"""A process of its own that reviews through batches, and may be killed at any moment."""

import asyncio
from pathlib import Path

from agent_core.agent.quotas.background import AnswerPending, BackgroundModel
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.ids import TurnId
from agent_core.memory.store import MemoryStore
from agent_core.models.anthropic import create
from agent_core.models.settings import AnthropicSettings
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.sessions import name_direct
from agent_core.state.engine.database import Connection, Database, now
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue
from agent_core.transcript import user_message
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.fakes.quotas import quotas

MODEL = "claude-haiku-5-5"
SAID = "I prefer metric units"
QUEUE = Queue(kinds=(reviews.KIND,))
_HOUR = 3_600_000


def begin(connection: Connection) -> None:
    """Make a person with one turn and a review of it, once."""
    if people.list_all(connection):
        tasks.reopen(connection, queue=QUEUE)
        return
    person = add_person(connection)
    account = NewAccount(platform="telegram", user_id="7", display_name="Ann", admitted_by="list")
    people.attach_account(connection, account, person_id=person.id, now=0)
    dialogue = add_dialogue(connection, person, key=name_direct(person.id))
    turn_id = add_turn(connection, dialogue)
    connection.execute("UPDATE turns SET account_id = 1 WHERE id = ?", (turn_id,))
    messages.append(connection, dialogue.shelf(turn_id), (user_message(SAID),), now=1)
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=1)
    record = dump_record(ReviewRecord(after=TurnId(0), until=turn_id))
    reviews.enqueue(connection, person_id=person.id, until=turn_id, payload=record, now=1)


async def look(home: Path, url: str, hours: float) -> dict[str, object]:
    """Look at the review once, so many hours after the turn; a finished one stays as it is."""
    database = await Database.open(home / "state.db")
    model = create(AnthropicSettings(api_key="k", base_url=url))
    moment = now() + round(hours * _HOUR)
    try:
        await database.write("begin", begin)
        task = await database.write("take", lambda c: tasks.take_due(c, queue=QUEUE, now=moment))
        assert task
        reviewer = Reviewer(
            database=database,
            memory=MemoryStore(database, home / "memories"),
            background=BackgroundModel(
                model=model, name=MODEL, quotas=quotas(database), is_batched=True
            ),
            now=lambda: moment,
        )
        found = await reviewer.review(task, asks_first=False)
        assert found
        kept = len(found[1].kept)
    except AnswerPending:
        kept = -1
    finally:
        await model.close()
    paid = await database.read(
        lambda c: c.execute("SELECT purpose, micro_dollars FROM usage").fetchall()
    )
    await database.close()
    return {"kept": kept, "paid": paid}


def look_once(home: Path, url: str) -> None:
    """Look in a process of its own, at the time of the turn."""
    asyncio.run(look(home, url, 0))
