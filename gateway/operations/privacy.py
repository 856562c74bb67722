"""Operations on a person's data: export it, forget words of it, and erase the person."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_core.errors import LastOwner, WorkInProgress
from agent_core.ids import JobId, PersonId
from agent_core.privacy.erasure.matcher import WordMatcher, parse_words
from agent_core.privacy.erasure.words import Preview
from agent_core.privacy.export.run_export import ExportBroken
from agent_core.privacy.export.signer import find_signer
from agent_core.privacy.progress import Report, report_to_nobody
from agent_core.schedule.job_editor import PAUSED_MOVED, pause_job
from agent_core.state.conversations import questions
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import jobs
from agent_core.state.people.people import Person
from gateway.errors import Declined, Mistaken
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.logins import find_page_chat
from gateway.operations.people_types import PickPerson
from gateway.operations.privacy_types import (
    BegunForgetting,
    ErasedPerson,
    ExportPerson,
    FindWords,
    ForgetWords,
    FoundInGroup,
    FoundWords,
    PersonToErase,
    WrittenExport,
)
from gateway.operations.wire import typed
from gateway.people.data_erase import check_erase
from gateway.people.data_export import DataExport
from gateway.people.data_forget import DataForget
from gateway.people.data_requests import DataRequest
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import privacy as texts

_MOST_BYTES = 20_000_000
"""Bytes per export file in a chat: it stays in memory and the database until it is sent."""
_MOST_PARTS = 10
_MOVE = "move:"
"""Precedes a person's id in `meta`; the value is a move in progress, with its file and jobs."""


async def export(context: OperationContext, asked: ExportPerson) -> WrittenExport:
    """Write a person's data to a new archive. Raises `Declined`, and `StoreError`."""
    target = Path(asked.target) if asked.target else None
    person = await context.database.read(find_person, asked.slug)
    if target and not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    try:
        if target is None:
            return WrittenExport(target=str(await context.exports.write_draft(person)))
        paused = await _write_whole(context, person, target, moves=asked.moves)
    except FileExistsError as error:
        raise Declined(f"{target} exists already; name another file.") from error
    except OSError as error:
        if target is None:
            raise Declined(texts.EXPORT_FAILED()) from error
        raise Declined(f"{target} can't be written: {error.strerror or error}.") from error
    except ExportBroken as error:
        if target is None:
            raise Declined(texts.EXPORT_BROKEN()) from error
        raise Declined(f"{target} can't be written: {error}. The log has the reason.") from error
    key = await asyncio.to_thread(find_signer, target)
    return WrittenExport(target=str(target), key=key, paused=paused)


async def _write_whole(
    context: OperationContext, person: Person, target: Path, *, moves: bool
) -> int:
    """Write one archive; with `moves`, pause the person's jobs first, and return their number.

    If it can't be written, the jobs go on here; after a crash, the next start sees to it.
    """
    if not moves:
        await context.exports.write(person, target, report_to_nobody)
        return 0
    paused = await context.database.write("privacy.pause", _pause_jobs, person, target)
    try:
        await context.exports.write(person, target, report_to_nobody, is_moved=True)
    except BaseException:
        await context.database.write("privacy.resume", _end_move, person.id, is_written=False)
        context.scheduling.wake()
        raise
    await context.database.write("privacy.moved", _end_move, person.id, is_written=True)
    return paused


def _pause_jobs(connection: Connection, person: Person, target: Path) -> int:
    """Pause the active jobs of a person, because they go on elsewhere; return how many.

    The note of it also has the jobs of a move that was interrupted: this one takes them along.
    """
    key = f"{_MOVE}{person.id}"
    paused: list[int] = json.loads(meta.get(connection, key=key) or '{"jobs": []}')["jobs"]
    for job in jobs.list_of_person(connection, person_id=person.id):
        if job.state == "active":
            pause_job(connection, job, PAUSED_MOVED)
            paused.append(job.id)
    meta.put(connection, key=key, value=json.dumps({"target": str(target), "jobs": paused}))
    return len(paused)


def _end_move(connection: Connection, person_id: PersonId, *, is_written: bool) -> None:
    """Drop the note of a move; without its file, each job waits for the same slot again."""
    key = f"{_MOVE}{person_id}"
    paused: list[int] = json.loads(meta.get(connection, key=key) or '{"jobs": []}')["jobs"]
    for job_id in () if is_written else paused:
        job = jobs.find(connection, job_id=JobId(job_id))
        if job and (job.state, job.reason) == ("paused", PAUSED_MOVED):
            jobs.change(connection, replace(job, state="active", reason=""))
    meta.drop(connection, key=key)


async def end_killed_moves(database: Database) -> None:
    """Let the jobs of each move go on that an earlier process could not finish.

    Raises `StoreError`.
    """
    begun = await database.read(meta.list_under, prefix=_MOVE)
    for key, value in begun.items():
        person_id = PersonId(int(key.removeprefix(_MOVE)))
        is_written = await asyncio.to_thread(Path(json.loads(value)["target"]).exists)
        await database.write("privacy.moved", _end_move, person_id, is_written=is_written)


