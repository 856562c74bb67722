"""Buttons below messages, which send commands, and the captions of files."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent_core.agent.turn import ActiveTurn
from agent_core.events import UNMET, TurnEnded
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.memory.archive.history import list_archive_changes
from agent_core.memory.numbering import load_change_index
from agent_core.state.conversations.questions import Choice, Style
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people.deeds import name_undo
from agent_core.transcript import Receipt
from gateway.texts import general, memory

_SIGNS = re.compile(r"^\W+|\W+$")
_WRITE = "✎"
"""Leads the words that stand for buttons; a sign, because the reader's language is unknown."""
_MOST_SPELLED = 4
"""Labels below a text, as many as a reminder has. Texts with more say what to write."""
_PICTURES = ("png", "jpg", "jpeg", "webp", "gif")
_KEY = re.compile(r"(?P<says>[cyn]):(?P<words>[a-z0-9_:-]{1,38})")
_SAYS = {None: "c", True: "y", False: "n"}
"""How a key begins, by what its button says to the question above it: nothing, yes or no."""


def stand_for(
    words: str, label: str, style: Style = "plain", *, says_yes: bool | None = None
) -> Choice:
    """Make a button that sends `/words`. Raises `ValueError` if they don't fit into a key.

    Below a question, a typed yes also presses the button that `says_yes`, and a no the other one.
    """
    key = f"{_SAYS[says_yes]}:{words.replace(' ', ':')}"
    if not _KEY.fullmatch(key):
        raise ValueError(f"a button can't stand for {words!r}")
    return Choice(key=key, label=label, style=style)


def offer_command(words: str, label: str, *, says_yes: bool | None = None) -> tuple[Choice, ...]:
    """Make a button that sends `/words`; none if they don't fit into a key, such as a long name."""
    try:
        return (stand_for(words, label, says_yes=says_yes),)
    except ValueError:
        return ()


def offer_retry(ended: TurnEnded) -> tuple[Choice, ...]:
    """Make a button that asks again, below an answer whose claim did not happen."""
    return (stand_for("retry", general.RETRY()),) if ended.reason == UNMET else ()


def make_undo_button(row: LedgerEntry, label: str) -> Choice:
    """Make a button that undoes one change."""
    return stand_for(f"undo {row.id}", label)


def read_command(key: str) -> str | None:
    """Return the command of a button's key; a forged key only sends what anybody may send."""
    found = _KEY.fullmatch(key)
    return "/" + found["words"].replace(":", " ") if found else None


def read_bare_answer(buttons: Sequence[Choice], *, is_yes: bool) -> str | None:
    """Return the command for a typed yes or no; "" for a no without a button; None if none asks."""
    says = {found["says"]: one.key for one in buttons if (found := _KEY.fullmatch(one.key))}
    if "y" not in says:
        return None
    return read_command(says.get(_SAYS[is_yes], "")) or ""


def spell_out(text: str, buttons: Sequence[Choice]) -> str:
    """Write the labels of a few command buttons below a text, for chats that show no buttons."""
    labels = [one.label for one in buttons if read_command(one.key)]
    if not 0 < len(labels) <= _MOST_SPELLED:
        return text
    return "\n\n".join(filter(None, (text, f"{_WRITE} {' · '.join(labels)}")))


def read_label(words: str, buttons: Sequence[Choice]) -> str | None:
    """Return the command of the one button that words name, without the signs around its label."""
    said = _plain(words)
    found = [read_command(one.key) for one in buttons if _plain(one.label) == said]
    return found[0] if said and len(found) == 1 else None


def _plain(words: str) -> str:
    return _SIGNS.sub("", " ".join(words.casefold().split()))


def caption_of(name: str) -> str:
    """Return the caption of a picture, since a photo shows no name; "" for any other file."""
    stem, _, suffix = name.rpartition(".")
    words = " ".join(stem.replace("-", " ").replace("_", " ").split())
    return f"{words[:1].upper()}{words[1:]}" if suffix.casefold() in _PICTURES else ""


_MOST_OFFERED = 3
"""Undo buttons below an answer; more would crowd out the answer on a phone."""


def make_undo_buttons_of_call(
    connection: Connection, owner_id: PersonId, *, turn_id: TurnId, call_id: CallId
) -> tuple[Choice, ...]:
    """Make a button for each change of a memory that one call made, which undoes it."""
    made = {
        row.id
        for row in ledger.find_call(connection, person_id=owner_id, call_key=f"{turn_id}:{call_id}")
    }
    index = load_change_index(connection, person_id=owner_id)
    archived = list_archive_changes(connection, person_id=owner_id, turn_id=turn_id)
    found = [row for row in (*index.rows, *archived) if row.id in made]
    return tuple(make_undo_button(row, memory.UNDO()) for row in found[-_MOST_OFFERED:])


def make_undo_buttons(
    connection: Connection,
    active: ActiveTurn,
    tools: Sequence[str],
    receipts: Sequence[Receipt] = (),
    several: Sequence[tuple[int, int]] = (),
) -> tuple[Choice, ...]:
    """Make a button for each change of a turn that a command undoes, the newest ones.

    The `several` are deeds with the number of their parts; a button takes all of them back. A
    single button below its receipt needs no name.
    """
    undone = [
        button
        for receipt in receipts
        if receipt.undo
        for button in offer_command(receipt.undo, memory.offer_undo(_name(receipt), None))
    ]
    learned = _make_memory_buttons(connection, active, tools)
    wholes = [stand_for(name_undo(deed), memory.UNDO_ALL(count=count)) for deed, count in several]
    buttons = (*undone, *learned, *wholes)[-_MOST_OFFERED:]
    if receipts and len(buttons) == 1:
        return (replace(buttons[0], label=memory.UNDO()),)
    return buttons


def _name(receipt: Receipt) -> str:
    """Return the name of what changed, without the moment or the verb before it."""
    return receipt.text.partition(": ")[2] or receipt.text


def _make_memory_buttons(
    connection: Connection, active: ActiveTurn, tools: Sequence[str]
) -> tuple[Choice, ...]:
    owner = active.memory_owner
    if owner is None:
        return ()
    learned: list[LedgerEntry] = []
    if "memory" in tools:
        index = load_change_index(connection, person_id=owner.person_id)
        learned = [row for row in index.rows if row.origin.actor == f"turn:{active.id}"]
    if "archive" in tools:
        learned += list_archive_changes(connection, person_id=owner.person_id, turn_id=active.id)
        learned.sort(key=lambda row: row.id)
    return tuple(
        make_undo_button(row, memory.offer_undo(row.change.after, row.change.before))
        for row in learned[-_MOST_OFFERED:]
    )
