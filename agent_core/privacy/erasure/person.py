"""Erases a person: decided in one transaction, gone on with after a crash until nothing is left."""

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from agent_core.errors import LastOwner, StillAtWork
from agent_core.ids import InboxId, MessageId, PersonId, PromptHash, SessionId
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import scrub
from agent_core.privacy.erasure.matcher import plain
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, merge_people, person_data, redact
from agent_core.state.lifecycle.person_data import Whose
from agent_core.state.lifecycle.redact import ERASED
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.blocks import PREFIX
from agent_core.state.people import audit
from agent_core.state.people.audit import Deed
from agent_core.transcript import ImagePart, Message, Part, TextPart, ToolCallPart, ToolResultPart, dump_parts, load_parts


def redact_message(message: Message, mark: str) -> tuple[Part, ...]:
    """The parts that stay: the mark instead of all words and files, and calls and results
    without what is in them, for a provider takes no call without its result.
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
    return (*words, *calls, *results)


_MARK = "erase:"
"""The keys in `meta` that stand while somebody is being erased."""
_PIECE = 50
"""Rows of one transaction."""
_OPEN = ("received", "claimed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRecord:
    """What has to be known to go on with an erasure; itself gone when that is done."""

    person_ids: tuple[PersonId, ...]
    accounts: tuple[tuple[str, str], ...]
    chats: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]
    """Below the folders of memories and of what digests read."""

    @property
    def whose(self) -> Whose:
        """By what their rows are known."""
        return Whose(person_ids=self.person_ids, accounts=self.accounts, chats=self.chats)


class PersonErasure:
    """Erases people. `folders` hold the memories, and what digests read; `is_alone` says of a chat
    that it is direct.
    """

    def __init__(
        self,
        database: Database,
        memory: MemoryStore,
        folders: Sequence[Path],
        is_alone: Callable[[str], bool],
    ) -> None:
        self._database = database
        self._memory = memory
        self._folders = folders
        self._is_alone = is_alone

    async def begin(self, person_id: PersonId, *, now: int) -> None:
        """Let a person be nobody from now on; what is left of them is owed to `go_on`.

        Whoever keeps people, talks or prompts at hand has to read them afresh after it. Raises
        `StillAtWork`, `LastOwner`, `StoreError`.
        """

        def look(connection: Connection) -> tuple[Whose, list[tuple[PersonId, str]], list[str]]:
            whose = person_data.find_whose(connection, person_id=person_id, is_alone=self._is_alone)
            blocks = erase_person.list_lone_blocks(connection, whose=whose)
            return whose, blocks, erase_person.list_slugs(connection, whose=whose)

        whose, blocks, slugs = await self._database.browse(look)
        if await self._database.browse(partial(_is_addressed, whose=whose)):
            raise StillAtWork
        folders = [f"people/{slug}" for slug in slugs]
        folders += [f"blocks/{slug.removeprefix(PREFIX)}" for _, slug in blocks]
        mark = ErasureRecord(
            person_ids=whose.person_ids,
            accounts=whose.accounts,
            chats=whose.chats,
            folders=tuple(folders),
        )
        lone = [block_id for block_id, _ in blocks]
        work = partial(self._decide, mark=mark, blocks=lone, now=now)
        await self._database.write("erase.begin", work)

    def _decide(
        self, connection: Connection, mark: ErasureRecord, blocks: Sequence[PersonId], now: int
    ) -> None:
        """The transaction after which there is no such person."""
        whose = mark.whose
        known = person_data.list_accounts(connection, person_ids=whose.person_ids)
        is_busy = any(
            merge_people.has_running(connection, person_id=one) or self._memory.is_at_work(one)
            for one in whose.person_ids
        )
        if is_busy or known != mark.accounts or _is_gone(connection, whose):
            raise StillAtWork
        if erase_person.has_on_its_way(connection, whose=whose):
            raise StillAtWork
        heir = erase_person.find_heir(connection, whose=whose)
        if heir is None:
            raise LastOwner
        key = f"{_MARK}{whose.person_ids[0]}"
        meta.put(connection, key=key, value=json.dumps(asdict(mark)))
        for block_id in blocks:
            erase_person.drop_block(connection, person_id=block_id)
        erase_person.hand_over(connection, whose=whose, to=heir)
        erase_person.leave_no_wish(connection, whose=whose)
        erase_person.leave_no_job(connection, whose=whose)
        erase_person.enqueue_external(connection, whose=whose, now=now)
        erase_person.leave_no_name(connection, person_ids=whose.person_ids)
        deed = Deed(person_id=None, actor="house", action="erase", detail="", created_at=now)
        audit.note(connection, deed)
        scrub.enqueue(connection)

    async def go_on(self, now: int) -> int:
        """Do what is owed of all erasures that were begun; how many are done now.

        Raises `StoreError`, and `OSError` if a folder can't be removed; then that one is still
        owed, and all others are done.
        """
        marks = await self._database.read(lambda c: meta.list_under(c, prefix=_MARK))
        stuck: OSError | None = None
        for key, text in marks.items():
            mark = _read(text)
            await self._leave_nothing(mark, now)
            try:
                await self._remove_folders(mark)
            except OSError as error:
                stuck = error
                continue
            await self._database.write("erase.done", partial(_finish, mark=mark, key=key))
        if stuck:
            raise stuck
        return len(marks)

    async def _leave_nothing(self, mark: ErasureRecord, now: int) -> None:
        whose = mark.whose
        await self._empty_talks(whose)
        await self._empty_turns_elsewhere(whose, now)
        await self._drop_rows(whose)
        await self._database.write("erase.steps", partial(_drop_steps, whose=whose))
        await self._drop_prompts(whose)
        await scrub.empty(self._database)

    async def _empty_talks(self, whose: Whose) -> None:
        """Delete their own talks, some messages at a time."""
        list_sessions = partial(erase_person.list_sessions, whose=whose)
        for session_id in await self._database.browse(list_sessions):
            work = partial(_empty_session, session_id=session_id)
            is_more = True
            while is_more:
                is_more = await self._database.write("erase.messages", work)

    async def _empty_turns_elsewhere(self, whose: Whose, now: int) -> None:
        """Their turns in talks that a room shares lose all words."""
        find = partial(erase_person.list_said_elsewhere, whose=whose)
        said = await self._database.browse(find)
        for start in range(0, len(said), _PIECE):
            work = partial(_bury, said=said[start : start + _PIECE], now=now)
            await self._database.write("erase.turns", work)
        changes = await self._database.browse(
            lambda c: list(person_data.walk_foreign_changes(c, whose=whose))
        )
        await self._database.write("erase.evidence", partial(_drop_evidence, changes=changes))

    async def _drop_rows(self, whose: Whose) -> None:
        """Events, messages to them, questions, work owed, and their archive."""
        events = await self._database.browse(partial(_list_events, whose=whose))
        sent = await self._database.browse(lambda c: list(person_data.walk_sent(c, whose=whose)))
        asked = await self._database.browse(
            lambda c: [row[0] for row in person_data.walk_questions(c, whose=whose)]
        )
        owed = await self._database.browse(lambda c: list(person_data.walk_debts(c, whose=whose)))
        kept = await self._database.browse(lambda c: list(person_data.walk_archive(c, whose=whose)))

        def work(connection: Connection, piece: slice) -> None:
            scrub.note(connection, {row.file_key for row in sent[piece] if row.file_key})
            for inbox_id in events[piece]:
                redact.drop_event(connection, inbox_id=inbox_id)
            erase_person.delete_questions(connection, question_ids=asked[piece])
            erase_person.delete_sent(connection, outbox_ids=[row.id for row in sent[piece]])
            erase_person.delete_rows(
                connection,
                tasks=[row_id for table, row_id, _ in owed[piece] if table == "tasks"],
                mirrored=[row_id for table, row_id, _ in owed[piece] if table == "external_sync"],
            )
            for person_id, archive_id, _ in kept[piece]:
                entry = archive.find(connection, person_id=person_id, archive_id=archive_id)
                if entry:
                    archive.delete(connection, person_id=person_id, entry=entry)

        longest = max(len(events), len(sent), len(asked), len(owed), len(kept))
        for start in range(0, longest, _PIECE):
            part = partial(work, piece=slice(start, start + _PIECE))
            await self._database.write("erase.rows", part)

    async def _drop_prompts(self, whose: Whose) -> None:
        def find(connection: Connection) -> list[PromptHash]:
            foreign = person_data.list_foreign_prompts(connection, whose=whose)
            mine = person_data.walk_prompts(connection, whose=whose)
            return [prompt_hash for prompt_hash, _ in mine if prompt_hash not in foreign]

        found = await self._database.browse(find)

        def work(connection: Connection) -> None:
            for prompt_hash in found:
                redact.drop_prompt(connection, prompt_hash=prompt_hash)

        await self._database.write("erase.prompts", work)

    async def _remove_folders(self, mark: ErasureRecord) -> None:
        for name in mark.folders:
            for folder in self._folders:
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
    """Only numbers are left now."""
    whose = mark.whose
    erase_person.leave_no_talk(connection, whose=whose)
    erase_person.forget_answers(connection, whose=whose)
    erase_person.leave_no_deed(connection, whose=whose)
    meta.drop(connection, key=key)
    scrub.enqueue(connection)


def _is_gone(connection: Connection, whose: Whose) -> bool:
    return any(erase_person.is_erased(connection, person_id=one) for one in whose.person_ids)


def _list_events(connection: Connection, whose: Whose) -> list[InboxId]:
    """The events of their turns, and those that name an account of theirs."""
    return [row_id for row_id, _ in _list_named(connection, whose)]


def _is_addressed(connection: Connection, whose: Whose) -> bool:
    """True while an event of theirs, or about them, is still to be worked on."""
    return any(state in _OPEN for _, state in _list_named(connection, whose))


def _list_named(connection: Connection, whose: Whose) -> list[tuple[InboxId, str]]:
    """(id, state) of the events of their turns, and of all that name an account of theirs."""
    names = "|".join(re.escape(user_id) for _, user_id in whose.accounts)
    is_named = re.compile(rf"(?<!\w)(?:{names})(?!\w)") if names else None
    mine = set(person_data.list_events_of_turns(connection, whose=whose))
    return [
        (row_id, state)
        for row_id, state, payload in person_data.walk_events(connection, whose=whose)
        if row_id in mine or (is_named and is_named.search(plain(payload)))
    ]


def _empty_session(connection: Connection, session_id: SessionId) -> bool:
    """Delete the next messages of a session; False once there is none left."""
    found = erase_person.list_messages(connection, session_id=session_id, limit=_PIECE)
    for _, parts in found:
        scrub.note(connection, _list_keys(parts))
    redact.delete_messages(connection, message_ids=[message_id for message_id, _ in found])
    return bool(found)


def _bury(connection: Connection, said: Sequence[tuple[MessageId, SessionId]], now: int) -> None:
    for message_id, session_id in said:
        row = redact.read_message(connection, message_id=message_id)
        if row is None:
            continue
        scrub.note(connection, _list_keys(row[1]))
        message = Message(role=row[0], parts=load_parts(row[1]))
        parts = dump_parts(redact_message(message, ERASED))
        redact.bury_message(connection, message_id=message_id, parts=parts, now=now)
        redact.drop_title(connection, session_id=session_id)
        redact.unfold(connection, session_id=session_id)


def _drop_steps(connection: Connection, whose: Whose) -> None:
    scrub.note(connection, erase_person.list_given(connection, whose=whose))
    erase_person.leave_no_step(connection, whose=whose)


def _drop_evidence(connection: Connection, changes: Sequence[tuple[int, str]]) -> None:
    for row_id, _ in changes:
        ledger.drop_evidence(connection, entry_id=row_id)


def _list_keys(parts: str) -> set[str]:
    return {part.file_key for part in load_parts(parts) if isinstance(part, ImagePart)}


def _remove(folder: Path) -> None:
    """Remove a folder with all that lies in it; of a link, just the link. Raises `OSError`."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)
