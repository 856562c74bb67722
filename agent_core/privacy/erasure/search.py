"""Looks through all that is a person's for the words that they want gone; reads only."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from agent_core.ids import ArchiveId, InboxId, JobId, MessageId, OutboxId, PersonId, PromptHash, QuestionId, RunId, SessionId
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person, person_data
from agent_core.state.lifecycle.person_data import Whose
from agent_core.transcript import load_parts

Task = tuple[str, int]
"""A table of work owed, and a row of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The rows that hold the words, by their numbers; nothing of the words themselves.

    `keys` are files that may be referred to from elsewhere, `grounds` rows of memory that
    others share, of which only what they rest on holds the words. `blocks` are those whose
    descriptions hold them, `deeds` what was noted of such.
    """

    blocks: tuple[PersonId, ...] = ()
    deeds: tuple[int, ...] = ()
    archive: tuple[tuple[PersonId, ArchiveId], ...] = ()
    changes: tuple[int, ...] = ()
    grounds: tuple[int, ...] = ()
    prompts: tuple[PromptHash, ...] = ()
    messages: tuple[MessageId, ...] = ()
    titles: tuple[SessionId, ...] = ()
    folds: tuple[SessionId, ...] = ()
    steps: tuple[int, ...] = ()
    events: tuple[InboxId, ...] = ()
    sent: tuple[OutboxId, ...] = ()
    questions: tuple[QuestionId, ...] = ()
    given: tuple[int, ...] = ()
    jobs: tuple[JobId, ...] = ()
    failures: tuple[RunId, ...] = ()
    withheld: tuple[int, ...] = ()
    tasks: tuple[Task, ...] = ()
    keys: tuple[str, ...] = ()

    def cut(self, most: int) -> Iterator["Found"]:
        """The same in pieces, of which each has at most so many rows of a kind; at least one."""
        kinds = [field.name for field in fields(self)]
        longest = max(len(getattr(self, kind)) for kind in kinds)
        for start in range(0, max(longest, 1), most):
            yield Found(**{kind: getattr(self, kind)[start : start + most] for kind in kinds})


def find_in_memory(connection: Connection, whose: Whose, wanted: WordMatcher) -> Found:
    """What of memory holds the words, also in what was changed since, and prompts show."""
    foreign = person_data.list_foreign_prompts(connection, whose=whose)
    blocks = [person_id for person_id, _ in erase_person.list_lone_blocks(connection, whose=whose)]
    keepers = replace(whose, person_ids=(*whose.person_ids, *blocks))
    return Found(
        blocks=tuple(
            person_id
            for person_id, words in person_data.walk_descriptions(connection, whose=keepers)
            if person_id in blocks and wanted.is_in(words)
        ),
        deeds=tuple(
            row_id
            for row_id, person_id, words in person_data.walk_deeds(connection, whose=keepers)
            if person_id in blocks and wanted.is_in(words)
        ),
        archive=tuple(
            (person_id, archive_id)
            for person_id, archive_id, words in person_data.walk_archive(connection, whose=whose)
            if wanted.is_in(words)
        ),
        changes=tuple(
            row_id
            for row_id, words in person_data.walk_changes(connection, whose=keepers)
            if wanted.is_in(words)
        ),
        grounds=tuple(
            row_id
            for row_id, words in person_data.walk_foreign_changes(connection, whose=keepers)
            if wanted.is_in(words)
        ),
        prompts=tuple(
            prompt_hash
            for prompt_hash, words in person_data.walk_prompts(connection, whose=whose)
            if wanted.is_in(words) and prompt_hash not in foreign
        ),
    )


def find_in_talks(connection: Connection, whose: Whose, wanted: WordMatcher) -> Found:
    """What of talks holds the words, and of all that is left of them anywhere."""
    sent = list(person_data.walk_sent(connection, whose=whose))
    given = list(_find_given(connection, whose, wanted))
    withheld = list(find_withheld(connection, whose, wanted))
    files = [key for _, key in (*given, *withheld)]
    exports = {row.file_key for row in sent if row.file_key and row.turn_id is None}
    return Found(
        messages=tuple(find_messages(connection, whose, wanted)),
        titles=_sessions(person_data.walk_titles(connection, whose=whose), wanted),
        folds=_sessions(person_data.walk_folds(connection, whose=whose), wanted),
        steps=tuple(
            row_id
            for row_id, outcome in person_data.walk_steps(connection, whose=whose)
            if wanted.is_in_json(outcome)
        ),
        events=tuple(
            row_id
            for row_id, _, payload in person_data.walk_events(connection, whose=whose)
            if wanted.is_in_json(payload)
        ),
        # What was exported holds everything.
        sent=tuple(
            row.id for row in sent if row.file_key in exports or wanted.is_in_json(row.words)
        ),
        questions=tuple(
            row_id
            for row_id, _, words in person_data.walk_questions(connection, whose=whose)
            if wanted.is_in_json(words)
        ),
        given=tuple(row_id for row_id, _ in given),
        jobs=tuple(find_jobs(connection, whose, wanted)),
        failures=tuple(
            run_id
            for run_id, reason in person_data.walk_failures(connection, whose=whose)
            if wanted.is_in(reason)
        ),
        withheld=tuple(row_id for row_id, _ in withheld),
        tasks=tuple(
            (table, row_id)
            for table, row_id, payload in person_data.walk_debts(connection, whose=whose)
            if wanted.is_in_json(payload)
        ),
        keys=tuple(dict.fromkeys(key for key in (*files, *exports) if key)),
    )


def find_messages(connection: Connection, whose: Whose, wanted: WordMatcher) -> Iterator[MessageId]:
    """The messages with the words in them, in the order of talks."""
    for message_id, _, parts in person_data.walk_messages(connection, whose=whose):
        if any(map(wanted.is_in_part, load_parts(parts))):
            yield message_id


def find_jobs(connection: Connection, whose: Whose, wanted: WordMatcher) -> Iterator[JobId]:
    """The jobs that are about the words."""
    for job_id, words in person_data.walk_jobs(connection, whose=whose):
        if wanted.is_in(words):
            yield job_id


def find_withheld(
    connection: Connection, whose: Whose, wanted: WordMatcher
) -> Iterator[tuple[int, str | None]]:
    """(id, key of a file) of the messages that are held back and hold the words."""
    for row_id, words, key, data in person_data.walk_withheld(connection, whose=whose):
        if wanted.is_in(words) or wanted.is_in_bytes(data):
            yield row_id, key


def _find_given(
    connection: Connection, whose: Whose, wanted: WordMatcher
) -> Iterator[tuple[int, str]]:
    for row_id, key, name, data in person_data.walk_given(connection, whose=whose):
        if wanted.is_in(name) or wanted.is_in_bytes(data):
            yield row_id, key


def _sessions(rows: Iterator[tuple[SessionId, str]], wanted: WordMatcher) -> tuple[SessionId, ...]:
    return tuple({session_id for session_id, words in rows if wanted.is_in(words)})
