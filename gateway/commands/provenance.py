"""Commands that explain a memory entry and undo changes: why, undo."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive.history import ArchiveRef, parse_archive_ref
from agent_core.memory.archive.undo import find_newest_archive_change
from agent_core.memory.explanations import explain_entry
from agent_core.memory.numbering import ChangeIndex
from agent_core.memory.undo import UndoneChange, find_newest_change
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people import audit
from agent_core.state.people.deeds import Deed, find_newest
from gateway.commands.archive import ArchiveNotes
from gateway.commands.deed_undo import DeedUndo
from gateway.commands.file_undo import FileUndo
from gateway.commands.memory_scope import (
    MemoryAccess,
    MemoryScope,
    origin_of,
    refuse_unreadable,
    scope_of,
)
from gateway.commands.registry import Call, Handler, Reply
from gateway.commands.skill_undo import SkillUndo
from gateway.errors import Declined
from gateway.operations import memory as operations
from gateway.outbound.command_buttons import make_undo_button, stand_for
from gateway.texts import memory
from gateway.texts.memory import Undone

_UNDO = "undo"
_FRESH = 1_800_000
"""Milliseconds in which "undo that" means a change without asking."""
_LAST = ("that", "it", "this", "last", "das", "es", "letztes", "zuletzt")
"""Words behind `/undo` that mean the last change."""


class ProvenanceCommands:
    """Explains and undoes changes of a person's or a room's memory."""

    def __init__(
        self,
        access: MemoryAccess,
        notes: ArchiveNotes,
        skills: SkillUndo,
        files: FileUndo,
        deeds: DeedUndo,
    ) -> None:
        self._access = access
        self._database = access.database
        self._deeds = deeds
        self._notes = notes
        self._skills = skills
        self._files = files

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"why": self._why, _UNDO: self._undo}

    async def _why(self, call: Call) -> Reply:
        scope = scope_of(call)
        if named := parse_archive_ref(call.argument):
            return await self._notes.explain(call, scope, named)
        number = _read_number(call.argument)
        if number is None:
            return Reply(text=memory.WHY_USAGE())
        if note := await self._find_note(scope, number):
            return await self._notes.explain(
                call, scope, ArchiveRef(id=ArchiveId(note.change.position))
            )
        change_index = await self._access.open(call, scope)
        reason = await self._database.read(explain_entry, change_index, number, scope.reader)
        if reason is None:
            return Reply(text=memory.NUMBER_UNKNOWN(number=number))
        viewer = await self._access.make_viewer(call, scope, [step.row for step in reason.steps])
        undo = make_undo_button(reason.made_by, memory.UNDO())
        buttons = () if reason.words is None else (undo,)
        return Reply(text=memory.explain(reason, viewer), buttons=buttons)

    async def _undo(self, call: Call) -> Reply:
        """Undo a change; the ledger knows this call, so a repeated event undoes it once."""
        scope = scope_of(call)
        is_fresh_only = call.argument.casefold() in _LAST
        if is_fresh_only:
            call = replace(call, argument="")
        if reply := await self._skills.undo_named(call) or await self._files.undo_named(call):
            return reply
        if named := parse_archive_ref(call.argument):
            return await self._notes.undo_named(call, scope, named)
        # Buttons of earlier versions name an index, then the number.
        number = _read_number(call.argument.rpartition(" ")[2])
        if call.argument and number is None:
            return Reply(text=memory.UNDO_USAGE())
        if number is not None and (note := await self._find_note(scope, number)):
            return await self._notes.undo(call, scope, note)
        change_index = await self._access.open(call, scope)
        row = None if number is None else change_index.find(number)
        if number is not None and row is None:
            unknown = memory.CHANGE_ELSEWHERE() if call.is_press else None
            return Reply(text=unknown or memory.NUMBER_UNKNOWN(number=number))
        if number is None:
            return await self._undo_newest(call, scope, change_index, is_fresh_only=is_fresh_only)
        return await self._undo_row(call, scope, row)

    async def _undo_newest(
        self, call: Call, scope: MemoryScope, change_index: ChangeIndex, *, is_fresh_only: bool
    ) -> Reply:
        """Undo the newest change of any kind: a deed, files, a skill, a note or the lists.

        With `is_fresh_only`, an old one needs a yes: "undo that" may be about an answer.
        """
        newest = await self._database.read(_find_newest_id, scope.person_id, change_index)
        change = await self._files.find_newest(call, newest)
        skill = await self._find_newest_skill(call, scope, max(newest, change.row if change else 0))
        others = max(change.at if change else 0, skill[1] if skill else 0)
        deed, latest = await self._database.read(_find_newest_deed, call, newest, others)
        if is_fresh_only and not call.is_repeat and call.now - latest > _FRESH:
            sure = stand_for(_UNDO, memory.UNDO())
            return Reply(text=memory.NOTHING_JUST_NOW(), buttons=(sure,) if latest else ())
        if deed:
            return await self._deeds.undo(call, deed)
        if change and not skill:
            return await self._files.undo(call, change)
        if skill:
            reply = await self._skills.undo(call, skill[0])
        elif await self._is_newest_forget(call, scope, change_index):
            reply = Reply(text=await self._describe_forget(scope, change_index))
        elif note := await self._find_newest_note(call, scope, change_index):
            reply = await self._notes.undo(call, scope, note)
        else:
            try:
                reply = await self._undo_row(call, scope, None)
            except Declined as error:
                reply = Reply(text=str(error))
        return self._files.add_gap(call, newest, reply)

    async def _undo_row(self, call: Call, scope: MemoryScope, row: LedgerEntry | None) -> Reply:
        """Undo a change of the lists, or without a row the newest one."""
        if scope.is_room:
            asked = row or await self._find_newest_row(call, scope)
            if asked and not await self._access.may_change(call, asked):
                return Reply(text=memory.NOT_YOUR_CHANGE())
        origin = origin_of(call, scope)
        try:
            outcome = await self._access.memory.undo(
                scope.person_id, scope.slug, row.id if row else None, origin, kind=scope.kind
            )
        except OSError as error:
            return refuse_unreadable(error)
        undone = operations.take_undone(outcome, row.id if row else 0)
        return await self._describe(call, scope, undone)

    async def _find_newest_row(self, call: Call, scope: MemoryScope) -> LedgerEntry | None:
        """Return the newest change of a memory's lists that can be undone."""
        change_index = await self._access.open(call, scope)
        number = await self._database.read(
            find_newest_change, scope.person_id, change_index.histories
        )
        return change_index.find(number)

    async def _find_note(self, scope: MemoryScope, number: int) -> LedgerEntry | None:
        """Return the change of an archived note that has this number in the memory."""
        found = await self._database.read(ledger.find_row, entry_id=number)
        is_note = found and found[0] == scope.person_id and found[1].target == "archive"
        return found[1] if found and is_note else None

    async def _is_newest_forget(
        self, call: Call, scope: MemoryScope, change_index: ChangeIndex
    ) -> bool:
        """Return whether `/forget` is newer than every change that can be undone.

        False for a call that has undone a change before a crash.
        """

        def look(connection: Connection) -> bool:
            person_id = scope.person_id
            if ledger.find_call(connection, person_id=person_id, call_key=call.call_key):
                return False
            forgot_at = audit.find_newest(connection, person_id=person_id, action="forget")
            if forgot_at is None:
                return False
            number = _find_newest_id(connection, person_id, change_index)
            found = ledger.find_row(connection, entry_id=number)
            return found is None or found[1].origin.now <= forgot_at

        return await self._database.read(look)

    async def _describe_forget(self, scope: MemoryScope, change_index: ChangeIndex) -> str:
        """Say that a bare `/undo` would undo `/forget`, and which number undoes the last change."""

        def look(connection: Connection) -> LedgerEntry | None:
            number = find_newest_change(connection, scope.person_id, change_index.histories)
            found = ledger.find_row(connection, entry_id=number)
            return found[1] if found else None

        last = await self._database.read(look)
        if last is None:
            return memory.FORGET_STANDS()
        return memory.FORGET_STANDS_LAST(number=last.id)

    async def _find_newest_skill(
        self, call: Call, scope: MemoryScope, newest: int
    ) -> tuple[str, int] | None:
        """Return the skill whose change is newer than a row of the ledger, and its time."""
        if scope.is_room:
            return None
        return await self._skills.find_newest(call, newest)

    async def _find_newest_note(
        self, call: Call, scope: MemoryScope, change_index: ChangeIndex
    ) -> LedgerEntry | None:
        """Return the archive's newest change if no other change is newer.

        If this call has undone a change before a crash, return that one again.
        """

        def look(connection: Connection) -> LedgerEntry | None:
            made = ledger.find_call(connection, person_id=scope.person_id, call_key=call.call_key)
            if made:
                found = ledger.find_row(connection, entry_id=made[0].origin.undoes or 0)
                return found[1] if found and made[0].target == "archive" else None
            newest = find_newest_archive_change(connection, person_id=scope.person_id)
            other = find_newest_change(connection, scope.person_id, change_index.histories)
            return newest if newest and newest.id > other else None

        return await self._database.read(look)

    async def _describe(
        self, call: Call, scope: MemoryScope, outcome: Sequence[UndoneChange]
    ) -> Reply:
        change_index = await self._access.open(call, scope)
        undone = [_describe_others(one, change_index) for one in outcome]
        viewer = await self._access.make_viewer(call, scope, [one.undone for one in outcome])
        again = (
            (make_undo_button(outcome[0].row, memory.label_reversal(undone[0])),)
            if len(undone) == 1
            else ()
        )
        return Reply(text=memory.describe_undone(undone, viewer), buttons=again)


