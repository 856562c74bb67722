"""A person with a conversation, and a reviewer of it."""

from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.agent.quotas.background import BackgroundModel
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.ids import PersonId, TurnId
from agent_core.memory.store import MemoryStore
from agent_core.state.conversations import messages, turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import reviews, tasks
from agent_core.state.queues.tasks import Queue, Task
from agent_core.transcript import Message
from tests.agent_core.state.rows import Dialogue, add_turn
from tests.fakes.model import FakeModel
from tests.fakes.quotas import quotas

NOW = 1_000
QUEUE = Queue(kinds=(reviews.KIND,))


@dataclass
class Rig:
    """A person with a conversation of their own, and a reviewer."""

    database: Database
    home: Path
    dialogue: Dialogue

    @property
    def person_id(self) -> PersonId:
        return self.dialogue.person.id

    async def add(self, *said: Message, audience: str = "private", own: bool = True) -> TurnId:
        """Add an answered turn with these messages; `own` says that an account began it."""

        def work(connection: Connection) -> TurnId:
            turn_id = add_turn(connection, self.dialogue)
            if own:
                connection.execute("UPDATE turns SET account_id = 1 WHERE id = ?", (turn_id,))
            place = replace(self.dialogue.shelf(turn_id), audience=audience)
            messages.append(connection, place, said, now=NOW)
            turns.end(connection, turn_id=turn_id, state="answered", reason="", now=NOW)
            return turn_id

        return await self.database.write("turn", work)

    async def take(self, until: TurnId, after: int = 0) -> Task:
        """Queue a review up to a turn, and take it."""

        def work(connection: Connection) -> Task | None:
            reviews.enqueue(
                connection,
                person_id=self.person_id,
                until=until,
                payload=dump_record(ReviewRecord(after=TurnId(after), until=until)),
                now=NOW,
            )
            return tasks.take_due(connection, queue=QUEUE, now=NOW)

        task = await self.database.write("task", work)
        assert task is not None
        return task

    async def review(self, task: Task, model: FakeModel, *, patience: float = 60.0) -> ReviewRecord:
        reviewer = Reviewer(
            database=self.database,
            memory=MemoryStore(self.database, self.home / "memories"),
            background=BackgroundModel(model=model, name="cheap-1", quotas=quotas(self.database)),
            now=lambda: NOW,
            patience=patience,
        )
        found = await reviewer.review(task, asks_first=False)
        assert found is not None
        return found[1]

    async def entries(self) -> list[str]:
        rows = await self.database.read(
            lambda c: c.execute("SELECT after FROM ledger ORDER BY id").fetchall()
        )
        return [row[0] for row in rows]
