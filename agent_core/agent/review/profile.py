"""The profile of a person: the lines of their two lists by section, each with its evidence.

`USER.md` and `MEMORY.md` hold the lines, within their limits. The ledger has the section of each
line: the key of the call that wrote the line ends in the section's name.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from agent_core.agent.review.claim_check import SECTIONS, Section
from agent_core.ids import PersonId
from agent_core.memory.explanations import ExplanationReader, find_basis
from agent_core.memory.numbering import load_change_index
from agent_core.memory.provenance import trace_row
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import LedgerEntry

_MARK = "@"
"""Separates the key of a call from the section of its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """A line of a profile. `number` is for /why and /undo.

    `quotes` are the words that prove it: a part of a message, or all messages of a turn. `section`
    is None for other notes. `at` is in milliseconds since the epoch, UTC.
    """

    number: int
    section: Section | None
    text: str
    quotes: tuple[str, ...]
    at: int


def name_section(call_key: str, section: Section | None) -> str:
    """Return the key of a call that writes a line of a section."""
    return f"{call_key}{_MARK}{section}" if section else call_key


def list_profile(connection: Connection, *, person_id: PersonId) -> list[ProfileLine]:
    """List a person's profile by section, then other notes. Raises `StoreDamaged`."""
    index = load_change_index(connection, person_id=person_id)
    found = [
        ProfileLine(
            number=tracked.made_by.id,
            section=find_section(connection, tracked.rows),
            text=tracked.words,
            quotes=_find_quotes(connection, tracked.made_by, person_id),
            at=tracked.made_by.origin.now,
        )
        for history in index.histories.values()
        for tracked in history.current
        if tracked.words is not None and tracked.made_by
    ]
    order: list[Section | None] = [*SECTIONS, None]
    return sorted(found, key=lambda one: order.index(one.section))


def find_section(connection: Connection, rows: Iterable[LedgerEntry]) -> Section | None:
    """Return the section of an entry; each line of `USER.md` has one."""
    rows = list(rows)
    for row in reversed(rows):
        for one in trace_row(connection, row):
            named = (one.origin.call_key or "").partition("#")[0].rpartition(_MARK)[2]
            section = next((known for known in SECTIONS if known == named), None)
            if section and SECTIONS[section] == row.target:
                return section
    return "person" if rows[0].target == "user" else None


def _find_quotes(connection: Connection, row: LedgerEntry, person_id: PersonId) -> tuple[str, ...]:
    """Find the words that prove a row: all messages of the turn, if it has several."""
    basis = find_basis(connection, row, ExplanationReader(person_id=person_id))
    said = tuple(one.text for one in basis.source_messages if one.text)
    if len(said) > 1:
        return said
    traced = trace_row(connection, row)
    return next(((one.origin.evidence,) for one in traced if one.origin.evidence), ())
