"""Search in all data of a person for the words to remove. Read-only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

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
from agent_core.privacy.progress import Progress, Report
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person, person_data
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory.blocks import PREFIX
from agent_core.transcript import Part

_PIECE = 5000
"""Messages between two reports, which take about 50 ms."""
_MOST_LETTERS = 8
"""Groups of letters that SQLite looks for; each takes time."""
_Place = tuple[SessionId, MessageId]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRows:
    """The ids of matching rows, without any of their text.

    `keys` are files that other rows may still reference. `evidence_rows` are rows of shared memory
    of which only the evidence matches. `blocks` are blocks with a matching description, `names` are
    (person, folder) of blocks with a matching name, and `audit_rows` the audit rows about these.
    `deeds` are the audit rows by which `/undo` takes back what the person did. `quoting` are
    messages of which only the facts match.
    """

    blocks: tuple[PersonId, ...] = ()
    names: tuple[tuple[PersonId, str], ...] = ()
    audit_rows: tuple[int, ...] = ()
    deeds: tuple[int, ...] = ()
    archive: tuple[tuple[PersonId, ArchiveId], ...] = ()
    changes: tuple[int, ...] = ()
    evidence_rows: tuple[int, ...] = ()
    prompts: tuple[PromptHash, ...] = ()
    messages: tuple[MessageId, ...] = ()
    quoting: tuple[MessageId, ...] = ()
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
    tasks: tuple[int, ...] = ()
    sync_items: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()

    def cut(self, most: int) -> Iterator["FoundRows"]:
        """Split into pieces with at most `most` rows of each kind; yields at least one piece."""
        kinds = [field.name for field in fields(self)]
        longest = max(len(getattr(self, kind)) for kind in kinds)
        for start in range(0, max(longest, 1), most):
            yield FoundRows(**{kind: getattr(self, kind)[start : start + most] for kind in kinds})


def find_in_memory(connection: Connection, subject: DataSubject, matcher: WordMatcher) -> FoundRows:
    """Find matches in memory, its history and stored prompts."""
    foreign = person_data.list_foreign_prompts(connection, subject=subject)
    blocks = erase_person.list_unshared_blocks(connection, subject=subject)
    lone = replace(subject, person_ids=tuple(person_id for person_id, _ in blocks))
    owners = replace(subject, person_ids=subject.person_ids + lone.person_ids)
    prompts = match_texts(connection, "prompts", subject, matcher.is_in)
    return FoundRows(
        blocks=match_texts(connection, "descriptions", lone, matcher.is_in),
        names=tuple(find_names(connection, subject, matcher)),
        audit_rows=match_texts(connection, "audit", lone, matcher.is_in),
        deeds=match_texts(connection, "deeds", subject, matcher.is_in),
        archive=tuple(
            (person_id, archive_id)
            for person_id, archive_id, words in person_data.walk_archive(
                connection, subject=subject
            )
            if matcher.is_in(words)
        ),
        changes=match_texts(connection, "changes", owners, matcher.is_in),
        evidence_rows=match_texts(connection, "foreign_changes", owners, matcher.is_in),
        prompts=tuple(one for one in prompts if one not in foreign),
    )


def find_in_conversations(
    connection: Connection, subject: DataSubject, matcher: WordMatcher, report: Report
) -> FoundRows:
    """Find matches in conversations and everything derived from them."""
    messages, quoting = find_messages(connection, subject, matcher, report)
    sent = list(person_data.walk_sent(connection, subject=subject))
    given = list(_find_given(connection, subject, matcher))
    withheld = list(find_withheld(connection, subject, matcher))
    files = [key for _, key in (*given, *withheld)]
    exports = {row.file_key for row in sent if row.file_key and row.turn_id is None}
    return FoundRows(
        messages=tuple(messages),
        quoting=tuple(quoting),
        titles=match_texts(connection, "titles", subject, matcher.is_in),
        compactions=match_texts(connection, "compactions", subject, matcher.is_in),
        steps=match_texts(connection, "steps", subject, matcher.is_in_json),
        events=tuple(
            row_id
            for row_id, _, payload in person_data.walk_events(connection, subject=subject)
            if matcher.is_in_json(payload)
        ),
        # An export contains everything.
        sent=tuple(
            row.id for row in sent if row.file_key in exports or matcher.is_in_json(row.words)
        ),
        questions=match_texts(connection, "questions", subject, matcher.is_in_json),
        given=tuple(row_id for row_id, _ in given),
        jobs=match_texts(connection, "jobs", subject, matcher.is_in),
        versions=match_texts(connection, "job_versions", subject, matcher.is_in),
        runs=match_texts(connection, "runs", subject, matcher.is_in),
        withheld=tuple(row_id for row_id, _ in withheld),
        tasks=match_texts(connection, "tasks", subject, matcher.is_in_json),
        sync_items=match_texts(connection, "external_sync", subject, matcher.is_in_json),
        keys=tuple(dict.fromkeys(key for key in (*files, *exports) if key)),
    )


def match_texts(
    connection: Connection, kind: str, subject: DataSubject, is_wanted: Callable[[str], bool]
) -> tuple[Any, ...]:
    """Find the ids of the matching rows of one of `person_data.TEXTS`."""
    rows = person_data.walk_texts(connection, kind=kind, subject=subject)
    return tuple(dict.fromkeys(row_id for row_id, words in rows if is_wanted(words)))


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
    connection: Connection, subject: DataSubject, matcher: WordMatcher, report: Report
) -> tuple[list[MessageId], list[MessageId]]:
    """Find matching messages in the order of conversations, and those that only quote in facts."""
    letters = matcher.letters[:_MOST_LETTERS]
    counts = person_data.count_messages(connection, subject=subject)
    done, total = 0, sum(count for _, count in counts)
    whole, quoting = list[_Place](), list[_Place]()

    def sort(rows: Iterable[tuple[SessionId, MessageId, tuple[Part, ...]]]) -> None:
        for session_id, message_id, parts in rows:
            if any(map(matcher.is_in_part, parts)):
                whole.append((session_id, message_id))
            elif matcher.clean_facts(parts, FORGOTTEN) != parts:
                quoting.append((session_id, message_id))

    sort(person_data.walk_messages_elsewhere(connection, subject=subject, letters=letters))
    for session_ids, size in cut_sessions(counts, _PIECE):
        report(Progress(stage="search", done=done, total=total))
        sort(
            person_data.walk_messages(
                connection, subject=subject, session_ids=session_ids, letters=letters
            )
        )
        done += size
    return [one for _, one in sorted(whole)], [one for _, one in sorted(quoting)]


def cut_sessions(
    counts: Sequence[tuple[SessionId, int]], least: int
) -> Iterator[tuple[list[SessionId], int]]:
    """Yield pieces of whole sessions with `least` messages or more, and the number of these."""
    piece, size = list[SessionId](), 0
    for session_id, count in counts:
        piece.append(session_id)
        size += count
        if size >= least:
            yield piece, size
            piece, size = [], 0
    if piece:
        yield piece, size


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
