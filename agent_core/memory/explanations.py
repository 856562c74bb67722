"""The explanation of a memory entry: its source messages, their authors and all its changes."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.numbering import ChangeIndex
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import evidence as evidence_rows
from agent_core.state.memory import ledger
from agent_core.state.memory.evidence import Evidence
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.transcript import TextPart, UntrustedSource

_AUTHOR = "From: "
"""The prefix of the fact line that names the author of a message; see `prompt.message_facts`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationReader:
    """The person who asks for an explanation.

    They are shown only their own messages and, if `audience` is given, those that it has seen.
    """

    person_id: PersonId
    audience: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """A message. `author` is "" if unknown; `at` is in milliseconds."""

    author: str
    text: str
    platform: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The sources of a change that a reader may see: messages, a quote, and files or pages.

    `hidden` counts other source messages that were redacted or that the reader may not see.
    """

    source_messages: tuple[SourceMessage, ...]
    hidden: int
    evidence: str
    sources: tuple[UntrustedSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeStep:
    """A change of an entry. `counts` is false after it was undone."""

    number: int
    row: LedgerEntry
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything known about one entry. `words` is None while the entry is removed.

    `is_forgotten` means that its text was deleted permanently, so that no undo can restore it.
    `name` is the number of the change that made the present text, or of the newest change of a
    removed entry; for a note of the archive, it is the note's name.
    `basis` belongs to this change, and `steps` are all changes, oldest first.
    """

    name: str
    words: str | None
    made_by: LedgerEntry
    basis: Basis
    steps: tuple[ChangeStep, ...]
    is_forgotten: bool


def explain_entry(
    connection: Connection, change_index: ChangeIndex, number: int, reader: ExplanationReader
) -> Explanation | None:
    """Explain the entry behind a numbered change; None if the number is unknown."""
    row = change_index.find(number)
    if row is None:
        return None
    tracked = change_index.find_tracked(row)
    made_by = tracked.made_by or tracked.rows[-1]
    history = change_index.histories[row.target]
    return Explanation(
        name=str(made_by.id),
        words=tracked.words,
        made_by=made_by,
        basis=find_basis(connection, made_by, reader),
        is_forgotten=is_forgotten(tracked.words, tracked.rows),
        steps=tuple(
            ChangeStep(number=one.id, row=one, counts=history.counts(one.id))
            for one in tracked.rows
        ),
    )


def is_forgotten(words: str | None, rows: Iterable[LedgerEntry]) -> bool:
    """Return whether an entry is removed and its text was deleted permanently."""
    is_removed = words is None or words == FORGOTTEN
    return is_removed and any(FORGOTTEN in (row.change.before, row.change.after) for row in rows)


def find_basis(connection: Connection, row: LedgerEntry, reader: ExplanationReader) -> Basis:
    """Find the sources of a change that the reader may see. Raises `StoreDamaged`."""
    source = find_source(connection, row)
    message_ids = source.origin.message_ids
    found = evidence_rows.list_evidence(
        connection,
        message_ids=message_ids,
        person_id=reader.person_id,
        audience=reader.audience,
    )
    return Basis(
        source_messages=tuple(_read(evidence) for evidence in found),
        hidden=len(message_ids) - len(found),
        evidence=source.origin.evidence,
        sources=source.origin.sources,
    )


def find_source(connection: Connection, row: LedgerEntry) -> LedgerEntry:
    """Follow undos to the change that they undid, and copies to the row that has the messages.

    An undo has only its command as its source. Rows copied by old versions name only the row that
    they were copied from.
    """
    while not row.origin.message_ids:
        entry_id = row.origin.undoes or row.origin.source_id
        if entry_id is None:
            break
        source = ledger.find_row(connection, entry_id=entry_id)
        if source is None:
            break
        row = source[1]
    return row


def _read(evidence: Evidence) -> SourceMessage:
    return SourceMessage(
        author=find_author(evidence),
        text=evidence.text,
        platform=evidence.platform,
        at=evidence.created_at,
    )


def find_author(evidence: Evidence) -> str:
    """Find the author's name in the facts of a message; "" if they don't name one."""
    facts = (part.text for part in evidence.parts if isinstance(part, TextPart) and part.is_fact)
    for line in "\n".join(facts).split("\n"):
        if line.startswith(_AUTHOR):
            try:
                name, _ = json.JSONDecoder().raw_decode(line.removeprefix(_AUTHOR))
            except json.JSONDecodeError:
                return ""
            return name if isinstance(name, str) else ""
    return ""
