"""Why an entry of memory stands: what was said, who said it, and all that was changed since."""

import json
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.numbering import ChangeIndex
from agent_core.state.engine.database import Connection
from agent_core.state.memory import evidence as grounds
from agent_core.state.memory import ledger
from agent_core.state.memory.evidence import Ground
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.transcript import TextPart

_AUTHOR = "From: "
"""How the facts of a message begin the line that names who wrote it; see `prompt.facts`."""


ChangeName = int | str
"""What people call a change: a number, and of the archive a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who wants to know, and so whose messages may be shown: a person's own, and those that were
    said before an audience, if there is one.
    """

    person_id: PersonId
    audience: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMessage:
    """Something that was said. `author` is "" if nobody noted it; `at` is milliseconds."""

    author: str
    text: str
    platform: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a change rests on; the fields as those of `Explanation`."""

    source_messages: tuple[SourceMessage, ...]
    hidden: int
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeStep:
    """One change of an entry. `counts` is false once it was taken back."""

    number: ChangeName
    row: LedgerEntry
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All that is known of one entry. `words` is None while it does not stand.

    `number` is that of its present words, or of its newest change while it has none. `source_messages`
    and `evidence` are what that change rests on, `hidden` how many messages more the reader may
    not see, or were taken out since. `steps` are all changes, oldest first.
    """

    number: ChangeName
    words: str | None
    made_by: LedgerEntry
    source_messages: tuple[SourceMessage, ...]
    hidden: int
    evidence: str
    steps: tuple[ChangeStep, ...]


def explain(
    connection: Connection, change_index: ChangeIndex, number: int, reader: Reader
) -> Explanation | None:
    """Why there is the entry that a change of this number is about; None if there is no such."""
    row = change_index.find(number)
    if row is None:
        return None
    tracked = change_index.find_tracked(row)
    made_by = tracked.made_by or tracked.rows[-1]
    basis = find_basis(connection, made_by, reader)
    history = change_index.histories[row.target]
    return Explanation(
        number=change_index.find_number(made_by),
        words=tracked.words,
        made_by=made_by,
        source_messages=basis.source_messages,
        hidden=basis.hidden,
        evidence=basis.evidence,
        steps=tuple(
            ChangeStep(number=change_index.find_number(one), row=one, counts=history.counts(one.id))
            for one in tracked.rows
        ),
    )


def find_basis(connection: Connection, row: LedgerEntry, reader: Reader) -> Basis:
    """What a change rests on, as far as the reader may see it. Raises `StoreDamaged`."""
    source = _find_ground(connection, row)
    message_ids = source.origin.message_ids
    found = grounds.list_grounds(
        connection,
        message_ids=message_ids,
        person_id=reader.person_id,
        audience=reader.audience,
    )
    return Basis(
        source_messages=tuple(_read(ground) for ground in found),
        hidden=len(message_ids) - len(found),
        evidence=source.origin.evidence,
    )


def _find_ground(connection: Connection, row: LedgerEntry) -> LedgerEntry:
    """The row whose messages an entry rests on: its own, or one of another ledger it repeats.

    Rows that were taken over before they kept messages name only where they came from.
    """
    while not row.origin.message_ids and row.origin.source_id is not None:
        source = ledger.find_row(connection, entry_id=row.origin.source_id)
        if source is None:
            break
        row = source[1]
    return row


def _read(ground: Ground) -> SourceMessage:
    return SourceMessage(
        author=find_author(ground), text=ground.text, platform=ground.platform, at=ground.created_at
    )


def find_author(ground: Ground) -> str:
    """The name by which the facts of a message introduce who wrote it, "" if they do not."""
    facts = (part.text for part in ground.parts if isinstance(part, TextPart) and part.is_fact)
    for line in "\n".join(facts).split("\n"):
        if line.startswith(_AUTHOR):
            try:
                name, _ = json.JSONDecoder().raw_decode(line.removeprefix(_AUTHOR))
            except json.JSONDecodeError:
                return ""
            return name if isinstance(name, str) else ""
    return ""
