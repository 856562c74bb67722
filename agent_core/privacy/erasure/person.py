"""Erasure of a person: begun in one transaction, and resumed after crashes until complete."""

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agent_core.errors import LastOwner, WorkInProgress
from agent_core.execution.files import remove_workspace
from agent_core.execution.folders import name_scratch
from agent_core.ids import InboxId, MessageId, PersonId, PromptHash, SessionId
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import scrub
from agent_core.privacy.erasure.matcher import plain
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, merge_people, person_data, redact
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.lifecycle.redact import ERASED
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.blocks import PREFIX
from agent_core.state.people import audit
from agent_core.state.people.audit import AuditEntry
from agent_core.transcript import (
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def redact_message(message: Message, mark: str) -> Message:
    """Replace all text and files of a message by a mark.

    Calls and results stay as empty shells, because providers reject a call without its result.
    """
    calls = tuple(
        ToolCallPart(call_id=call.call_id, name=call.name, arguments="{}") for call in message.calls
    )
    results = tuple(
        ToolResultPart(call_id=part.call_id, name=part.name, text=mark, is_error=part.is_error)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    )
    words = () if results else (TextPart(text=mark),)
    return Message(role=message.role, parts=(*words, *calls, *results))


_MARK = "erase:"
"""The key prefix in `meta` of unfinished erasures."""
_BATCH = 50
"""Rows per transaction."""
_OPEN = ("received", "claimed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRecord:
    """Everything needed to resume an erasure; deleted at its end."""

    person_ids: tuple[PersonId, ...]
    accounts: tuple[tuple[str, str], ...]
    chats: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    """Paths to remove below each of the `folders` of `PersonErasure`."""

    @property
    def whose(self) -> DataSubject:
        """The identifiers that select the person's rows."""
        return DataSubject(person_ids=self.person_ids, accounts=self.accounts, chats=self.chats)


_PEOPLE = "people/"
"""The folder of people, as an erasure record names it."""


@dataclass(slots=True)
class PersonErasure:
    """Erases people.

    Each of `folders` has a person's folder at `people/<name>`; `workspaces` is the folder of
    workspaces. `is_alone` returns True for a direct chat.
    """

    database: Database
    memory: MemoryStore
    folders: Sequence[Path]
    workspaces: Path
    is_alone: Callable[[str], bool]

    async def begin(self, person_id: PersonId, *, now: int) -> None:
        """Make a person unknown at once; `resume` deletes the rest.

        The caller must invalidate caches of people, conversations and prompts. Raises
        `WorkInProgress`, `LastOwner` and `StoreError`.
        """

        def look(
            connection: Connection,
        ) -> tuple[DataSubject, list[tuple[PersonId, str]], list[str]]:
            subject = person_data.find_subject(
                connection, person_id=person_id, is_alone=self.is_alone
            )
            blocks = erase_person.list_unshared_blocks(connection, subject=subject)
            return subject, blocks, erase_person.list_slugs(connection, subject=subject)

        subject, blocks, slugs = await self.database.browse(look)
        if (
            await self.database.browse(partial(erase_person.find_successor, subject=subject))
            is None
        ):
            raise LastOwner  # first, because the caller stops work that is in progress
        if await self.database.browse(partial(_has_open_events, subject=subject)):
            raise WorkInProgress
        folders = [f"{_PEOPLE}{slug}" for slug in slugs]
        folders += [f"blocks/{slug.removeprefix(PREFIX)}" for _, slug in blocks]
        mark = ErasureRecord(
            person_ids=subject.person_ids,
            accounts=subject.accounts,
            chats=subject.chats,
            folders=tuple(folders),
        )
        lone = [block_id for block_id, _ in blocks]
        work = partial(self._begin_erasure, mark=mark, blocks=lone, now=now)
        await self.database.write("erase.begin", work)

    def _begin_erasure(
        self, connection: Connection, mark: ErasureRecord, blocks: Sequence[PersonId], now: int
    ) -> None:
        """Check the conditions and write the erasure record, within one transaction."""
        subject = mark.whose
        known = person_data.list_accounts(connection, person_ids=subject.person_ids)
        is_busy = any(
            merge_people.has_running(connection, person_id=one) or self.memory.is_at_work(one)
            for one in subject.person_ids
        )
        if is_busy or known != mark.accounts or _is_erased(connection, subject):
            raise WorkInProgress
        if erase_person.has_sending(connection, subject=subject):
            raise WorkInProgress
        heir = erase_person.find_successor(connection, subject=subject)
        if heir is None:
            raise LastOwner
        key = f"{_MARK}{subject.person_ids[0]}"
        meta.put(connection, key=key, value=json.dumps(asdict(mark)))
        for block_id in blocks:
            erase_person.drop_block(connection, person_id=block_id)
        erase_person.transfer_ownership(connection, subject=subject, to=heir)
        erase_person.erase_requests(connection, subject=subject)
        erase_person.erase_jobs(connection, subject=subject)
        erase_person.erase_processes(connection, subject=subject)
        erase_person.enqueue_external(connection, subject=subject, now=now)
        erase_person.erase_identity(connection, person_ids=subject.person_ids)
        deed = AuditEntry(person_id=None, actor="house", action="erase", detail="", created_at=now)
        audit.record(connection, deed)
        scrub.enqueue_scrub(connection)

    async def resume(self, now: int) -> int:
        """Continue all begun erasures; return the number of completed ones.

        Raises `StoreError`, and `OSError` if a folder can't be removed. That erasure then stays
        open; all others are completed.
        """
        marks = await self.database.read(meta.list_under, prefix=_MARK)
        stuck: OSError | None = None
        for key, text in marks.items():
            mark = _read(text)
            await self._delete_all(mark, now)
            try:
                await self._remove_folders(mark)
            except OSError as error:
                stuck = error
                continue
            await self.database.write("erase.done", partial(_finish, mark=mark, key=key))
        if stuck:
            raise stuck
        return len(marks)

    async def _delete_all(self, mark: ErasureRecord, now: int) -> None:
        subject = mark.whose
        await self._delete_conversations(subject)
        await self._redact_shared_turns(subject, now)
        await self._drop_rows(subject)
        await self.database.write("erase.steps", partial(_drop_steps, subject=subject))
        await self._drop_prompts(subject)
        await scrub.delete_loose_files(self.database)

    async def _delete_conversations(self, subject: DataSubject) -> None:
        """Delete the person's own conversations in batches."""
        list_sessions = partial(erase_person.list_sessions, subject=subject)
        for session_id in await self.database.browse(list_sessions):
            work = partial(_empty_session, session_id=session_id)
            is_more = True
            while is_more:
                is_more = await self.database.write("erase.messages", work)

    async def _redact_shared_turns(self, subject: DataSubject, now: int) -> None:
        """Redact the person's turns in shared conversations."""
        find = partial(erase_person.list_messages_elsewhere, subject=subject)
        said = await self.database.browse(find)
        for start in range(0, len(said), _BATCH):
            work = partial(_redact, said=said[start : start + _BATCH], now=now)
            await self.database.write("erase.turns", work)
        changes = await self.database.browse(lambda c: _list_ids(c, "foreign_changes", subject))
        await self.database.write("erase.evidence", partial(_drop_evidence, changes=changes))

    async def _drop_rows(self, subject: DataSubject) -> None:
        """Delete events, outbox messages, questions, tasks and archive entries."""
        events = await self.database.browse(partial(_list_events, subject=subject))
        sent = await self.database.browse(lambda c: list(person_data.walk_sent(c, subject=subject)))
        asked, tasks, sync_items = await self.database.browse(
            lambda c: [
                _list_ids(c, kind, subject) for kind in ("questions", "tasks", "external_sync")
            ]
        )
        kept = await self.database.browse(
            lambda c: list(person_data.walk_archive(c, subject=subject))
        )

        def work(connection: Connection, piece: slice) -> None:
            scrub.note_loose_files(
                connection, {row.file_key for row in sent[piece] if row.file_key}
            )
            for inbox_id in events[piece]:
                uploads = redact.list_uploads(connection, inbox_id=inbox_id)
                scrub.note_loose_files(connection, uploads)
                redact.drop_event(connection, inbox_id=inbox_id)
            erase_person.delete_questions(connection, question_ids=asked[piece])
            erase_person.delete_sent(connection, outbox_ids=[row.id for row in sent[piece]])
            erase_person.delete_rows(connection, tasks=tasks[piece], sync_items=sync_items[piece])
            for person_id, archive_id, _ in kept[piece]:
                entry = archive.find(connection, person_id=person_id, archive_id=archive_id)
                if entry:
                    archive.delete(connection, person_id=person_id, entry=entry)

        longest = max(len(events), len(sent), len(asked), len(tasks), len(sync_items), len(kept))
        for start in range(0, longest, _BATCH):
            part = partial(work, piece=slice(start, start + _BATCH))
            await self.database.write("erase.rows", part)

    async def _drop_prompts(self, subject: DataSubject) -> None:
        def find(connection: Connection) -> list[PromptHash]:
            foreign = person_data.list_foreign_prompts(connection, subject=subject)
            mine = _list_ids(connection, "prompts", subject)
            return [prompt_hash for prompt_hash in mine if prompt_hash not in foreign]

        found = await self.database.browse(find)

        def work(connection: Connection) -> None:
            for prompt_hash in found:
                redact.drop_prompt(connection, prompt_hash=prompt_hash)

        await self.database.write("erase.prompts", work)

    async def _remove_folders(self, mark: ErasureRecord) -> None:
        for name in mark.folders:
            if name.startswith(_PEOPLE):
                slug = name.removeprefix(_PEOPLE)
                for workspace in (slug, name_scratch(slug)):
                    await asyncio.to_thread(remove_workspace, self.workspaces / workspace)
            for folder in self.folders:
                await asyncio.to_thread(_remove, folder / name)


def _read(text: str) -> ErasureRecord:
    fields = json.loads(text)
    return ErasureRecord(
        person_ids=tuple(fields["person_ids"]),
        accounts=tuple((platform, user_id) for platform, user_id in fields["accounts"]),
        chats=tuple((platform, chat) for platform, chat in fields["chats"]),
        folders=tuple(fields["folders"]),
    )


def _finish(connection: Connection, mark: ErasureRecord, key: str) -> None:
    """Delete the last references; only numbers remain."""
    subject = mark.whose
    erase_person.erase_conversations(connection, subject=subject)
    erase_person.erase_answers(connection, subject=subject)
    erase_person.erase_audit(connection, subject=subject)
    meta.drop(connection, key=key)
    scrub.enqueue_scrub(connection)


def _is_erased(connection: Connection, subject: DataSubject) -> bool:
    return any(erase_person.is_erased(connection, person_id=one) for one in subject.person_ids)


def _list_events(connection: Connection, subject: DataSubject) -> list[InboxId]:
    """List the events of the person's turns, and those that name one of their accounts."""
    return [row_id for row_id, _ in _list_matching_events(connection, subject)]


def _has_open_events(connection: Connection, subject: DataSubject) -> bool:
    """Return True while an event from or about the person is unprocessed."""
    return any(state in _OPEN for _, state in _list_matching_events(connection, subject))


def _list_matching_events(
    connection: Connection, subject: DataSubject
) -> list[tuple[InboxId, str]]:
    """List (id, state) of events of the person's turns or with one of their account ids."""
    names = "|".join(re.escape(user_id) for _, user_id in subject.accounts)
    is_named = re.compile(rf"(?<!\w)(?:{names})(?!\w)") if names else None
    mine = set(person_data.list_own_events(connection, subject=subject))
    return [
        (row_id, state)
        for row_id, state, payload in person_data.walk_events(connection, subject=subject)
        if row_id in mine or (is_named and is_named.search(plain(payload)))
    ]


def _empty_session(connection: Connection, session_id: SessionId) -> bool:
    """Delete the next messages of a session; return False once none is left."""
    found = erase_person.list_messages(connection, session_id=session_id, limit=_BATCH)
    for _, parts in found:
        scrub.note_loose_files(connection, {image.file_key for image in parts})
    redact.delete_messages(connection, message_ids=[message_id for message_id, _ in found])
    return bool(found)


def _redact(connection: Connection, said: Sequence[tuple[MessageId, SessionId]], now: int) -> None:
    found = [(one, redact.read_message(connection, message_id=one)) for one, _ in said]
    rows = [(message_id, *row) for message_id, row in found if row]
    redact.drop_from_index(connection, message_ids=[message_id for message_id, _, _ in rows])
    for message_id, message, session_id in rows:
        scrub.note_loose_files(connection, {image.file_key for image in message.images})
        redacted = redact_message(message, ERASED)
        redact.redact_message(connection, message_id=message_id, redacted=redacted, now=now)
        redact.drop_title(connection, session_id=session_id)
        redact.delete_compactions(connection, session_id=session_id)


def _drop_steps(connection: Connection, subject: DataSubject) -> None:
    scrub.note_loose_files(connection, erase_person.list_turn_files(connection, subject=subject))
    erase_person.erase_steps(connection, subject=subject)


def _list_ids(connection: Connection, kind: str, subject: DataSubject) -> list[Any]:
    """List the ids of one of `person_data.TEXTS`."""
    rows = person_data.walk_texts(connection, kind=kind, subject=subject)
    return [row_id for row_id, _ in rows]


def _drop_evidence(connection: Connection, changes: Sequence[int]) -> None:
    for row_id in changes:
        ledger.drop_evidence(connection, entry_id=row_id)


def _remove(folder: Path) -> None:
    """Remove a folder with its content; of a link, remove only the link. Raises `OSError`."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)
