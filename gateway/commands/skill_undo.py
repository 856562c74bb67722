"""Undo of skill changes in a conversation: `/undo skill NAME`, and `/undo` for the newest one."""

from pathlib import Path

from agent_core.ids import TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry, Origin
from gateway.commands.memory_scope import PERSON
from gateway.commands.registry import Call, Reply
from gateway.errors import Declined
from gateway.operations.skills import undo_newest
from gateway.outbound.command_buttons import offer_command
from gateway.texts import memory
from gateway.texts import skills as texts
from gateway.texts.general import OWNER_ONLY
from gateway.texts.undo import BRING_BACK, TAKEN_BACK

_WORD = "skill"
_TURN = "turn:"
_MOST_SEEN = 20
"""Most ledger rows that are searched for the newest change of a text."""


class SkillUndo:
    """Undoes changes of the home's skills, for owners. Every method raises `StoreError`."""

    def __init__(self, database: Database, folder: Path) -> None:
        """`folder` holds the home's skills."""
        self._database = database
        self._folder = folder

    async def undo_named(self, call: Call) -> Reply | None:
        """Answer `/undo skill NAME`: undo the skill's newest change.

        None for any other argument.
        """
        word, _, name = call.argument.partition(" ")
        if word.casefold() != _WORD:
            return None
        if not call.person.is_owner:
            return Reply(text=OWNER_ONLY())
        return await self.undo(call, name.strip().removeprefix("/").replace("_", "-"))

    async def undo(self, call: Call, name: str) -> Reply:
        """Undo the newest change of a skill; a repeated event undoes it once."""
        origin = Origin(
            actor=f"{PERSON}{call.person.id}",
            now=call.now,
            evidence=call.message.text,
            call_key=call.call_key,
        )
        try:
            made = await undo_newest(self._database, self._folder, name, origin)
        except Declined as refusal:
            return Reply(text=texts.describe_kept(str(refusal)))
        if made is None:
            return Reply(text=texts.UNKNOWN(name=name))
        text = texts.describe_undone(name, made.change)
        # A second undo of the same skill takes back the first.
        is_back = not await self._database.read(ledger.takes_back, entry_id=made.id)
        label = memory.UNDO() if is_back else BRING_BACK()
        again = offer_command(f"undo {_WORD} {name}", label)
        return Reply(text=text if is_back else TAKEN_BACK(done=text), buttons=again)

    async def find_newest(self, call: Call) -> tuple[str, LedgerEntry] | None:
        """Return the skill whose text changed last, with the change, if an owner's turn made it."""
        if not call.person.is_owner:
            return None
        return await self._database.read(_find_newest, call)

    async def find_made(self, call: Call) -> str | None:
        """Return the skill of which this call has undone a change before a crash."""
        return await self._database.read(_find_made, call)


def _find_newest(connection: Connection, call: Call) -> tuple[str, LedgerEntry] | None:
    team = blocks.find_team(connection)
    if team is None:
        return None
    recent = skill_changes.list_recent(connection, person_id=team, limit=_MOST_SEEN)
    # Rows that keep the text are about the state of a skill, or its other files.
    found = next((row for row in recent if row.change.before != row.change.after), None)
    if found is None or not _is_mine(connection, call, found):
        return None
    name = _find_name(connection, found)
    return (name, found) if name else None


def _find_made(connection: Connection, call: Call) -> str | None:
    team = blocks.find_team(connection)
    if team is None:
        return None
    made = ledger.find_call(connection, person_id=team, call_key=call.call_key)
    return _find_name(connection, made[0]) if made else None


def _find_name(connection: Connection, row: LedgerEntry) -> str | None:
    """Return the name of the skill that a change is about; None if it is about something else."""
    names = {one.id: one.name for one in skills.list_all(connection)}
    return names.get(row.change.position) if row.target == "skill" else None


def _is_mine(connection: Connection, call: Call, row: LedgerEntry) -> bool:
    """True for a change that the agent made in a turn of the caller."""
    actor = row.origin.actor
    if not actor.startswith(_TURN):
        return False
    turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
    return turn is not None and turn.person_id == call.person.id
