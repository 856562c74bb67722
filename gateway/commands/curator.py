"""The command `curator`: what it did, what it proposes, and what a person decides about that."""

from collections.abc import Mapping
from functools import partial

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curation.looks import list_memory
from agent_core.skills.curation.record import Merge, Tidying
from agent_core.skills.states import CURATOR
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skills
from agent_core.state.memory.ledger import LedgerEntry
from gateway.commands.memory_scope import MemoryAccess, own_scope
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.operations.curator import CuratorDesk, Waiting, list_waiting, start
from gateway.outbound.command_buttons import stand_for
from gateway.texts import curator as texts
from gateway.texts.general import OWNER_ONLY
from gateway.texts.memory import UNDO

_MOST_SHOWN = 3
"""Most proposals shown at a time; more would fill a phone's screen."""
_MOST_CHANGES = 15


class CuratorCommands:
    """Shows what the curator does, and makes the changes that a person accepts."""

    def __init__(self, access: MemoryAccess, catalog: SkillCatalog) -> None:
        self._access = access
        self._desk = CuratorDesk(database=access.database, memory=access.memory, catalog=catalog)

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"curator": self._curator}

    async def _curator(self, call: Call) -> Reply:
        match call.argument.casefold().split():
            case []:
                return await self._show_status(call)
            case ["run"]:
                return Reply(effect=partial(_run, call=call))
            case ["report"]:
                return await self._report(call)
            case ["proposals"]:
                return await self._list(call)
            case ["accept", key]:
                return await self._decide(call, key, accepts=True)
            case ["decline", key]:
                return await self._decide(call, key, accepts=False)
            case ["restore"]:
                return await self._restore(call)
            case _:
                return Reply(text=texts.USAGE())

    async def _show_status(self, call: Call) -> Reply:
        found = await self._desk.report(call.person, call.now)
        buttons = [
            stand_for("curator run", texts.RUN()),
            stand_for("curator report", texts.SHOW_REPORT()),
        ]
        if found.waiting:
            buttons.insert(0, stand_for("curator proposals", texts.SHOW_PROPOSALS()))
        text = texts.describe_status(found.last, found.following, found.waiting, call.clock)
        return Reply(text=text, buttons=tuple(buttons))

    async def _report(self, call: Call) -> Reply:
        found = await self._desk.report(call.person, call.now)
        changes = await self._desk.database.read(_list_changes) if found.skills else []
        sizes = [(one.notes, one.characters, one.limit) for one in found.lists]
        text = texts.describe_report(changes, found.skills, sizes, found.waiting, call.clock)
        return Reply(text=text, buttons=(stand_for("curator", texts.SHOW_STATUS()),))

    async def _list(self, call: Call) -> Reply:
        waiting = await self._desk.database.read(list_waiting, call.person)
        if not waiting:
            return Reply(text=texts.NOTHING_WAITS())
        shown = waiting[:_MOST_SHOWN]
        buttons = []
        for number, one in enumerate(shown, 1):
            label = texts.ACCEPT(number=number)
            buttons.append(stand_for(f"curator accept {one.key}", label, "good"))
            buttons.append(stand_for(f"curator decline {one.key}", texts.DECLINE(number=number)))
        text = texts.describe_proposals([one.proposal for one in shown], len(waiting) - len(shown))
        return Reply(text=text, buttons=tuple(buttons))

    async def list_conflicts(self, call: Call) -> Reply:
        """Show the notes of the caller that contradict each other, and let them choose."""
        await self._access.open(call, own_scope(call.person))
        waiting, dates = await self._desk.database.read(_list_conflicts, call)
        if not waiting:
            look = stand_for("curator run", texts.RUN())
            return Reply(text=texts.NO_CONFLICTS(), buttons=(look,))
        buttons = []
        for number, (one, _) in enumerate(waiting, 1):
            newer, both = texts.KEEP_NEWER(number=number), texts.KEEP_BOTH(number=number)
            buttons.append(stand_for(f"curator accept {one.key}", newer, "good"))
            buttons.append(stand_for(f"curator decline {one.key}", both))
        shown = [change for _, change in waiting]
        return Reply(text=texts.list_conflicts(shown, dates, call.clock), buttons=tuple(buttons))

    async def _decide(self, call: Call, key: str, *, accepts: bool) -> Reply:
        """Accept or decline one proposal, and say how to undo the change that it made."""
        done = await self._desk.decide(call.person, key, call.now, accepts=accepts)
        more, change = await self._offer_more(call), done.proposal.change
        if done.state != "accepted":
            return Reply(text=texts.DECIDED[done.state](), buttons=more)
        if isinstance(change, Merge) and done.is_new:
            again = stand_for("curator restore", texts.RESTORE())
            return Reply(text=texts.describe_merged(change), buttons=(again, *more))
        if isinstance(change, Merge):
            return Reply(text=texts.MERGED_BEFORE(), buttons=more)
        numbers = [row.id for row in done.rows]
        undo = (stand_for(f"undo {numbers[0]}", UNDO()),) if len(numbers) == 1 else ()
        return Reply(
            text=texts.describe_tidied([row.change for row in reversed(done.rows)], numbers),
            buttons=(*undo, *more),
        )

    async def _offer_more(self, call: Call) -> tuple[Choice, ...]:
        """Make a button for the proposals that still wait, if any do."""
        waiting = await self._desk.database.read(list_waiting, call.person)
        return (stand_for("curator proposals", texts.SHOW_PROPOSALS()),) if waiting else ()

    async def _restore(self, call: Call) -> Reply:
        """Restore the newest snapshot of the skills, for owners."""
        if not call.person.is_owner:
            return Reply(text=OWNER_ONLY())
        done = await self._desk.restore(f"person:{call.person.id}", call.now)
        return Reply(text=texts.describe_restored(done))


def _run(connection: Connection, call: Call) -> Outcome:
    started = start(connection, call.person, call.call_key, call.now)
    return texts.STARTED[started.scope](), []


def _list_conflicts(
    connection: Connection, call: Call
) -> tuple[list[tuple[Waiting, Tidying]], dict[str, int]]:
    """List the contradictions whose notes still stand, and when each note was written."""
    entries = list_memory(connection, person_id=call.person.id)
    dates = {one.text: one.at for one in entries}
    found: list[tuple[Waiting, Tidying]] = []
    for one in list_waiting(connection, call.person):
        change = one.proposal.change
        if not isinstance(change, Tidying) or change.kind != "contradiction":
            continue
        if all(text in dates for text in (*change.removed, change.kept)):
            found.append((one, change))
    return found[:_MOST_SHOWN], dates


def _list_changes(connection: Connection) -> list[tuple[str, LedgerEntry]]:
    """List the curator's newest changes of skills with their names, newest first."""
    team = blocks.find_team(connection)
    if team is None:
        return []
    rows = skill_changes.list_by(connection, person_id=team, actor=CURATOR, limit=_MOST_CHANGES)
    names = {one.id: one.name for one in skills.list_all(connection)}
    return [(names[row.change.position], row) for row in rows]