def _describe_others(one: UndoneChange, change_index: ChangeIndex) -> Undone:
    """Return an undone change with those that went or came with it."""
    told = (one.undone, *change_index.list_undone_by(one.undone))

    def list_numbered(rows: Sequence[LedgerEntry]) -> tuple[tuple[int, str], ...]:
        others = (row for row in rows if row not in told)
        return tuple((row.id, row.change.after or "") for row in others)

    return Undone(
        undone=one,
        went=list_numbered(one.derived),
        came=list_numbered(one.revived),
    )


def _find_newest_id(connection: Connection, person_id: PersonId, change_index: ChangeIndex) -> int:
    """Return the newest row of a memory or its archive that can be undone; 0 if there is none."""
    newest = find_newest_archive_change(connection, person_id=person_id)
    number = find_newest_change(connection, person_id, change_index.histories)
    return max(number, newest.id if newest else 0)


def _find_newest_deed(
    connection: Connection, call: Call, newest: int, others: int
) -> tuple[Deed | None, int]:
    """Return the caller's newest deed if nothing that can be undone is newer; and that time.

    `newest` is the newest such row of the ledger, and `others` the time of other changes in
    milliseconds. There is no deed for a call that has undone a change of memory before a crash.
    """
    owner_id = call.doer.owner_id
    if ledger.find_call(connection, person_id=owner_id, call_key=call.call_key):
        return None, call.now
    deed, row = find_newest(connection, call.doer), ledger.find_row(connection, entry_id=newest)
    forgot_at = audit.find_newest(connection, person_id=owner_id, action="forget")
    latest = max(row[1].origin.now if row else 0, forgot_at or 0, others)
    return (deed, deed.at) if deed and deed.at > latest else (None, latest)


def _read_number(argument: str) -> int | None:
    return int(argument) if argument.isdecimal() and len(argument) < 10 else None
