"""Queries over changes of skills: rows of the team's ledger."""

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skills
from agent_core.state.memory.ledger import ROW, Change, LedgerEntry, Origin, read_row
from agent_core.state.memory.skills import SkillState


def find_newest(
    connection: Connection, *, person_id: PersonId, skill_id: int
) -> LedgerEntry | None:
    """Return the newest row about a skill.

    In this module, `person_id` is the team, and all queries raise `StoreDamaged` on a damaged row.
    """
    found = list_of_skill(connection, person_id=person_id, skill_id=skill_id, limit=1)
    return found[0] if found else None


def find_text_row(connection: Connection, *, person_id: PersonId, skill_id: int) -> int | None:
    """Return the newest row that changed the text of a skill; other rows add files to it."""
    row = connection.execute(
        "SELECT id FROM ledger WHERE person_id = :person_id AND target = 'skill'"
        " AND position = :skill_id AND (before IS NULL OR after IS NULL OR before <> after)"
        " ORDER BY id DESC LIMIT 1",
        {"person_id": person_id, "skill_id": skill_id},
    ).fetchone()
    return int(row[0]) if row else None


def find_version_row(connection: Connection, *, person_id: PersonId, skill_id: int) -> int | None:
    """Return the row with which the present text of a skill came, or its last one.

    A text that left for the archive and came back is the same version, with its tests and uses.
    """
    row = connection.execute(
        "WITH texts AS (SELECT id, after FROM ledger WHERE person_id = :person_id"
        " AND target = 'skill' AND position = :skill_id AND after IS NOT NULL),"
        " last AS (SELECT after FROM texts ORDER BY id DESC LIMIT 1)"
        " SELECT MIN(id) FROM texts WHERE id > COALESCE((SELECT MAX(texts.id) FROM texts, last"
        " WHERE texts.after <> last.after), 0)",
        {"person_id": person_id, "skill_id": skill_id},
    ).fetchone()
    return int(row[0]) if row[0] else None


def count_versions(connection: Connection, *, person_id: PersonId) -> dict[int, int]:
    """Count the versions of each skill; see `skills.states.is_version`."""
    rows = connection.execute(
        "SELECT position, SUM(CASE WHEN before = after"
        " THEN evidence NOT LIKE 'state % -> %' AND evidence NOT LIKE 'adds %'"
        " ELSE after IS NOT NULL END) FROM ledger WHERE person_id = :person_id"
        " AND target = 'skill' GROUP BY position",
        {"person_id": person_id},
    ).fetchall()
    return dict(rows)


def list_of_skill(
    connection: Connection, *, person_id: PersonId, skill_id: int, limit: int
) -> list[LedgerEntry]:
    """List the newest rows about a skill, newest first."""
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'skill'"
        " AND position = :skill_id ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "skill_id": skill_id, "limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_later(
    connection: Connection, *, person_id: PersonId, skill_id: int, after: int
) -> list[LedgerEntry]:
    """List the rows about a skill that are newer than the row `after`, oldest first."""
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'skill'"
        " AND id > :after AND position = :skill_id ORDER BY id",
        {"person_id": person_id, "skill_id": skill_id, "after": after},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_recent(connection: Connection, *, person_id: PersonId, limit: int) -> list[LedgerEntry]:
    """List the newest rows about all skills, newest first."""
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'skill'"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_by(
    connection: Connection, *, person_id: PersonId, actor: str, limit: int
) -> list[LedgerEntry]:
    """List the rows that one actor wrote, newest first, among the newest 1,000 rows."""
    rows = connection.execute(
        f"SELECT {ROW} FROM (SELECT * FROM ledger WHERE person_id = :person_id"
        " AND target = 'skill' ORDER BY id DESC LIMIT 1000) WHERE actor = :actor"
        " ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "actor": actor, "limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]


def set_state(
    connection: Connection, *, name: str, state: SkillState, why: str, origin: Origin
) -> LedgerEntry | None:
    """Change a skill's state and record it in the ledger.

    Returns None if the skill is unknown or already has that state. Raises `StoreDamaged` on a
    damaged row.
    """
    row = skills.find(connection, name=name)
    if row is None or row.state == state:
        return None
    team = blocks.make_team(connection, now=origin.now)
    newest = find_newest(connection, person_id=team, skill_id=row.id)
    text = newest.change.after if newest else None
    skills.set_state(connection, name=name, state=state)
    return ledger.record(
        connection,
        person_id=team,
        target="skill",
        change=Change(operation="replace", position=row.id, before=text, after=text),
        origin=Origin(
            actor=origin.actor,
            now=origin.now,
            evidence=f"state {row.state} -> {state}: {why}",
            undoes=origin.undoes,
        ),
    )
