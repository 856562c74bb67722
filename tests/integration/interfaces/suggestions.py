"""A suggestion of the curator about a person's memory."""

from typing import Literal

from agent_core.skills.curation.record import (
    CurationProposal,
    CurationRecord,
    Tidying,
    dump_record,
)
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from agent_core.state.queues import curations, tasks

STAYS, GOES = "Has a cat called Mimi", "The cat is called Mimi"


def suggest(
    connection: Connection,
    person: Person,
    *,
    kind: Literal["duplicate", "contradiction"] = "duplicate",
    stays: str = STAYS,
    goes: str = GOES,
    now: int = 1,
) -> str:
    """Finish a look of the curator that suggests twice to remove a note; the suggestions' look."""
    tidying = Tidying(kind=kind, target="user", removed=(goes,), kept=stays, text="")
    proposal = CurationProposal(reason="Both name the cat.", change=tidying)
    record = CurationRecord(subject="memory", digest="d", proposals=(proposal, proposal))
    payload = dump_record(record)
    curations.enqueue(connection, person_id=person.id, subject="memory", payload=payload, now=now)
    (task_id,) = connection.execute("SELECT MAX(id) FROM tasks WHERE kind = 'curation'").fetchone()
    tasks.finish(connection, task_id=task_id)
    return str(task_id)
