"""Archive notes in the memory commands: list and explain them, delete them, undo changes."""

from agent_core.agent.agent import Agent
from agent_core.ids import PersonId
from agent_core.memory.archive.entries import format_archive_id
from agent_core.memory.archive.history import (
    ArchiveHistory,
    ArchiveRef,
    explain_archive_entry,
    format_archive_change,
    load_archive_history,
)
from agent_core.memory.archive.search import search_archive
from agent_core.memory.recall.query import read_query
from agent_core.memory.undo import UndoneChange
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveEntry, ArchiveFilter
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.tools.clock import local_time
from gateway.commands.memory_scope import MemoryAccess, MemoryScope, origin_of
from gateway.commands.registry import Call, Reply
from gateway.operations import memory as operations
from gateway.outbound.command_buttons import make_undo_button
from gateway.texts import memory
from gateway.texts.memory import Archive, Undone
from gateway.texts.rooms import describe_forgotten

_PREVIEW = 3
"""Notes listed below the entries that are always in the prompt."""
_MOST_LISTED = 12
_MOST_COUNTED = 100_000


class ArchiveNotes:
    """Works on the notes of one memory. Every method raises `StoreError`."""

    def __init__(self, access: MemoryAccess, agent: Agent) -> None:
        self._access = access
        self._database = access.database
        self._agent = agent

    async def preview(self, scope: MemoryScope) -> Archive:
        """Return the number of notes in an archive, and the newest notes."""
        return await self._database.read(_list_newest, scope.person_id, _PREVIEW)

    async def find(self, call: Call, scope: MemoryScope, words: str) -> Reply:
        """List the notes that match some words; without words, the newest ones."""
        query = read_query(words)

        def look(connection: Connection) -> Archive:
            if not query.asked:
                return _list_newest(connection, scope.person_id, _MOST_LISTED)
            within = ArchiveFilter(person_id=scope.person_id)
            found = search_archive(
                connection, within, query, lambda moment: local_time(moment, call.zone)
            )
            hits = [hit.entry for hit in found.hits[:_MOST_LISTED]]
            return Archive(notes=[_format(entry) for entry in hits], count=found.count)

        aside = await self._database.read(look)
        if not aside.notes:
            return Reply(text=memory.ARCHIVE_NO_HIT() if query.asked else memory.ARCHIVE_EMPTY())
        return Reply(text=memory.list_archive(aside))

    async def explain(self, call: Call, scope: MemoryScope, named: ArchiveRef) -> Reply:
        """Show the origin of a note and its changes."""
        history = await self._find(scope, named)
        if history is None or history.find(named.change) is None:
            return _unknown(named)
        reason = await self._database.read(explain_archive_entry, history, scope.reader)
        viewer = await self._access.make_viewer(call, scope, [step.row for step in reason.steps])
        undo = make_undo_button(history.rows[-1], memory.UNDO())
        buttons = () if reason.words is None else (undo,)
        return Reply(text=memory.explain(reason, viewer), buttons=buttons)

    async def undo_named(self, call: Call, scope: MemoryScope, named: ArchiveRef) -> Reply:
        """Undo a change by its name."""
        history = await self._find(scope, named)
        row = history.find(named.change) if history else None
        return await self.undo(call, scope, row) if row else _unknown(named)

    async def undo(self, call: Call, scope: MemoryScope, row: LedgerEntry) -> Reply:
        """Undo a change; a repeated event undoes it once."""
        if scope.is_room and not await self._access.may_change(call, row):
            return Reply(text=memory.NOT_YOUR_CHANGE())
        origin = origin_of(call, scope)
        made = await operations.undo_note(self._database, scope.person_id, row, origin)
        self._agent.invalidate_conversations()  # prompts state the number of notes
        done = UndoneChange(
            undone=format_archive_change(row),
            row=format_archive_change(made),
            derived=(),
            revived=(),
        )
        reported = Undone(undone=done, went=(), came=())
        is_back = await self._database.read(ledger.takes_back, entry_id=row.id)
        (label,) = memory.label_reversals([reported], is_back=is_back)
        text = memory.describe_undone([reported], is_back=is_back)
        return Reply(text=text, buttons=(make_undo_button(made, label),))

    async def delete(self, call: Call, scope: MemoryScope, named: ArchiveRef) -> Reply:
        """Delete a note; the ledger keeps it, so `/undo` can bring it back."""
        history = await self._find(scope, named)
        if history is None or named.change is not None:
            return _unknown(named)
        if scope.is_room and not await self._access.may_change(call, history.rows[-1]):
            return Reply(text=memory.NOT_YOUR_CHANGE())
        origin = origin_of(call, scope)
        row = await operations.delete_note(self._database, scope.person_id, named.id, origin)
        if row is None:
            return _unknown(named)
        self._agent.invalidate_conversations()
        button = make_undo_button(row, memory.UNDO())
        return Reply(
            text=describe_forgotten(format_archive_change(row).change.before or ""),
            buttons=(button,),
        )

    async def _find(self, scope: MemoryScope, named: ArchiveRef) -> ArchiveHistory | None:
        return await self._database.read(
            load_archive_history, person_id=scope.person_id, archive_id=named.id
        )


def _list_newest(connection: Connection, person_id: PersonId, limit: int) -> Archive:
    ids = archive.list_holders(connection, within=ArchiveFilter(person_id=person_id), limit=limit)
    entries = archive.list_entries(connection, person_id=person_id, archive_ids=ids)
    count = archive.count(connection, person_id=person_id, most=_MOST_COUNTED)
    return Archive(notes=[_format(entry) for entry in entries], count=count)


def _format(entry: ArchiveEntry) -> tuple[str, str]:
    tags = f" ({', '.join(entry.tags)})" if entry.tags else ""
    return format_archive_id(entry.id), f"{entry.text}{tags}"


def _unknown(named: ArchiveRef) -> Reply:
    return Reply(text=memory.NAME_UNKNOWN(name=format_archive_id(named.id)))
