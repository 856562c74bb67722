"""Skills that the agent owns."""

from dataclasses import replace
from pathlib import Path

from agent_core.skills.ledger_sync import record_text
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from tests.databases import open_database
from tests.integration.accounts import make_owner
from tests.integration.harness import Harness, quick
from tests.integration.jobs_support import greet

SOON = replace(quick(), task_poll=0.02)


async def take_over(home: Path, *names: str, now: int = 1) -> None:
    """Record skills of a home as the agent's own, proved ones, which came at `now`."""
    database = await open_database(home / "state.db")

    def work(connection: Connection) -> None:
        for name in names:
            text = (home / "skills" / name / "SKILL.md").read_text()
            record_text(connection, name=name, text=text, origin=Origin(actor="turn:1", now=now))
            skills.set_state(connection, name=name, state="active")

    await database.write("test", work)
    await database.close()


def names_in(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


def changes(connection: Connection) -> list[tuple[str, str, str, str]]:
    """Return changes of skills, oldest first: name, operation, actor, evidence."""
    rows = connection.execute(
        "SELECT name, operation, actor, evidence FROM ledger JOIN skills ON skills.id = position"
        " WHERE target = 'skill' ORDER BY ledger.id"
    )
    return rows.fetchall()


def list_runs(connection: Connection) -> list[str]:
    """Return the purposes of the model calls that were paid for."""
    return [row[0] for row in connection.execute("SELECT purpose FROM usage ORDER BY id")]


async def own(harness: Harness) -> None:
    await greet(harness)
    await make_owner(harness)
    await harness.chat.says("/title Prices")  # so that no call of the model makes one
    await harness.at_rest()
