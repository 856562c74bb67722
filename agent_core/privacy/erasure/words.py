"""Removal of words from all data of a person, at their request; safe to repeat."""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from agent_core.errors import WorkInProgress
from agent_core.ids import MessageId, PersonId, SessionId
from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import facts, scrub
from agent_core.privacy.erasure import person as person_erasure
from agent_core.privacy.erasure import search as word_search
from agent_core.privacy.erasure.groups import GroupNotes
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.privacy.erasure.search import FoundRows
from agent_core.privacy.progress import Progress, Report
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, merge_people, person_data, redact
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, blocks, external_sync, ledger
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.state.people import deeds, people
from agent_core.state.people.people import Person, PersonKind
from agent_core.state.queues import deferred_messages

_BATCH = 20
"""Rows per transaction, so that other writers wait for milliseconds only."""
_ROUNDS = 3
_SHOWN = 5
"""The most lines of each kind in a preview."""
_LONGEST = 120
"""The most characters of a line in a preview."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A matching entry of a person's list, or of a block only they see."""

    person_id: PersonId
    slug: str
    kind: PersonKind
    target: MemoryTarget
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The matches before the removal: their numbers, and a few lines of them.

    `messages` also counts waiting messages and earlier versions of jobs. `quotes` are messages that
    stay, because only the facts in front of them quote the words. `groups` have further notes;
    their lines are not among `lines`. `has_past` is true if no present note has the words, but an
    undo could bring them back.
    """

    entries: int
    messages: int
    quotes: int
    jobs: int
    blocks: int
    lines: tuple[str, ...]
    has_past: bool
    groups: tuple[GroupNotes, ...] = ()

    @property
    def has_notes(self) -> bool:
        """True if there is something to delete without messages and reminders."""
        return bool(self.entries or self.blocks or self.groups or self.has_past)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCounts:
    """The numbers of removed items, and the new names of renamed blocks.

    `quotes` and `has_past` are as in `Preview`.
    """

    entries: int
    messages: int
    quotes: int
    jobs: int
    blocks: tuple[str, ...]
    has_past: bool


@dataclass(slots=True)
class WordRemoval:
    """Removes words. `is_alone` is true for a chat that only its person reads."""

    database: Database
    memory: MemoryStore
    is_alone: Callable[[str], bool]

    async def look(self, person: Person, matcher: WordMatcher, report: Report, now: int) -> Preview:
        """Count and quote the matches. Raises `StoreError`."""
        subject = await self._whose(person.id)
        entries = await self._list_entries(subject, matcher, now)

        def search(connection: Connection) -> Preview:
            kept = [
                words
                for _, _, words in person_data.walk_archive(connection, subject=subject)
                if matcher.is_in(words)
            ]
            names = [name for _, name in word_search.find_names(connection, subject, matcher)]
            lines = [entry.text for entry in entries] + kept
            jobs = [
                words.partition("\n")[0]
                for _, words in person_data.walk_texts(connection, kind="jobs", subject=subject)
                if matcher.is_in(words)
            ]
            said, quoting = word_search.find_messages(connection, subject, matcher, report)
            read = _read_newest(connection, said)
            return Preview(
                entries=len(lines),
                messages=len(said)
                + len(list(word_search.find_withheld(connection, subject, matcher)))
                + len(word_search.match_texts(connection, "job_versions", subject, matcher.is_in)),
                quotes=len(quoting),
                jobs=len(jobs),
                blocks=len(names),
                has_past=not lines and _has_past(connection, subject, matcher),
                lines=tuple(map(_shorten, (*names, *lines[:_SHOWN], *jobs[:_SHOWN], *read))),
            )

        return await self.database.browse(search)

    async def forget(
        self,
        person_id: PersonId,
        matcher: WordMatcher,
        report: Report,
        *,
        has_messages: bool,
        now: int,
    ) -> RemovedCounts:
        """Remove the words from memory and, if requested, from conversations and derived data.

        After an interruption, the finished part of the removal stays and a repetition does the
        rest. `scrub` must run afterwards. Raises `StoreError`, `OSError` if a memory file is
        unreadable, and `WorkInProgress`.
        """
        subject = await self._whose(person_id)
        await self.check_idle(person_id)
        entries = await self._drop_entries(subject, matcher, now)
        redacted = quotes = jobs = 0
        has_past = False
        renamed: list[str] = []
        traced = FoundRows()
        for _ in range(_ROUNDS):
            kept = partial(word_search.find_in_memory, subject=subject, matcher=matcher)
            found = await self.database.browse(kept)
            entries += len(found.archive)
            has_past |= not entries and bool(found.changes or found.deeds)
            renamed += [await self._rename_block(*block) for block in found.names]
            await self._remove_from_memory(subject, matcher, found, now)
            if has_messages:
                traced = await self.database.browse(
                    partial(
                        word_search.find_in_conversations,
                        subject=subject,
                        matcher=matcher,
                        report=report,
                    )
                )
                await self._remove_from_conversations(subject, matcher, traced, report, now)
                redacted += len(traced.messages) + len(traced.withheld) + len(traced.versions)
                quotes += len(traced.quoting)
                jobs += len(traced.jobs)
            else:
                await self._clean_told(subject, matcher)
            if found == traced == FoundRows():
                break
        return RemovedCounts(
            entries=entries,
            messages=redacted,
            quotes=quotes,
            jobs=jobs,
            blocks=tuple(renamed),
            has_past=has_past,
        )

    async def check_idle(self, person_id: PersonId) -> None:
        """Raise `WorkInProgress` while a turn of the person is running."""
        if await self.database.read(_is_at_work, await self._whose(person_id)):
            raise WorkInProgress

    async def _rename_block(self, person_id: PersonId, folder: str) -> str:
        """Give a block a neutral name, and delete its folder; the next read writes a new one.

        The folder is deleted first: its edits are in the ledger, and a repetition still finds the
        old name.
        """
        name = word_search.name_neutrally(person_id)
        place = self.memory.locate("block", folder, "memory").parent
        remove = partial(shutil.rmtree, place, ignore_errors=True)
        await asyncio.to_thread(remove)
        await self.database.write("forget.name", redact.drop_name, person_id=person_id, name=name)
        await asyncio.to_thread(remove)  # a read may have created it again meanwhile
        return name

    async def _whose(self, person_id: PersonId) -> DataSubject:
        return await self.database.browse(
            lambda c: person_data.find_subject(c, person_id=person_id, is_alone=self.is_alone)
        )

    async def _list_entries(
        self, subject: DataSubject, matcher: WordMatcher, now: int
    ) -> list[Entry]:
        """List the matching entries of both lists, and of blocks that nobody else sees."""
        found: list[Entry] = []
        for person_id, slug, kind in await self.database.browse(
            lambda c: _list_memory_owners(c, subject)
        ):
            seen = await self.memory.snapshot(person_id, slug, now, kind=kind)
            lists: tuple[tuple[MemoryTarget, tuple[str, ...]], ...] = (
                ("memory", seen.memory),
                ("user", seen.user),
            )
            found += [
                Entry(person_id=person_id, slug=slug, kind=kind, target=target, text=text)
                for target, texts in lists
                for text in texts
                if matcher.is_in(text)
            ]
        return found

    async def _drop_entries(self, subject: DataSubject, matcher: WordMatcher, now: int) -> int:
        """Remove the matching entries from the lists and their files."""
        entries = await self._list_entries(subject, matcher, now)
        for entry in entries:
            edit = Edit(action="remove", target=entry.target, old=entry.text)
            origin = Origin(actor="person", now=now)
            await self.memory.change(entry.person_id, entry.slug, edit, origin, kind=entry.kind)
        return len(entries)

    async def _remove_from_memory(
        self, subject: DataSubject, matcher: WordMatcher, found: FoundRows, now: int
    ) -> None:
        def work(connection: Connection, found: FoundRows) -> None:
            scrub.enqueue_scrub(connection)
            for person_id, archive_id in found.archive:
                kept = archive.find(connection, person_id=person_id, archive_id=archive_id)
                if kept:
                    archive.delete(connection, person_id=person_id, entry=kept)
                    _note_dropped(connection, person_id, archive_id, now)
            for row_id in found.changes:
                ledger.redact(connection, entry_id=row_id, is_wanted=matcher.is_in, mark=FORGOTTEN)
            for block_id in found.blocks:
                redact.drop_description(connection, person_id=block_id)
            for audit_id in found.audit_rows:
                redact.drop_detail(connection, audit_id=audit_id)
            for deed_id in found.deeds:
                deeds.drop_words(connection, deed_id=deed_id)
            for row_id in found.evidence_rows:
                ledger.drop_evidence(connection, entry_id=row_id)
            for prompt_hash in found.prompts:
                redact.drop_prompt(connection, prompt_hash=prompt_hash)
            for person_id in subject.person_ids:
                redact.clear_prompts(connection, person_id=person_id)

        for piece in found.cut(_BATCH):
            await self.database.write("forget.memory", partial(work, found=piece))

    async def _clean_told(self, subject: DataSubject, matcher: WordMatcher) -> None:
        """Take the words out of the facts that quote notes; the messages stay."""
        owners = subject.person_ids
        find = partial(facts.find_told, owner_ids=owners, matcher=matcher)
        for piece in _cut(await self.database.browse(find)):
            work = partial(facts.clean_messages, message_ids=piece, clean=matcher.clean_notes)
            await self.database.write("forget.told", work)

    async def _remove_from_conversations(
        self,
        subject: DataSubject,
        matcher: WordMatcher,
        found: FoundRows,
        report: Report,
        now: int,
    ) -> None:
        own = set(await self.database.browse(partial(erase_person.list_sessions, subject=subject)))
        for number, piece in enumerate(_cut(found.messages)):
            total = len(found.messages)
            report(Progress(stage="delete", done=number * _BATCH, total=total))
            await self.database.write(
                "forget.messages", partial(_redact_messages, message_ids=piece, own=own, now=now)
            )
        for piece in _cut(found.quoting):
            await self.database.write(
                "forget.quotes",
                partial(facts.clean_messages, message_ids=piece, clean=matcher.clean_facts),
            )
        is_done = True
        for part in found.cut(_BATCH):
            for work in (_redact_rows, _redact_sessions):
                is_done &= await self.database.write("forget.traces", partial(work, found=part))
        await scrub.delete_loose_files(self.database)
        if not is_done:
            raise WorkInProgress


def _has_past(connection: Connection, subject: DataSubject, matcher: WordMatcher) -> bool:
    """Return whether an undo could bring the words back, of a note or of anything else."""
    return bool(
        word_search.match_texts(connection, "changes", subject, matcher.is_in)
        or word_search.match_texts(connection, "deeds", subject, matcher.is_in)
    )


def _list_memory_owners(
    connection: Connection, subject: DataSubject
) -> list[tuple[PersonId, str, PersonKind]]:
    """List (person id, folder, kind) of the memory owners that belong to a person alone."""
    found: list[tuple[PersonId, str, PersonKind]] = []
    for person_id in subject.person_ids:
        person = people.find(connection, person_id=person_id)
        if person:
            found.append((person.id, person.slug, "human"))
    for block_id, slug in erase_person.list_unshared_blocks(connection, subject=subject):
        found.append((block_id, slug.removeprefix(blocks.PREFIX), "block"))
    return found


def _is_at_work(connection: Connection, subject: DataSubject) -> bool:
    return any(merge_people.has_running(connection, person_id=one) for one in subject.person_ids)


def _note_dropped(connection: Connection, person_id: PersonId, archive_id: int, now: int) -> None:
    """Record that an archive entry existed and was forgotten."""
    ledger.record(
        connection,
        person_id=person_id,
        target="archive",
        change=ledger.Change(operation="remove", position=archive_id, before=FORGOTTEN, after=None),
        origin=Origin(actor="person", now=now),
    )


def _redact_messages(
    connection: Connection, message_ids: Sequence[MessageId], own: set[SessionId], now: int
) -> None:
    """Redact messages, and note their files.

    Shared conversations are never sent to an external memory.
    """
    scrub.enqueue_scrub(connection)
    touched: set[SessionId] = set()
    found = [(one, redact.read_message(connection, message_id=one)) for one in message_ids]
    rows = [(message_id, *row) for message_id, row in found if row]
    redact.drop_from_index(connection, message_ids=[message_id for message_id, _, _ in rows])
    for message_id, message, session_id in rows:
        scrub.note_loose_files(connection, [part.file_key for part in message.images])
        scrub.note_loose_files(connection, redact.list_uploads(connection, message_id=message_id))
        redacted = person_erasure.redact_message(message, FORGOTTEN)
        redact.redact_message(connection, message_id=message_id, redacted=redacted, now=now)
        # A summary may paraphrase the words.
        redact.delete_compactions(connection, session_id=session_id)
        touched.add(session_id)
    for session_id in sorted(touched & own):
        external_sync.enqueue_drop(connection, session_id=session_id, now=now)


def _redact_rows(connection: Connection, found: FoundRows) -> bool:
    """Remove words from rows derived from turns; returns False if some are still in use."""
    scrub.enqueue_scrub(connection)
    scrub.note_loose_files(connection, found.keys)
    for step_id in found.steps:
        redact.drop_outcome(connection, step_id=step_id)
    for turn_file_id in found.given:
        redact.drop_turn_file(connection, turn_file_id=turn_file_id)
    for job_id in found.jobs:
        scrub.note_loose_files(connection, redact.drop_job(connection, job_id=job_id))
    for version_id in found.versions:
        redact.drop_job_version(connection, version_id=version_id)
    for run_id in found.runs:
        redact.drop_run_texts(connection, run_id=run_id)
    deferred_messages.drop(connection, ids=found.withheld)
    erase_person.delete_rows(connection, tasks=found.tasks, sync_items=found.sync_items)
    for row_id in found.events:
        scrub.note_loose_files(connection, redact.list_uploads(connection, inbox_id=row_id))
    done = [redact.drop_event(connection, inbox_id=row_id) for row_id in found.events]
    done += [redact.drop_words(connection, outbox_id=row_id) for row_id in found.sent]
    done += [redact.drop_question(connection, question_id=row_id) for row_id in found.questions]
    return all(done)


def _redact_sessions(connection: Connection, found: FoundRows) -> bool:
    for session_id in found.titles:
        redact.drop_title(connection, session_id=session_id)
    for session_id in found.compactions:
        redact.delete_compactions(connection, session_id=session_id)
    return True


def _read_newest(connection: Connection, message_ids: Sequence[MessageId]) -> list[str]:
    """Read the newest of the messages that have a text, oldest first: many hold results only."""
    rows = (redact.read_message(connection, message_id=one) for one in reversed(message_ids))
    texts = (row[0].text for row in rows if row)
    return list(islice(filter(None, texts), _SHOWN))[::-1]


def _cut(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
