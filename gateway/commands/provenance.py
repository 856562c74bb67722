"""Commands that explain a memory entry and undo changes: why, undo."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agent_core.execution.file_changes import FileChange
from agent_core.ids import ArchiveId, PersonId, TurnId
from agent_core.memory.archive.history import (
    ArchiveRef,
    format_archive_change,
    parse_archive_ref,
)
from agent_core.memory.archive.undo import find_newest_archive_change
from agent_core.memory.explanations import explain_entry
from agent_core.memory.numbering import ChangeIndex
from agent_core.memory.undo import UndoneChange, find_newest_change
from agent_core.state.conversations import questions, turns
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people.deeds import (
    FORGOT,
    Deed,
    find_last_id,
    find_last_moment,
    leave_out,
    list_standing,
    name_undo,
)
from agent_core.transcript import flatten
from gateway.chats import read_chat
from gateway.commands.archive import ArchiveNotes
from gateway.commands.deed_undo import UNDO, DeedUndo, find_past
from gateway.commands.file_undo import FileUndo
from gateway.commands.memory_scope import (
    MemoryAccess,
    MemoryScope,
    find_origin_platform,
    is_maker,
    origin_of,
    refuse_unreadable,
    scope_of,
)
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.commands.skill_undo import SkillUndo
from gateway.errors import Declined
from gateway.operations import memory as operations
from gateway.outbound.command_buttons import make_undo_button, offer_command
from gateway.texts import files, memory
from gateway.texts import undo as texts
from gateway.texts.memory import Undone
from gateway.texts.states import name_platform

_FRESH = 1_800_000
"""Milliseconds in which an undo means a change without asking."""
_TOLD = ("review", "curator", "person")
_LONGEST_NAME = 80
_MOST_OFFERED = 3
"""Buttons that bring back what one undo took."""
_LAST = ("that", "it", "this", "last", "das", "es", "letztes", "zuletzt")
"""Words behind `/undo` that mean the last change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A change that a bare `/undo` may be about; `command` takes back this one, if one can.

    `did` names it, and `elsewhere` the place where it was made, if that is not this chat.
    """

    at: int
    undo: Callable[[], Awaitable[Reply]]
    did: str = ""
    command: str = ""
    elsewhere: str = ""
    deed: Deed | None = None


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
        return {"why": self._why, UNDO: self._undo}

    async def _why(self, call: Call) -> Reply:
        scope = scope_of(call)
        if named := parse_archive_ref(call.argument):
            return await self._notes.explain(call, scope, named)
        number = read_number(call.argument)
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
        if call.argument.casefold() in _LAST:
            call = replace(call, argument="")
        for kind in (self._skills, self._files, self._deeds):
            if reply := await kind.undo_named(call):
                return reply
        if named := parse_archive_ref(call.argument):
            return await self._notes.undo_named(call, scope, named)
        # Buttons of earlier versions name an index, then the number.
        number = read_number(call.argument.rpartition(" ")[2])
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
            return await self._undo_newest(call, scope, change_index)
        return await self._undo_row(call, scope, row)

    async def _undo_newest(
        self, call: Call, scope: MemoryScope, change_index: ChangeIndex
    ) -> Reply:
        """Take back the newest change of any kind: first those of this chat.

        One from elsewhere, one that is old, and one by somebody else in a group, which owners may
        take back, is named and needs a yes.
        """
        if again := await self._undo_again(call, scope):
            return again
        deeds = await self._database.read(_list_deeds, call, scope.person_id)
        is_asked = await self._database.read(_is_asked, call, scope.person_id)
        found = [self._of_deed(call, deed) for deed in reversed(deeds)]
        # Of two at the same moment, the history wins: it knows the order of its own changes.
        found += await self._list_histories(call, scope, change_index)
        found.sort(key=lambda one: (not one.elsewhere, one.at))
        if not found and not is_asked:
            row = await self._database.read(
                _find_newest_row, call, scope, change_index, is_anyones=True
            )
            if row is None:
                return await self._undo_list(call, scope)
            if not await self._access.may_change(call, row):
                return Reply(text=memory.NOT_YOUR_CHANGE())
            return _ask(call, await self._of_row(call, scope, row), is_of_others=True)
        if is_asked:
            return _explain(call, texts.STILL_ASKED(), found)
        newest = found.pop()
        if newest.deed and not newest.deed.undo:
            return _explain(call, newest.deed, found)
        is_old = call.now - newest.at > _FRESH
        past = await self._database.read(find_past, newest.deed) if newest.deed else None
        if newest.command and not past and (newest.elsewhere or is_old):
            return _ask(call, newest)
        return await newest.undo()

    async def _undo_again(self, call: Call, scope: MemoryScope) -> Reply | None:
        """Answer again what this call took back before a crash; None if it took nothing."""
        if change := await self._files.find_made(call):
            return await self._files.undo(call, change)
        if skill := await self._skills.find_made(call):
            return await self._skills.undo(call, skill)
        row = await self._database.read(_find_undone, call, scope.person_id)
        if row is None:
            return None
        if row.target == "archive":
            return await self._notes.undo(call, scope, row)
        return await self._undo_row(call, scope, row)

    async def _undo_list(
        self, call: Call, scope: MemoryScope, row: LedgerEntry | None = None
    ) -> Reply:
        """Undo a change of the lists, or say why there is none, and what can't be undone."""
        try:
            reply = await self._undo_row(call, scope, row)
        except Declined as error:
            reply = Reply(text=str(error))
        return self._files.add_gap(call, row.id if row else 0, reply)

    async def _list_histories(
        self, call: Call, scope: MemoryScope, change_index: ChangeIndex
    ) -> list[_Change]:
        """List the newest changes of the memory, of skills and of files, in the order made.

        The memory yields its newest change of this chat, or else the newest of all.
        """
        found: list[tuple[int, _Change]] = []
        row = await self._database.read(_find_newest_row, call, scope, change_index)
        if row:
            found.append((row.id, await self._of_row(call, scope, row)))
        if not scope.is_room and (skill := await self._skills.find_newest(call)):
            name, made = skill
            elsewhere = await self._find_elsewhere(call, made)
            found.append(
                (
                    made.id,
                    _Change(
                        at=made.origin.now,
                        did=texts.name_skill(name),
                        command=f"undo skill {name}",
                        elsewhere=elsewhere,
                        undo=partial(self._skills.undo, call, name),
                    ),
                )
            )
        if change := await self._files.find_newest(call):
            found.append((change.row, await self._of_files(call, change)))
        return [change for _, change in sorted(found, key=lambda one: one[0])]

    def _of_deed(self, call: Call, deed: Deed) -> _Change:
        is_here = deed.platform in ("", call.platform)
        return _Change(
            at=deed.at,
            did=deed.did,
            command=name_undo(deed.id) if deed.undo else "",
            elsewhere="" if is_here else name_platform(deed.platform),
            deed=deed,
            undo=partial(self._deeds.undo, call, deed),
        )

    async def _of_files(self, call: Call, change: FileChange) -> _Change:
        turn = await self._database.read(turns.find, turn_id=TurnId(change.turn))
        platform = turn.place.chat.platform if turn else call.platform
        return _Change(
            at=change.at,
            did=texts.name_files(files.name_change(change)),
            command=f"undo files {change.number}",
            elsewhere="" if platform == call.platform else name_platform(platform),
            undo=partial(self._files.undo, call, change),
        )

    async def _of_row(self, call: Call, scope: MemoryScope, row: LedgerEntry) -> _Change:
        """Describe a change of a list or of an archived note."""
        is_note = row.target == "archive"
        shown = (format_archive_change(row) if is_note else row).change
        words = (flatten(text or "", _LONGEST_NAME) for text in (shown.before, shown.after))
        undo = self._notes.undo if is_note else self._undo_list
        return _Change(
            at=row.origin.now,
            did=texts.name_memory(*words),
            command=f"undo {row.id}",
            elsewhere=await self._find_elsewhere(call, row),
            undo=partial(undo, call, scope, row),
        )

    async def _find_elsewhere(self, call: Call, row: LedgerEntry) -> str:
        """Name where a change was made; "" for this chat, and for what its messages taught."""
        if await self._database.read(_is_from_here, row, call):
            return ""
        platform = await self._database.read(find_origin_platform, row.origin)
        return name_platform(platform) if platform else memory.name_maker(row.origin.actor)

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

    async def _describe(
        self, call: Call, scope: MemoryScope, outcome: Sequence[UndoneChange]
    ) -> Reply:
        change_index = await self._access.open(call, scope)
        undone = [_describe_others(one, change_index) for one in outcome]
        is_back = await self._database.read(ledger.takes_back, entry_id=outcome[0].undone.id)
        labels = memory.label_reversals(undone, is_back=is_back)
        rows = (one.row for one in outcome)
        again = [make_undo_button(*pair) for pair in zip(rows, labels, strict=True)]
        text = memory.describe_undone(undone, is_back=is_back)
        return Reply(text=text, buttons=tuple(again[:_MOST_OFFERED]))


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