async def export_to_chat(
    exports: DataExport, person: Person, platform: str, report: Report
) -> list[tuple[str, bytes]]:
    """Return the name and the bytes of the archives that a chat can take. Raises `Declined`."""
    most = min(exports.find_file_limit(platform), _MOST_BYTES)
    if not most:
        raise Declined(texts.EXPORT_NO_FILES(slug=person.slug))
    try:
        parts = await exports.read_parts(person, most, report)
    except OSError as error:
        raise Declined(texts.EXPORT_FAILED()) from error
    except ExportBroken as error:
        raise Declined(texts.EXPORT_BROKEN()) from error
    if len(parts) > _MOST_PARTS or any(len(data) > most for _, data in parts):
        raise Declined(texts.EXPORT_TOO_LARGE(slug=person.slug))
    return parts


async def find_words(context: OperationContext, asked: FindWords) -> FoundWords:
    """Say what of a person's data contains words. Raises `Declined` and `Mistaken`."""
    person = await context.database.read(find_person, asked.slug)
    words = read_words(asked.words)
    found = await look_for(context.forgetting, person, words, report_to_nobody)
    return FoundWords(
        entries=found.entries,
        messages=found.messages,
        quotes=found.quotes,
        jobs=found.jobs,
        blocks=found.blocks,
        lines=found.lines,
        groups=tuple(
            FoundInGroup(name=one.name, lines=one.lines, past=one.past) for one in found.groups
        ),
        has_past=found.has_past,
    )


def read_words(text: str) -> WordMatcher:
    """Return what matches the words of a person. Raises `Mistaken` if there are none."""
    wanted = parse_words(text)
    if wanted is None:
        raise Mistaken(texts.FORGET_USAGE())
    return wanted


async def look_for(
    forgetting: DataForget, person: Person, words: WordMatcher, report: Report
) -> Preview:
    """Return what contains the words. Raises `Declined` if nothing does."""
    found = await forgetting.preview(person, words, report)
    has_counts = found.entries or found.messages or found.quotes or found.jobs or found.blocks
    if not (has_counts or found.groups or found.has_past):
        raise Declined(texts.FORGET_NOTHING())
    return found


async def forget(context: OperationContext, asked: ForgetWords) -> BegunForgetting:
    """Delete words of a person's data soon, and report it in their direct chat.

    The request is stored: it survives a restart, and waits for the person's work. Raises
    `Mistaken`.
    """
    now, platforms = context.now(), context.scheduling.load_platforms()
    read_words(asked.words)

    def work(connection: Connection) -> BegunForgetting:
        person = find_person(connection, asked.slug)
        request = DataRequest(
            person_id=person.id,
            words=asked.words,
            has_messages=asked.has_messages,
            chat=find_direct_chat(connection, person, platforms)
            or find_page_chat(connection, person.id),
        )
        context.put_request(connection, request, f"desk{person.id}:{now}")
        return BegunForgetting(
            is_late=bool(questions.list_awaited(connection, person_id=person.id))
        )

    return await context.database.write("privacy.forget", work)


async def look_before_erasing(context: OperationContext, asked: PickPerson) -> PersonToErase:
    """Describe the person to erase, and the backups that still contain them. Raises `Declined`."""
    person = await context.database.read(find_person, asked.slug)
    backups = await context.erasing.list_backups(person.id)
    return PersonToErase(
        name=person.name, role=person.role, folder=person.slug, backups=tuple(backups)
    )


async def erase(context: OperationContext, asked: PickPerson) -> ErasedPerson:
    """Erase a person.

    Answer once the person is removed from the database and the freed pages are scrubbed. The answer
    names backups and external memories that may still hold data.

    Raises `Declined` and `StoreError`.
    """
    person = await context.database.read(find_person, asked.slug)
    erasing = context.erasing
    backups = await erasing.list_backups(person.id)
    try:
        await erasing.erase(person.id)
    except WorkInProgress as error:
        why = texts.ERASE_BUSY if erasing.stop_turns else texts.ERASE_UNFINISHED
        raise Declined(why()) from error
    except LastOwner as error:
        raise Declined(texts.LAST_OWNER()) from error
    except OSError as error:
        raise Declined(texts.FOLDER_STAYS(reason=error)) from error
    outside: Sequence[str] = await erasing.list_external()
    return ErasedPerson(name=person.name, backups=tuple(backups), outside=tuple(outside))


async def erase_own(context: OperationContext, asked: PickPerson) -> ErasedPerson:
    """Erase a person who asks for it themselves, soon: their last messages are sent before.

    Raises `Declined` if they are the only owner.
    """
    person = await context.database.read(find_person, asked.slug)
    backups = await context.erasing.list_backups(person.id)
    outside = await context.erasing.list_external()

    def work(connection: Connection) -> None:
        check_erase(connection, person, person)
        context.put_request(connection, DataRequest(person_id=person.id), str(person.id))

    await context.database.write("privacy.erase", work)
    return ErasedPerson(name=person.name, backups=tuple(backups), outside=tuple(outside))


OPERATIONS: Mapping[str, Operation] = {
    "privacy.export": typed(export),
    "privacy.find": typed(find_words),
    "privacy.forget": typed(forget),
    "privacy.look": typed(look_before_erasing),
    "privacy.erase": typed(erase),
    "privacy.erase_own": typed(erase_own),
}
"""The operations, by their names on the control socket."""
