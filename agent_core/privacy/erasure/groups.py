"""Removal of words that a person said from the memories of groups; safe to repeat.

A note is a person's own if their turn or command made it, or an earlier wording of it. Only own
wordings are shown: a later one may be somebody else's.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from operator import contains

from agent_core.errors import WorkInProgress
from agent_core.ids import ArchiveId, PersonId
from agent_core.memory.archive.entries import ArchiveContent, format_archive_entry, write_entry
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.entry_history import EntryHistory
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import facts, scrub
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import group_notes, person_data
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, ledger, memory_owners
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from agent_core.state.people import deeds, rooms


@dataclass(frozen=True, slots=True, kw_only=True)
class OneGroup:
    """A group whose memory alone is searched; for an owner who asks there, `is_all` of it."""

    id: PersonId
    is_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupNotes:
    """The notes of a group that hold the words. `name` is "" for a group without a name."""

    group_id: PersonId
    name: str
    lines: tuple[str, ...]
    """The own words of each present note."""
    past: int
    """The number of deleted notes that an undo could bring back."""
    has_deeds: bool = False
    """True if an undo of something else could bring the words back; asked in the group only."""


@dataclass(frozen=True, slots=True)
class _Traced:
    """The changes of one note, oldest first, with the own texts of it that match."""

    rows: Sequence[LedgerEntry]
    texts: frozenset[str]
    present: str | None
    """The text of the note now, if it is one of `texts`."""


@dataclass(slots=True)
class GroupRemoval:
    """Finds and removes words in groups. `is_alone` is true for a chat that only one reads."""

    database: Database
    memory: MemoryStore
    is_alone: Callable[[str], bool]

    async def look(
        self, person_id: PersonId, matcher: WordMatcher, now: int, group: OneGroup | None = None
    ) -> tuple[GroupNotes, ...]:
        """Return the groups whose memory holds the words of a person. Raises `StoreError`."""
        groups = await self._list_groups(person_id, now, group)
        found = await self.database.browse(partial(_look, groups=groups, matcher=matcher))
        if group and await self._find_deeds(person_id, matcher, group):
            (notes,) = found or (await self._name(group),)
            return (replace(notes, has_deeds=True),)
        return found

    async def forget(
        self, person_id: PersonId, matcher: WordMatcher, now: int, group: OneGroup | None = None
    ) -> tuple[GroupNotes, ...]:
        """Remove the words of a person, and return what was there.

        Prompts and former wordings go with them, so that no undo brings them back. Raises
        `StoreError`, `OSError` if a memory file is unreadable, and `WorkInProgress`.
        """
        found = await self.look(person_id, matcher, now, group)
        groups = await self._list_groups(person_id, now, group)
        for one in found:
            if await self.database.read(group_notes.has_running, group_id=one.group_id):
                raise WorkInProgress
        origin = Origin(actor=f"person:{person_id}", now=now)
        for one in found:
            await self._forget_in(one.group_id, groups[one.group_id], matcher, origin)
        if group:
            await self._forget_deeds(await self._find_deeds(person_id, matcher, group))
        return found

    async def _find_deeds(
        self, person_id: PersonId, matcher: WordMatcher, group: OneGroup
    ) -> list[int]:
        """Return the rows of `/undo` in a group that hold the words."""

        def look(connection: Connection) -> list[int]:
            subject = person_data.find_subject(
                connection, person_id=person_id, is_alone=self.is_alone
            )
            rows = group_notes.walk_deeds(
                connection,
                group_id=group.id,
                person_ids=None if group.is_all else subject.person_ids,
            )
            return [row_id for row_id, words in rows if matcher.is_in(words)]

        return await self.database.browse(look)

    async def _forget_deeds(self, deed_ids: Sequence[int]) -> None:
        def work(connection: Connection) -> None:
            scrub.enqueue_scrub(connection)
            for deed_id in deed_ids:
                deeds.drop_words(connection, deed_id=deed_id)

        if deed_ids:
            await self.database.write("forget.deeds", work)

    async def _name(self, group: OneGroup) -> GroupNotes:
        name = await self.database.read(rooms.find_name, person_id=group.id)
        return GroupNotes(group_id=group.id, name=name, lines=(), past=0)

    async def _forget_in(
        self,
        group_id: PersonId,
        own: Set[int],
        matcher: WordMatcher,
        origin: Origin,
    ) -> None:
        owner = await self.database.read(memory_owners.find, person_id=group_id)
        find = partial(_trace, group_id, own, matcher)
        if owner is None:
            return
        for one in await self.database.browse(find):
            target = one.rows[0].target
            if one.present is not None and target != "archive":
                edit = Edit(action="remove", target=target, old=one.present)
                await self.memory.change(group_id, owner.folder, edit, origin, kind=owner.kind)

        def work(connection: Connection) -> None:
            scrub.enqueue_scrub(connection)
            texts = set[str]()
            for one in find(connection):
                if one.rows[0].target == "archive" and one.present is not None:
                    _delete_archived(connection, group_id, one, origin)
                is_wanted = partial(contains, one.texts)
                for row in one.rows:
                    ledger.redact(connection, entry_id=row.id, is_wanted=is_wanted, mark=FORGOTTEN)
                texts |= one.texts
            group_notes.drop_prompts(connection, group_id=group_id, texts=texts)
            told = facts.find_told(connection, [group_id], matcher)
            facts.clean_messages(connection, told, matcher.clean_notes)

        await self.database.write("forget.group", work)

    async def _list_groups(
        self, person_id: PersonId, now: int, group: OneGroup | None
    ) -> dict[PersonId, Set[int]]:
        """Return the person's own rows by group, after taking in changes made by hand."""

        def read(connection: Connection) -> dict[PersonId, Set[int]]:
            subject = person_data.find_subject(
                connection, person_id=person_id, is_alone=self.is_alone
            )
            own = group_notes.list_own_changes(connection, person_ids=subject.person_ids)
            if group is None:
                return dict(own)
            if not group.is_all:
                return {group.id: own.get(group.id, set())}
            return {group.id: _list_all(connection, group.id)}

        found = await self.database.browse(read)
        for group_id in found:
            owner = await self.database.read(memory_owners.find, person_id=group_id)
            if owner:
                await self.memory.snapshot(group_id, owner.folder, now, kind=owner.kind)
        return await self.database.browse(read) if found else found