def _find_newest_row(
    connection: Connection,
    call: Call,
    scope: MemoryScope,
    change_index: ChangeIndex,
    *,
    is_anyones: bool = False,
) -> LedgerEntry | None:
    """Return the newest row of a memory or its archive that can be undone; first of this chat.

    In a room, only the caller's own changes count, unless it `is_anyones`.
    """

    def find(is_wanted: Callable[[LedgerEntry], bool]) -> int:
        def is_meant(row: LedgerEntry) -> bool:
            is_own = is_anyones or not scope.is_room or is_maker(connection, call, row)
            return is_own and is_wanted(row)

        note = find_newest_archive_change(connection, person_id=scope.person_id, is_wanted=is_meant)
        histories = change_index.histories
        number = find_newest_change(connection, scope.person_id, histories, is_wanted=is_meant)
        return max(number, note.id if note else 0)

    number = find(lambda row: _is_from_here(connection, row, call)) or find(lambda _: True)
    found = ledger.find_row(connection, entry_id=number)
    return found[1] if found else None


def _list_deeds(connection: Connection, call: Call, person_id: PersonId) -> list[Deed]:
    """List the deeds that stand, newest first; one without a way back only if nothing followed."""
    newest = ledger.find_newest_id(connection, person_id=person_id)
    row = ledger.find_row(connection, entry_id=newest)
    changed_at = row[1].origin.now if row else 0
    last_id = find_last_id(connection, call.doer)
    return [
        deed
        for deed in list_standing(connection, call.doer)
        if deed.undo or (deed.id == last_id and deed.at >= changed_at)
    ]


