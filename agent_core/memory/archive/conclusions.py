"""Conclusions about a person: archive notes that rest on entries of their memory.

A conclusion is a guess and is marked as one. It stands as long as all its premises stand: the
transaction that changes or removes a premise also deletes the conclusion. Only reviews draw
conclusions: the key of the ledger row holds confidence and premises, and no other write makes such
a key.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive.entries import ArchiveContent, format_archive_id
from agent_core.memory.archive.writes import delete_entry, insert_entry
from agent_core.memory.entry_history import EntryHistory
from agent_core.memory.provenance import trace_row
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.state.memory.ledger import LISTS, LedgerEntry, Origin
from agent_core.transcript import Message, find_last_fact, quote

TAG = "conclusion"
MOST_STANDING = 12
"""The most conclusions that one person has at a time."""
_KEY = re.compile(r"(review:\d+:\d+):c\d+@(\d+):(\d+(?:,\d+)*)")
_LABEL = "Guesses about them, not facts; never state one as known: "
_NONE = f"{_LABEL}none any more"
_LONGEST = 200
_MOST_CHARACTERS = 1600
"""Characters of the line in a turn's facts, about 400 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """An entry that may be a premise. `row_id` is the ledger row that gave the entry its text.

    `is_untrusted` means that untrusted sources were read before it was written.
    """

    row_id: int
    text: str
    is_untrusted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A standing conclusion. `confidence` is in percent."""

    id: ArchiveId
    text: str
    confidence: int
    premises: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the conclusion for /why and /memory forget."""
        return format_archive_id(self.id)


def list_premises(connection: Connection, *, person_id: PersonId) -> list[Premise]:
    """List the present entries of a person's lists. Raises `StoreDamaged`."""
    return [
        Premise(
            row_id=row.id,
            text=row.change.after or "",
            is_untrusted=any(one.origin.sources for one in trace_row(connection, row)),
        )
        for row in _list_standing(connection, person_id)
    ]


def insert_conclusion(
    connection: Connection,
    *,
    person_id: PersonId,
    text: str,
    confidence: int,
    premises: Sequence[Premise],
    origin: Origin,
) -> None:
    """Store a conclusion, once per `origin.call_key`, which is `review:PERSON:TURN:cN`.

    Stores nothing if a premise is gone or changed. Raises `StoreDamaged`.
    """
    standing = _map_standing(connection, person_id)
    if any(standing.get(one.row_id) != one.text for one in premises):
        return
    key = f"{origin.call_key}@{confidence}:{','.join(str(one.row_id) for one in premises)}"
    insert_entry(
        connection,
        person_id=person_id,
        content=ArchiveContent(text=text, tags=(TAG,)),
        origin=Origin(
            actor=origin.actor,
            now=origin.now,
            evidence=" · ".join(one.text for one in premises),
            call_key=key,
            message_ids=origin.message_ids,
        ),
    )


def list_conclusions(connection: Connection, *, person_id: PersonId) -> list[Conclusion]:
    """List a person's standing conclusions, the surest first. Raises `StoreDamaged`."""
    standing = _map_standing(connection, person_id)
    found = []
    for archive_id, confidence, premise_ids in _list_drawn(connection, person_id):
        entry = archive.find(connection, person_id=person_id, archive_id=archive_id)
        if entry and all(one in standing for one in premise_ids):
            found.append(
                Conclusion(
                    id=archive_id,
                    text=entry.text,
                    confidence=confidence,
                    premises=tuple(standing[one] for one in premise_ids),
                )
            )
    return sorted(found, key=lambda one: (-one.confidence, one.id))


def withdraw_fallen(connection: Connection, person_id: PersonId, now: int) -> None:
    """Delete the conclusions that lost a premise, within the caller's transaction.

    `MemoryStore` calls this. Raises `StoreDamaged`.
    """
    drawn = _list_drawn(connection, person_id)
    standing = _map_standing(connection, person_id) if drawn else {}
    for archive_id, _, premise_ids in drawn:
        if not all(one in standing for one in premise_ids):
            origin = Origin(actor=f"review:{person_id}:0", now=now, evidence="")
            delete_entry(connection, person_id=person_id, archive_id=archive_id, origin=origin)


def _list_drawn(
    connection: Connection, person_id: PersonId
) -> list[tuple[ArchiveId, int, tuple[int, ...]]]:
    """List (id, confidence, premises) of the notes that a review drew and nobody has changed."""
    ids = archive.list_holders(
        connection, within=ArchiveFilter(person_id=person_id, tags=(TAG,)), limit=200
    )
    found = []
    for archive_id in ids:
        rows = ledger.find_of_archived(connection, person_id=person_id, archive_id=archive_id)
        named = _KEY.fullmatch(rows[-1].origin.call_key or "") if rows else None
        if named and rows[-1].origin.actor == named[1]:
            premise_ids = tuple(int(one) for one in named[3].split(","))
            found.append((archive_id, int(named[2]), premise_ids))
    return found


def _list_standing(connection: Connection, person_id: PersonId) -> list[LedgerEntry]:
    return [
        tracked.made_by
        for target in LISTS
        for tracked in EntryHistory(
            ledger.find_entries(connection, person_id=person_id, target=target)
        ).current
        if tracked.made_by
    ]


def _map_standing(connection: Connection, person_id: PersonId) -> dict[int, str]:
    """Map ledger rows behind present entries to the entries' text.

    Rows of ledgers that were merged into this one are included.
    """
    return {
        one.id: row.change.after or ""
        for row in _list_standing(connection, person_id)
        for one in trace_row(connection, row)
        if one.change.after == row.change.after
    }


class LocalUserModel:
    """Recalls conclusions, with the same interface as `ExternalMemory`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._without: set[PersonId] = set()
        """People without conclusions: they need no query, because only reviews draw conclusions."""

    async def recall(self, person_id: PersonId, shown: Sequence[Message]) -> tuple[str, ...]:
        """Return the conclusions as a fact line.

        Returns nothing without conclusions, or if the line repeats the last one shown. Raises
        `StoreError`.
        """
        if person_id in self._without:
            return ()
        found = await self._database.read(list_conclusions, person_id=person_id)
        last = find_last_fact(shown, _LABEL)
        if not found and last in ("", _NONE):
            self._without.add(person_id)
            return ()
        line = format_conclusions(found) if found else _NONE
        return () if line == last else (line,)

    def forget(self, person_id: PersonId | None = None) -> None:
        """Query again at the next turn of one person, or of everybody."""
        if person_id is None:
            self._without.clear()
        else:
            self._without.discard(person_id)


def format_conclusions(conclusions: Iterable[Conclusion]) -> str:
    """Format conclusions as one fact line, each as a JSON string that can't imitate a fact."""
    shown, left = [], _MOST_CHARACTERS - len(_LABEL)
    for one in conclusions:
        text = f"{quote(one.text, _LONGEST)} ({one.confidence} %)"
        left -= len(text) + 2
        if left < 0:
            break
        shown.append(text)
    return f"{_LABEL}{'; '.join(shown)}"
