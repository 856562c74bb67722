"""List the entries that reviews have kept, and the claims that wait for the person."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.agent.review.record import ReviewRecord, load_record
from agent_core.agent.review.work_lessons import read_description
from agent_core.ids import ArchiveId, PersonId, TaskId
from agent_core.memory.archive.entries import format_archive_entry
from agent_core.memory.archive.history import load_archive_history
from agent_core.memory.numbering import ChangeIndex, load_change_index
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.queues import reviews, tasks

_MOST_REVIEWS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedEntry:
    """An entry or a skill that a review made and that still exists; `name` is for /why and /undo.

    `at` is in milliseconds since the epoch, UTC. A `skill` is undone by its name.
    """

    name: str
    text: str
    at: int
    is_skill: bool = False
    was: tuple[str, ...] = ()
    """The entry that it replaced, or those that it stands for."""


def list_records(
    connection: Connection, *, person_id: PersonId
) -> list[tuple[TaskId, ReviewRecord]]:
    """List a person's newest finished reviews, newest first."""
    found = tasks.list_finished(
        connection, kind=reviews.KIND, person_id=person_id, limit=_MOST_REVIEWS
    )
    return [(task_id, load_record(payload)) for task_id, payload in found]


def list_learned(
    connection: Connection, *, person_id: PersonId, row_ids: Sequence[int]
) -> list[LearnedEntry]:
    """List the entries of these ledger rows that nobody has changed or undone since."""
    index = load_change_index(connection, person_id=person_id)
    found = []
    for row_id in row_ids:
        owned = ledger.find_row(connection, entry_id=row_id)
        if owned is None:
            continue
        if owned[1].target == "skill" and owned[1].origin.actor.startswith(f"review:{person_id}:"):
            entry = _find_skill(connection, *owned)
        elif owned[0] == person_id:
            entry = _find(connection, index, person_id, owned[1])
        else:
            continue
        if entry:
            found.append(entry)
    return found


def _find_skill(
    connection: Connection, owner_id: PersonId, row: LedgerEntry
) -> LearnedEntry | None:
    """Return a skill that a review wrote, unless its text was changed or undone since."""
    skill = skills.find_by_id(connection, skill_id=row.change.position)
    newest = skill_changes.find_text_row(
        connection, person_id=owner_id, skill_id=row.change.position
    )
    if skill is None or newest != row.id:
        return None
    return LearnedEntry(
        name=f"skill {skill.name}",
        text=f"/{skill.name}: {read_description(row.change.after or '')}",
        at=row.origin.now,
        is_skill=True,
    )


def _find(
    connection: Connection, index: ChangeIndex, person_id: PersonId, row: LedgerEntry
) -> LearnedEntry | None:
    if row.target == "archive":
        history = load_archive_history(
            connection, person_id=person_id, archive_id=ArchiveId(row.change.position)
        )
        text = format_archive_entry(row.change.after)
        if history is None or not text or history.rows[-1].id != row.id:
            return None
        return LearnedEntry(name=str(row.id), text=text, at=row.origin.now)
    tracked = index.find_tracked(row)
    if tracked.words is None or tracked.made_by is None or tracked.made_by.id != row.id:
        return None
    return LearnedEntry(
        name=str(row.id),
        text=tracked.words,
        at=row.origin.now,
        was=_list_replaced(connection, person_id, row),
    )


def _list_replaced(
    connection: Connection, person_id: PersonId, row: LedgerEntry
) -> tuple[str, ...]:
    """Return the entries that a row replaced: all those of a merge."""
    rows = [row]
    if ledger.is_merge(row) and row.origin.call_key:
        rows = ledger.find_call(connection, person_id=person_id, call_key=row.origin.call_key)
    return tuple(one.change.before for one in rows if one.change.before)
