"""Read what the curator compares: a memory with its dates, and its earlier proposals."""

from collections.abc import Iterable

from agent_core.ids import PersonId
from agent_core.memory.numbering import list_entries, load_change_index
from agent_core.skills.curation.record import (
    CurationProposal,
    CurationRecord,
    Merge,
    StoredRecord,
    dump_record,
    load_record,
)
from agent_core.skills.curation.tidying import KnownEntry, name_entries
from agent_core.state.engine.database import Connection
from agent_core.state.people import owners, people
from agent_core.state.queues import curations, tasks

_MOST_RECORDS = 30
"""The newest looks of a person that are read: half a year of weekly ones. The owner who pays for
those at the skills has two a week, and so a quarter.
"""


def enqueue_looks(connection: Connection, *, now: int) -> None:
    """Queue a look at each person's memory, and one at the skills, paid by the first owner."""
    for person in people.list_all(connection):
        if person.learning != "off":
            enqueue_memory_look(connection, person_id=person.id, now=now)
    owner = next((one for one in owners.list_all(connection) if one.learning != "off"), None)
    if owner:
        payload = dump_record(CurationRecord(subject="skills"))
        curations.enqueue(
            connection, person_id=owner.id, subject="skills", payload=payload, now=now
        )


def enqueue_memory_look(connection: Connection, *, person_id: PersonId, now: int) -> None:
    """Queue a look at one person's memory."""
    payload = dump_record(CurationRecord(subject="memory"))
    curations.enqueue(connection, person_id=person_id, subject="memory", payload=payload, now=now)


def list_memory(connection: Connection, *, person_id: PersonId) -> list[KnownEntry]:
    """List the entries of a memory with their dates. Raises `StoreDamaged`."""
    index = load_change_index(connection, person_id=person_id)
    found = []
    for one in list_entries(connection, person_id=person_id):
        row = index.find(one.number)
        if row is not None and (one.target == "user" or one.target == "memory"):
            found.append(KnownEntry(target=one.target, text=one.entry, at=row.origin.now))
    return found


def list_records(connection: Connection, *, person_id: PersonId) -> list[StoredRecord]:
    """List a person's finished looks, newest first."""
    found = tasks.list_finished(
        connection, kind=curations.KIND, person_id=person_id, limit=_MOST_RECORDS
    )
    return [StoredRecord(task_id=task_id, record=load_record(text)) for task_id, text in found]


def list_visible(
    connection: Connection, *, person_id: PersonId, is_owner: bool
) -> list[tuple[PersonId, StoredRecord]]:
    """List the looks that a person decides about: at their memory and, for owners, at the skills.

    Each look comes with the person who paid for it.
    """
    own = [(person_id, one) for one in list_records(connection, person_id=person_id)]
    found = [one for one in own if is_owner or one[1].record.subject == "memory"]
    for owner in owners.list_all(connection) if is_owner else ():
        if owner.id != person_id:
            records = list_records(connection, person_id=owner.id)
            found += [(owner.id, one) for one in records if one.record.subject == "skills"]
    return found


def list_known_groups(records: Iterable[StoredRecord]) -> frozenset[frozenset[str]]:
    """Return the groups of skills and entries of all earlier proposals, accepted or not."""
    return frozenset(
        _name_group(proposal) for stored in records for proposal in stored.record.proposals
    )


def _name_group(proposal: CurationProposal) -> frozenset[str]:
    change = proposal.change
    return frozenset(change.before) if isinstance(change, Merge) else name_entries(change)
