"""A process of its own that says things, reviews them, and is killed at a random moment."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.review.record import dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.agent.review.triggers import EndedTurn, ReviewRules, enqueue_due
from agent_core.ids import CallId
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.memory.sync import scan_all
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.drafts import Drafts
from agent_core.skills.intents import write_planned
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.sessions import name_direct
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue
from agent_core.transcript import user_message
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.fakes.model import FakeModel, ask, call
from tests.fakes.quotas import quotas

QUEUE = Queue(kinds=(reviews.KIND,))
LIMITS = MemoryLimits(memory=100_000, user=100_000)
RULES = ReviewRules(turns=1, steps=0)
_SAID = re.compile(r"\[(\d+)\] person: \"I collect stamp (\d+)")
_WORKED = re.compile(r"\[turn (\d+)\] person: \"I collect stamp (\d+)")
_START = 1_000


class Collector(FakeModel):
    """Claims what the person said, as an entry and as a note, and writes a skill of the work."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if any(one.name == "judge" for one in request.tools):
            async for piece in super().stream(request):
                yield piece
            return
        shown = request.messages[0].text
        said = _SAID.findall(shown)
        given: list[tuple[str, dict[str, object]]] = [
            (name, {"target": "user", "text": text, "message": int(number), "quote": quote})
            for number, stamp in said
            for name, text, quote in (
                ("memory", f"Collects stamp {stamp}", f"I collect stamp {stamp}"),
                ("archive", f"Owns coin {stamp}", f"I own coin {stamp}"),
            )
        ]
        given += [("create", draft) for draft in map(_draft, _WORKED.findall(shown))]
        self.plays.append(
            ask(*(call(n, json.dumps(g), f"c{place}") for place, (n, g) in enumerate(given)))
        )
        async for piece in super().stream(request):
            yield piece


def _draft(found: tuple[str, str]) -> dict[str, object]:
    turn, stamp = found
    name = f"stamp-{stamp}"
    return {"name": name, "description": "Sorts.", "body": f"Sort {stamp}.", "turn": int(turn)}


def begin(connection: Connection) -> None:
    """Make the person, once."""
    if not people.list_all(connection):
        person = add_person(connection)
        connection.execute("UPDATE people SET role = 'owner'")
        account = NewAccount(
            platform="telegram", user_id="7", display_name="Ann", admitted_by="list"
        )
        people.attach_account(connection, account, person_id=person.id, now=0)
        add_dialogue(connection, person, key=name_direct(person.id))


def say(connection: Connection, stamp: int) -> None:
    """End a turn that is due for a review, in one transaction."""
    person = people.list_all(connection)[0]
    dialogue = add_dialogue(connection, person, key=name_direct(person.id))
    turn_id = add_turn(connection, dialogue)
    connection.execute("UPDATE turns SET account_id = 1 WHERE id = ?", (turn_id,))
    said = (user_message(f"I collect stamp {stamp}. I own coin {stamp}."),)
    messages.append(connection, dialogue.shelf(turn_id), said, now=_START + stamp)
    calls = [(CallId(f"c{number}"), "terminal", "unsafe") for number in range(3)]
    turns.begin_steps(connection, turn_id=turn_id, calls=calls, now=_START)
    connection.execute("UPDATE steps SET outcome = 'done' WHERE turn_id = ?", (turn_id,))
    turns.end(connection, turn_id=turn_id, state="answered", reason="", now=_START)
    ended = EndedTurn(id=turn_id, person_id=person.id, said="")
    assert enqueue_due(connection, RULES, ended, _START)


def count(connection: Connection, state: str) -> int:
    query = "SELECT COUNT(*) FROM tasks WHERE kind = 'review' AND state = ?"
    return int(connection.execute(query, (state,)).fetchone()[0])


def live(home: Path, most: int, seconds: float) -> None:
    """Stop once the home has that many finished reviews, or be killed after seconds (0: never)."""
    if seconds:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, seconds)
    asyncio.run(_review(home, most))


async def _review(home: Path, most: int) -> None:
    database = await Database.open(home / "state.db")
    await database.write("begin", begin)
    memory = MemoryStore(database, home / "memories", LIMITS)
    await database.write("files", lambda c: write_planned(c, home / "skills"))
    await scan_all(memory, database, lambda: _START)
    await database.write("reopen", lambda c: tasks.reopen(c, queue=QUEUE))
    reviewer = Reviewer(
        database=database,
        memory=memory,
        background=BackgroundModel(model=Collector(), name="cheap-1", quotas=quotas(database)),
        now=lambda: _START,
        skills=Drafts(SkillCatalog(home / "skills"), database),
    )
    while (done := await database.read(lambda c: count(c, "done"))) < most:
        task = await database.write(
            "take", lambda c: tasks.take_due(c, queue=QUEUE, now=_START + 1)
        )
        if task is None:
            await database.write("say", lambda c, stamp=done: say(c, stamp))  # type: ignore[misc]
            continue
        found = await reviewer.review(task, asks_first=False)
        if found:
            payload = dump_record(found[1])
            await database.write(
                "end",
                lambda c, p=payload, t=task: tasks.save(c, task_id=t.id, payload=p),  # type: ignore[misc]
            )
        await database.write("tested", lambda c: c.execute("UPDATE skills SET state = 'active'"))
        await database.write(
            "done",
            lambda c, t=task: tasks.finish(c, task_id=t.id),  # type: ignore[misc]
        )
    await database.close()