def _is_asked(connection: Connection, call: Call, person_id: PersonId) -> bool:
    """Return whether the caller's newest message led to a question that is open in this chat."""
    newest = ledger.find_newest_id(connection, person_id=person_id)
    row = ledger.find_row(connection, entry_id=newest)
    since = max(row[1].origin.now if row else 0, find_last_moment(connection, call.doer))
    asked = questions.find_asked_since(
        connection, person_id=call.person.id, platform=call.platform, since=since
    )
    if asked is None:
        return False
    address = read_chat(asked.chat.address)
    return replace(address, ticket=None) == replace(call.message.address, ticket=None)


def _find_undone(connection: Connection, call: Call, person_id: PersonId) -> LedgerEntry | None:
    """Return the row of a memory that this call has undone; None if there is none."""
    made = ledger.find_call(connection, person_id=person_id, call_key=call.call_key)
    found = ledger.find_row(connection, entry_id=made[0].origin.undoes or 0) if made else None
    return found[1] if found else None


def _is_from_here(connection: Connection, row: LedgerEntry, call: Call) -> bool:
    """Return whether a change was made on this platform, or Talaria told of it in a chat.

    It tells what it learned, and what became of a note that a person chose.
    """
    platform = find_origin_platform(connection, row.origin)
    return platform == call.platform or (not platform and row.origin.actor in _TOLD)


def _explain(call: Call, deed: Deed | str, older: Sequence[_Change]) -> Reply:
    """Say once why the last deed is not taken back, and offer the newest of the `older` changes.

    Without a deed, a sentence says why, and what is open is passed over by the next undo.
    """
    before = next((change for change in reversed(older) if change.command), None)

    def effect(connection: Connection) -> Outcome:
        if isinstance(deed, str):
            call.note_fixed(connection, deed)
            reason, idle = deed, list_standing(connection, call.doer)[0]
        else:
            reason = texts.FORGOT() if deed.did == FORGOT else texts.FIXED(change=deed.did)
            idle = deed
        leave_out(connection, call.doer, idle, now=call.now)
        return _ask(call, before, reason).text if before else reason, ()

    return Reply(effect=effect, buttons=_ask(call, before).buttons if before else ())


def _ask(call: Call, change: _Change, reason: str = "", *, is_of_others: bool = False) -> Reply:
    """Ask whether a change is meant, with a button that takes back this one."""
    return Reply(
        text=texts.ask(
            call.clock.show(change.at),
            change.did,
            elsewhere=change.elsewhere,
            reason=reason,
            is_of_others=is_of_others,
        ),
        buttons=offer_command(change.command, memory.UNDO(), says_yes=True),
    )
