"""Takes words out of everything that is a person's, at their wish; may be done again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from agent_core.errors import StillAtWork
from agent_core.ids import MessageId, PersonId, SessionId
from agent_core.memory.changes import Edit
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import person as burying
from agent_core.privacy.erasure import scrub
from agent_core.privacy.erasure import search as finding
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.privacy.erasure.search import Found
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, merge_people, person_data, redact
from agent_core.state.lifecycle.person_data import Whose
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, blocks, external_sync, ledger
from agent_core.state.memory.ledger import Origin, Target
from agent_core.state.people import people
from agent_core.state.people.people import Kind, Person
from agent_core.state.queues import deferred_messages
from agent_core.transcript import Message, dump_parts, load_parts

_PIECE = 50
"""Rows of one transaction, so that nobody waits behind it for more than some milliseconds."""
_ROUNDS = 3
_SHOWN = 5
"""Lines that a person is shown of what holds the words."""
_LONGEST = 120
"""Characters of such a line."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of one of a person's lists, or of a block of theirs, that holds the words."""

    person_id: PersonId
    slug: str
    kind: Kind
    target: Target
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would be forgotten: how much, and a few lines of it."""

    entries: int
    messages: int
    jobs: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCounts:
    """What was forgotten."""

    entries: int
    messages: int
    jobs: int


class WordRemoval:
    """Forgets words. `is_alone` says of a chat that nobody but its person reads along."""

    def __init__(
        self, database: Database, memory: MemoryStore, is_alone: Callable[[str], bool]
    ) -> None:
        self._database = database
        self._memory = memory
        self._is_alone = is_alone

    async def look(self, person: Person, wanted: WordMatcher, now: int) -> Preview:
        """What holds the words. Raises `StoreError`."""
        whose = await self._whose(person.id)
        entries = await self._list_entries(whose, wanted, now)

        def search(connection: Connection) -> Preview:
            kept = [
                words
                for _, _, words in person_data.walk_archive(connection, whose=whose)
                if wanted.is_in(words)
            ]
            lines = [entry.text for entry in entries] + kept
            said = list(finding.find_messages(connection, whose, wanted))
            shown = [*lines[:_SHOWN], *_read_lines(connection, said[-_SHOWN:])]
            return Preview(
                entries=len(lines),
                messages=len(said) + len(list(finding.find_withheld(connection, whose, wanted))),
                jobs=len(list(finding.find_jobs(connection, whose, wanted))),
                lines=tuple(map(_shorten, shown)),
            )

        return await self._database.browse(search)

    async def forget(
        self, person_id: PersonId, wanted: WordMatcher, *, has_messages: bool, now: int
    ) -> RemovedCounts:
        """Take the words out of memory and, if wanted, of talks, and of all that is left of them.

        What was begun stands even if it is cut off, and may be begun again. Nothing is left
        for `scrub` to be forgotten. Raises `StoreError`, `OSError` if a file of memory can't be
        read, and `StillAtWork`.
        """
        whose = await self._whose(person_id)
        if await self._database.read(lambda c: _is_at_work(c, whose)):
            raise StillAtWork
        entries = await self._drop_entries(whose, wanted, now)
        buried = jobs = 0
        traced = Found()
        for _ in range(_ROUNDS):
            kept = partial(finding.find_in_memory, whose=whose, wanted=wanted)
            found = await self._database.browse(kept)
            entries += len(found.archive)
            await self._take_out_of_memory(whose, wanted, found, now)
            if has_messages:
                said = partial(finding.find_in_talks, whose=whose, wanted=wanted)
                traced = await self._database.browse(said)
                await self._take_out_of_talks(whose, traced, now)
                buried += len(traced.messages) + len(traced.withheld)
                jobs += len(traced.jobs)
            if found == traced == Found():
                break
        return RemovedCounts(entries=entries, messages=buried, jobs=jobs)

    async def _whose(self, person_id: PersonId) -> Whose:
        return await self._database.browse(
            lambda c: person_data.find_whose(c, person_id=person_id, is_alone=self._is_alone)
        )

    async def _list_entries(self, whose: Whose, wanted: WordMatcher, now: int) -> list[Entry]:
        """The entries of both lists, and of blocks that nobody else sees, that stand and hold
        the words.
        """
        found: list[Entry] = []
        for person_id, slug, kind in await self._database.browse(lambda c: _list_keepers(c, whose)):
            seen = await self._memory.snapshot(person_id, slug, now, kind=kind)
            lists: tuple[tuple[Target, tuple[str, ...]], ...] = (
                ("memory", seen.memory),
                ("user", seen.user),
            )
            found += [
                Entry(person_id=person_id, slug=slug, kind=kind, target=target, text=text)
                for target, texts in lists
                for text in texts
                if wanted.is_in(text)
            ]
        return found

    async def _drop_entries(self, whose: Whose, wanted: WordMatcher, now: int) -> int:
        """Remove entries as their person would: the lists and their files are without them."""
        entries = await self._list_entries(whose, wanted, now)
        for entry in entries:
            edit = Edit(action="remove", target=entry.target, old=entry.text)
            origin = Origin(actor="person", now=now)
            await self._memory.change(entry.person_id, entry.slug, edit, origin, kind=entry.kind)
        return len(entries)

    async def _take_out_of_memory(
        self, whose: Whose, wanted: WordMatcher, found: Found, now: int
    ) -> None:
        def work(connection: Connection, found: Found) -> None:
            scrub.enqueue(connection)
            for person_id, archive_id in found.archive:
                kept = archive.find(connection, person_id=person_id, archive_id=archive_id)
                if kept:
                    archive.delete(connection, person_id=person_id, entry=kept)
                    _note_dropped(connection, person_id, archive_id, now)
            for row_id in found.changes:
                ledger.redact(connection, entry_id=row_id, is_wanted=wanted.is_in, mark=FORGOTTEN)
            for block_id in found.blocks:
                redact.drop_description(connection, person_id=block_id)
            for deed_id in found.deeds:
                redact.drop_detail(connection, deed_id=deed_id)
            for row_id in found.grounds:
                ledger.drop_evidence(connection, entry_id=row_id)
            for prompt_hash in found.prompts:
                redact.drop_prompt(connection, prompt_hash=prompt_hash)
            for person_id in whose.person_ids:
                redact.thaw(connection, person_id=person_id)

        for piece in found.cut(_PIECE):
            await self._database.write("forget.memory", partial(work, found=piece))

    async def _take_out_of_talks(self, whose: Whose, found: Found, now: int) -> None:
        own = set(await self._database.browse(partial(erase_person.list_sessions, whose=whose)))
        for piece in _cut(found.messages):
            await self._database.write(
                "forget.messages", partial(_bury, message_ids=piece, own=own, now=now)
            )
        is_done = True
        for part in found.cut(_PIECE):
            for work in (_take_rows, _take_sessions):
                is_done &= await self._database.write("forget.traces", partial(work, found=part))
        await scrub.empty(self._database)
        if not is_done:
            raise StillAtWork


def _list_keepers(connection: Connection, whose: Whose) -> list[tuple[PersonId, str, Kind]]:
    """(row in `people`, folder, kind) of what remembers for a person alone."""
    found: list[tuple[PersonId, str, Kind]] = []
    for person_id in whose.person_ids:
        somebody = people.find(connection, person_id=person_id)
        if somebody:
            found.append((somebody.id, somebody.slug, "human"))
    for block_id, slug in erase_person.list_lone_blocks(connection, whose=whose):
        found.append((block_id, slug.removeprefix(blocks.PREFIX), "block"))
    return found


def _is_at_work(connection: Connection, whose: Whose) -> bool:
    return any(merge_people.has_running(connection, person_id=one) for one in whose.person_ids)


def _note_dropped(connection: Connection, person_id: PersonId, archive_id: int, now: int) -> None:
    """The row that stays of an entry of the archive: that there was one, and it is forgotten."""
    ledger.record(
        connection,
        person_id=person_id,
        target="archive",
        change=ledger.Change(operation="remove", position=archive_id, before=FORGOTTEN, after=None),
        origin=Origin(actor="person", now=now),
    )


def _bury(
    connection: Connection, message_ids: Sequence[MessageId], own: set[SessionId], now: int
) -> None:
    """Bury messages, and note the files that came with them.

    Of talks that are not their own nothing was told to an outside memory.
    """
    scrub.enqueue(connection)
    touched: set[SessionId] = set()
    for message_id in message_ids:
        row = redact.read_message(connection, message_id=message_id)
        if row is None:
            continue
        role, text, session_id = row
        message = Message(role=role, parts=load_parts(text))
        scrub.note(connection, [part.file_key for part in message.images])
        parts = dump_parts(burying.redact_message(message, FORGOTTEN))
        redact.bury_message(connection, message_id=message_id, parts=parts, now=now)
        # What was summed up may tell of it in other words.
        redact.unfold(connection, session_id=session_id)
        touched.add(session_id)
    for session_id in sorted(touched & own):
        external_sync.enqueue_drop(connection, session_id=session_id, now=now)


def _take_rows(connection: Connection, found: Found) -> bool:
    """Take words out of what is left of turns and messages; False if some is still in use."""
    scrub.enqueue(connection)
    scrub.note(connection, found.keys)
    for step_id in found.steps:
        redact.drop_outcome(connection, step_id=step_id)
    for given_id in found.given:
        redact.drop_given(connection, given_id=given_id)
    for job_id in found.jobs:
        scrub.note(connection, redact.drop_job(connection, job_id=job_id))
    for run_id in found.failures:
        redact.drop_reason(connection, run_id=run_id)
    deferred_messages.drop(connection, ids=found.withheld)
    for table, row_id in found.tasks:
        if table == "tasks":
            redact.drop_task(connection, task_id=row_id)
        else:
            redact.drop_mirrored(connection, mirror_id=row_id)
    done = [redact.drop_event(connection, inbox_id=row_id) for row_id in found.events]
    done += [redact.drop_words(connection, outbox_id=row_id) for row_id in found.sent]
    done += [redact.drop_question(connection, question_id=row_id) for row_id in found.questions]
    return all(done)


def _take_sessions(connection: Connection, found: Found) -> bool:
    for session_id in found.titles:
        redact.drop_title(connection, session_id=session_id)
    for session_id in found.folds:
        redact.unfold(connection, session_id=session_id)
    return True


def _read_lines(connection: Connection, message_ids: Sequence[MessageId]) -> Iterator[str]:
    for message_id in message_ids:
        row = redact.read_message(connection, message_id=message_id)
        if row:
            message = Message(role=row[0], parts=load_parts(row[1]))
            yield message.text or f"({message.role})"


def _cut(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), _PIECE):
        yield rows[start : start + _PIECE]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
