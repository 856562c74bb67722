"""What an ended turn comes to: its words, and all that is owed after it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.active import ActiveTurn
from agent_core.archive.chronicle import list_of_turn
from agent_core.ceilings.days import day_of
from agent_core.events import TurnEnded
from agent_core.ids import TurnId
from agent_core.memory.listing import open_register
from agent_core.memory.reasons import Number
from agent_core.state import files, meta, outbox, tasks
from agent_core.state.database import Connection
from agent_core.state.ledger import LedgerEntry
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.questions import Choice
from gateway import wording, wording_memory, wording_usage
from gateway.buttons import stand_for
from gateway.leads import Lead
from gateway.wording_usage import Reader

_MOST_OFFERED = 3
"""Changes of memory that can be taken back by a button below the answer."""
_TITLE_AFTER = 3
"""Messages of the person after which a session is worth a title."""


def tell(ended: TurnEnded, turn_id: TurnId, tools: Sequence[str], reader: Reader) -> str:
    """The words that a turn's ending comes to, with what was answered before it."""
    if ended.ending == "answered":
        return wording.note_cut(ended.text, ended.reason)
    if ended.ending == "stopped":
        return wording.describe_stop(ended.text, tools)
    if ended.shut:
        return wording_usage.describe_ceiling(ended.shut, ended.text, reader)
    if ended.ending == "exhausted":
        return wording.describe_limit(ended.reason, ended.text, turn_id)
    if ended.ending == "refused":
        note = wording.describe_refusal(ended.reason)
    else:
        note = wording.describe_failure(ended.reason, turn_id, detail=ended.detail)
    return f"{ended.text}\n\n{note}" if ended.text else note


def note_thrift(
    connection: Connection, ended: TurnEnded, active: ActiveTurn, reader: Reader
) -> str:
    """What goes below the first answer of a day that the cheap model gave; "" elsewhere."""
    if not ended.is_thrifty:
        return ""
    key, day = f"thrift:{active.person.id}", str(day_of(reader.now, reader.zone).start)
    if meta.get(connection, key=key) == day:
        return ""
    meta.put(connection, key=key, value=day)
    return f"\n\n{wording_usage.THRIFT}"


def owe_title(connection: Connection, active: ActiveTurn, now: int) -> None:
    """Background work: a name for a session that has become worth one."""
    if not active.is_untitled:
        return
    said = sum(message.role == "user" for message in active.messages)
    if said >= _TITLE_AFTER:
        tasks.owe(
            connection,
            kind="title",
            key=f"session:{active.session_id}",
            person_id=active.person.id,
            payload=str(active.session_id),
            now=now,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What there is to be seen of a turn: its live message, its status line, and whether a line
    is held for its answer. `buttons` stand below the answer's end.
    """

    live: OutboxRow | None = None
    status: OutboxRow | None = None
    lead: Lead | None = None
    buttons: tuple[Choice, ...] = ()


def offer_undo(
    connection: Connection, active: ActiveTurn, tools: Sequence[str]
) -> tuple[Choice, ...]:
    """A button for each thing that a turn has learned, which takes it back."""
    keeper = active.keeper
    if keeper is None:
        return ()
    learned: list[tuple[LedgerEntry, Number]] = []
    if "memory" in tools:
        register = open_register(connection, person_id=keeper.person_id)
        rows = [row for row in register.rows if row.origin.actor == f"turn:{active.id}"]
        learned = [(row, register.number_of(row)) for row in rows]
    if "archive" in tools:
        learned += list_of_turn(connection, person_id=keeper.person_id, turn_id=active.id)
        learned.sort(key=lambda one: one[0].id)
    return tuple(
        stand_for(f"undo {number}", wording_memory.offer_undo(row.change.after, row.change.before))
        for row, number in learned[-_MOST_OFFERED:]
    )


def owe_parts(
    connection: Connection, debt: Debt, parts: Sequence[str], now: int, stage: Stage
) -> list[OutboxRow]:
    """Owe the parts of an answer. The first goes into the live message if there is one; else,
    where a line is held for it, it is noted as on its way at once.

    The status line goes, behind the answer: nothing may hold that up.
    """
    live, status, lead = stage.live, stage.status, stage.lead
    rows = []
    for number, part in enumerate(parts):
        below = stage.buttons if number == len(parts) - 1 else ()
        if live and number == 0:
            done = outbox.settle_live(connection, outbox_id=live.id, body=part, buttons=below)
            rows.append(done)
            continue
        is_silent = debt.is_silent or number > 0
        owed = replace(debt, body=part, part=number, is_silent=is_silent, buttons=below)
        if lead and number == 0:
            rows.append(outbox.send_off(connection, owed, anchor=lead.anchor, now=now))
        else:
            rows.append(outbox.owe(connection, owed, now=now))
    return [*rows, *_end_status(connection, status)]


def owe_files(
    connection: Connection, debt: Debt, adapter: ChatAdapter | None, now: int
) -> list[OutboxRow]:
    """Owe the files that a turn made; where files can't be sent, it is said which there are."""
    made = files.list_of_turn(connection, turn_id=_turn_of(debt))
    if made and not isinstance(adapter, CanSendFiles):
        body = wording.describe_unsent_files([file.name for file in made])
        return [outbox.owe(connection, replace(debt, body=body, is_silent=True), now=now)]
    return [
        outbox.owe(connection, replace(debt, file=(file.key, file.name), is_silent=True), now=now)
        for file in made
    ]


def keep_shown(connection: Connection, turn_id: TurnId, words: str) -> list[OutboxRow]:
    """What a turn has said before it asks something stays; what it says then comes below."""
    live = outbox.find_live(connection, turn_id=turn_id)
    if live is None:
        return []
    return [outbox.settle_live(connection, outbox_id=live.id, body=words or live.body)]


def leave(connection: Connection, turn_id: TurnId, words: str) -> list[OutboxRow]:
    """A running turn goes on elsewhere: what it showed here says so, and is final."""
    live, status = outbox.find_shown(connection, turn_id=turn_id)
    rows = [outbox.settle_live(connection, outbox_id=live.id, body=words)] if live else []
    return [*rows, *_end_status(connection, status)]


def _end_status(connection: Connection, status: OutboxRow | None) -> list[OutboxRow]:
    return [outbox.settle_live(connection, outbox_id=status.id, body="")] if status else []


def _turn_of(debt: Debt) -> TurnId:
    assert debt.turn_id is not None  # noqa: S101 - only turns have answers
    return debt.turn_id
