"""Search in all data of a person for the words to remove. Read-only."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from agent_core.ids import (
    ArchiveId,
    InboxId,
    JobId,
    MessageId,
    OutboxId,
    PersonId,
    PromptHash,
    QuestionId,
    RunId,
    SessionId,
)
from agent_core.privacy.erasure.matcher import WordMatcher
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person, person_data
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.memory.blocks import PREFIX

Task = tuple[str, int]
"""The table and id of a queued row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The ids of matching rows, without any of their text.

    `keys` are files that others may still reference. `evidence_rows` are rows of shared memory
    whose evidence alone matches. `blocks` are those with a matching description, `names` (person,
    folder) those with a matching name, `deeds` the audit rows about them.
    """

    blocks: tuple[PersonId, ...] = ()
    names: tuple[tuple[PersonId, str], ...] = ()
    deeds: tuple[int, ...] = ()
    archive: tuple[tuple[PersonId, ArchiveId], ...] = ()
    changes: tuple[int, ...] = ()
    evidence_rows: tuple[int, ...] = ()
    prompts: tuple[PromptHash, ...] = ()
    messages: tuple[MessageId, ...] = ()
    titles: tuple[SessionId, ...] = ()
    compactions: tuple[SessionId, ...] = ()
    steps: tuple[int, ...] = ()
    events: tuple[InboxId, ...] = ()
    sent: tuple[OutboxId, ...] = ()
    questions: tuple[QuestionId, ...] = ()
    given: tuple[int, ...] = ()
    jobs: tuple[JobId, ...] = ()
    versions: tuple[int, ...] = ()
    runs: tuple[RunId, ...] = ()
    withheld: tuple[int, ...] = ()
    tasks: tuple[Task, ...] = ()
    keys: tuple[str, ...] = ()

    def cut(self, most: int) -> Iterator["Found"]:
        """Split into pieces with at most `most` rows of each kind; yields at least one."""
        kinds = [field.name for field in fields(self)]
        longest = max(len(getattr(self, kind)) for kind in kinds)
        for start in range(0, max(longest, 1), most):
            yield Found(**{kind: getattr(self, kind)[start : start + most] for kind in kinds})


def find_in_memory(connection: Connection, subject: DataSubject, matcher: WordMatcher) -> Found:
    """Find matches in memory, its history and stored prompts."""
    foreign = person_data.list_foreign_prompts(connection, subject=subject)
    blocks = [
        person_id for person_id, _ in erase_person.list_unshared_blocks(connection, subject=subject)
    ]
    owners = replace(subject, person_ids=(*subject.person_ids, *blocks))
    return Found(
        blocks=tuple(
            person_id
            for person_id, words in person_data.walk_descriptions(connection, subject=owners)
            if person_id in blocks and matcher.is_in(words)
        ),
        names=tuple(find_names(connection, subject, matcher)),
        deeds=tuple(
            row_id
            for row_id, person_id, words in person_data.walk_audit(connection, subject=owners)
            if person_id in blocks and matcher.is_in(words)
        ),
        archive=tuple(
            (person_id, archive_id)
            for person_id, archive_id, words in person_data.walk_archive(
                connection, subject=subject
            )
            if matcher.is_in(words)
        ),
        changes=tuple(
            row_id
            for row_id, words in person_data.walk_changes(connection, subject=owners)
            if matcher.is_in(words)
        ),
        evidence_rows=tuple(
            row_id
            for row_id, words in person_data.walk_foreign_changes(connection, subject=owners)
            if matcher.is_in(words)
        ),
        prompts=tuple(
            prompt_hash
            for prompt_hash, words in person_data.walk_prompts(connection, subject=subject)
            if matcher.is_in(words) and prompt_hash not in foreign
        ),
    )


def find_in_conversations(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Found:
    """Find matches in conversations and everything derived from them."""
    sent = list(person_data.walk_sent(connection, subject=subject))
    given = list(_find_given(connection, subject, matcher))
    withheld = list(find_withheld(connection, subject, matcher))
    files = [key for _, key in (*given, *withheld)]
    exports = {row.file_key for row in sent if row.file_key and row.turn_id is None}
    return Found(
        messages=tuple(find_messages(connection, subject, matcher)),
        titles=_sessions(person_data.walk_titles(connection, subject=subject), matcher),
        compactions=_sessions(person_data.walk_compactions(connection, subject=subject), matcher),
        steps=tuple(
            row_id
            for row_id, outcome in person_data.walk_steps(connection, subject=subject)
            if matcher.is_in_json(outcome)
        ),
        events=tuple(
            row_id
            for row_id, _, payload in person_data.walk_events(connection, subject=subject)
            if matcher.is_in_json(payload)
        ),
        # An export contains everything.
        sent=tuple(
            row.id for row in sent if row.file_key in exports or matcher.is_in_json(row.words)
        ),
        questions=tuple(
            row_id
            for row_id, _, words in person_data.walk_questions(connection, subject=subject)
            if matcher.is_in_json(words)
        ),
        given=tuple(row_id for row_id, _ in given),
        jobs=tuple(find_jobs(connection, subject, matcher)),
        versions=tuple(find_job_versions(connection, subject, matcher)),
        runs=tuple(
            run_id
            for run_id, words in person_data.walk_runs(connection, subject=subject)
            if matcher.is_in(words)
        ),
        withheld=tuple(row_id for row_id, _ in withheld),
        tasks=tuple(
            (table, row_id)
            for table, row_id, payload in person_data.walk_queued_work(connection, subject=subject)
            if matcher.is_in_json(payload)
        ),
        keys=tuple(dict.fromkeys(key for key in (*files, *exports) if key)),
    )


def find_names(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[tuple[PersonId, str]]:
    """Find (person, folder) of blocks that nobody else sees and whose name matches."""
    own = erase_person.list_unshared_blocks(connection, subject=subject)
    owners = replace(subject, person_ids=tuple(person_id for person_id, _ in own))
    for person_id, slug, name in person_data.walk_block_names(connection, subject=owners):
        folder = slug.removeprefix(PREFIX)
        if matcher.is_in(f"{folder}\n{name}") and name != name_neutrally(person_id):
            yield person_id, folder


def name_neutrally(person_id: PersonId) -> str:
    """Return the name that a block gets in place of a forgotten one."""
    return f"untitled-{person_id}"


def find_messages(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[MessageId]:
    """Find matching messages in the order of conversations."""
    for message_id, _, parts in person_data.walk_messages(connection, subject=subject):
        if any(map(matcher.is_in_part, parts)):
            yield message_id


def find_jobs(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[JobId]:
    """Find matching jobs."""
    for job_id, words in person_data.walk_jobs(connection, subject=subject):
        if matcher.is_in(words):
            yield job_id


def find_job_versions(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[int]:
    """Find matching former versions of jobs."""
    for version_id, words in person_data.walk_job_versions(connection, subject=subject):
        if matcher.is_in(words):
            yield version_id


def find_withheld(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[tuple[int, str | None]]:
    """Find (id, file key) of matching deferred messages."""
    for row_id, words, key, data in person_data.walk_deferred(connection, subject=subject):
        if matcher.is_in(words) or matcher.is_in_bytes(data):
            yield row_id, key


def _find_given(
    connection: Connection, subject: DataSubject, matcher: WordMatcher
) -> Iterator[tuple[int, str]]:
    for row_id, key, name, data in person_data.walk_files(connection, subject=subject):
        if matcher.is_in(name) or matcher.is_in_bytes(data):
            yield row_id, key


def _sessions(rows: Iterator[tuple[SessionId, str]], matcher: WordMatcher) -> tuple[SessionId, ...]:
    return tuple({session_id for session_id, words in rows if matcher.is_in(words)})