def _list_all(connection: Connection, group_id: PersonId) -> set[int]:
    """List every change of a group's memory and archive."""
    rows = [
        row
        for target in ledger.LISTS
        for row in ledger.find_entries(connection, person_id=group_id, target=target)
    ]
    rows += ledger.walk_archived(connection, person_id=group_id)
    return {row.id for row in rows}


def _look(
    connection: Connection, groups: dict[PersonId, Set[int]], matcher: WordMatcher
) -> tuple[GroupNotes, ...]:
    found = []
    for group_id, own in groups.items():
        traced = _trace(group_id, own, matcher, connection)
        if traced:
            name = rooms.find_name(connection, person_id=group_id)
            lines = tuple(_show_own(one, own) for one in traced if one.present is not None)
            past = len(traced) - len(lines)
            found.append(GroupNotes(group_id=group_id, name=name, lines=lines, past=past))
    return tuple(found)


def _trace(
    group_id: PersonId, own: Set[int], matcher: WordMatcher, connection: Connection
) -> list[_Traced]:
    """Find the notes of a group of which an own change holds the words."""
    traced: list[_Traced] = []
    for target in ledger.LISTS:
        history = EntryHistory(ledger.find_entries(connection, person_id=group_id, target=target))
        lives = [history.find_tracked(row.id) for row in history.rows if row.id in own]
        for life in dict.fromkeys(one for one in lives if one):
            traced += _trace_note(life.rows, own, matcher, life.words)
    rows = ledger.walk_archived(connection, person_id=group_id)
    for place in sorted({row.change.position for row in rows if row.id in own}):
        archive_id = ArchiveId(place)
        changes = ledger.find_of_archived(connection, person_id=group_id, archive_id=archive_id)
        kept = archive.find(connection, person_id=group_id, archive_id=archive_id)
        words = write_entry(ArchiveContent(text=kept.text, tags=kept.tags)) if kept else None
        traced += _trace_note(changes, own, matcher, words)
    return traced


def _trace_note(
    rows: Sequence[LedgerEntry], own: Set[int], matcher: WordMatcher, present: str | None
) -> list[_Traced]:
    """Return a note if an own change of it holds the words, from that change on."""
    first = next(
        (place for place, row in enumerate(rows) if row.id in own and _holds(row, matcher)), None
    )
    if first is None:
        return []
    earlier = {row.change.after for row in rows[:first]}
    texts = frozenset(
        text
        for row in rows[first:]
        for text in (row.change.before, row.change.after)
        if text and text not in earlier and matcher.is_in(text)
    )
    return [_Traced(rows, texts, present if present in texts else None)] if texts else []


def _holds(row: LedgerEntry, matcher: WordMatcher) -> bool:
    return row.change.after is not None and matcher.is_in(row.change.after)


def _show_own(one: _Traced, own: Set[int]) -> str:
    """Return the newest own wording of a note."""
    said = [row.change.after for row in one.rows if row.id in own and row.change.after in one.texts]
    return format_archive_entry(said[-1]) or "" if said else ""


def _delete_archived(
    connection: Connection, group_id: PersonId, one: _Traced, origin: Origin
) -> None:
    """Delete an archived note of a group, and record that it existed."""
    archive_id = ArchiveId(one.rows[0].change.position)
    kept = archive.find(connection, person_id=group_id, archive_id=archive_id)
    if kept is None:
        return
    archive.delete(connection, person_id=group_id, entry=kept)
    ledger.record(
        connection,
        person_id=group_id,
        target="archive",
        change=Change(operation="remove", position=archive_id, before=FORGOTTEN, after=None),
        origin=origin,
    )
