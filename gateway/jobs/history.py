"""The history of messages that jobs sent without a model."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.loop.messages import has_visible_text
from agent_core.chats import Chat
from agent_core.ids import CallId, ConversationId, RoomId, SessionId, TurnId
from agent_core.state.conversations import files, messages, sessions, turns
from agent_core.state.conversations.messages import PRIVATE, TranscriptPlace
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_history
from agent_core.state.jobs.job_history import JobMessage
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from agent_core.transcript import Message, TextPart, repair_text, strip_controls
from gateway.jobs.conversations import UnknownRoom, find_room, name_job_conversation
from gateway.jobs.recipients import Recipients
from gateway.texts.job_results import LEFT_OUT

FILE = "output.txt"
"""The full output, attached to a message that shows only its beginning and end."""
_BEGIN, _END = 2000, 1000
"""Characters shown of a long output: with the title, they fill one or two messages."""


def clean_output(text: str) -> str:
    """Remove control characters and escape sequences; return "" if nothing readable is left."""
    kept = strip_controls(text)
    return kept if has_visible_text(kept) else ""


def shorten_output(text: str) -> str:
    """Return the text, or its beginning and end with a line about what is left out."""
    text = text.strip()
    if len(text) <= _BEGIN + _END:
        return text
    begin, end = _cut_behind(text[:_BEGIN]).rstrip(), _cut_before(text[-_END:]).lstrip()
    left_out = LEFT_OUT(count=len(text) - len(begin) - len(end), name=FILE)
    return f"{begin}\n\n{left_out}\n\n{end}"


def _cut_behind(text: str) -> str:
    """Cut after the last line break in the second half, if there is one."""
    place = text.rfind("\n", len(text) // 2)
    return text if place < 0 else text[:place]


def _cut_before(text: str) -> str:
    """Cut before the first line break in the first half, if there is one."""
    place = text.find("\n", 0, len(text) // 2)
    return text if place < 0 else text[place:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The run of a message; `whole` is attached as a file if the message shows only a part."""

    job: Job
    run: Run
    whole: str = ""


class JobHistory:
    """Records job messages as turns without a model."""

    def __init__(self, load_ids: Callable[[], Awaitable[IdAllocator]]) -> None:
        """`load_ids` returns the agent's allocator, so that both number turns in one sequence."""
        self._load_ids = load_ids
        self._ids: IdAllocator | None = None

    async def prepare(self) -> None:
        """Load the allocator; call it before the first `note`. Raises `StoreError`."""
        self._ids = await self._load_ids()

    def note(
        self, known: Recipients, source: Source, person: Person, chats: Sequence[Chat]
    ) -> TranscriptPlace:
        """Record a turn for a job message; return its place in the transcript."""
        assert self._ids  # noqa: S101 - no job runs before `prepare`
        room_id = _find_room(known, source.job, chats)
        account_id = known.find_account(person, chats[0].platform)
        conversation_id, session_id = self._open(known, source.job, person, room_id)
        if session_id is None:
            session_id = self._ids.next_session()
            job_history.open_session(
                known.connection,
                conversation_id=conversation_id,
                session_id=session_id,
                account_id=account_id,
                title=source.job.title,
                now=known.now,
            )
        saying = JobMessage(
            turn_id=self._ids.next_turn(),
            run_id=source.run.id,
            conversation_id=conversation_id,
            session_id=session_id,
            person_id=person.id,
            account_id=account_id,
            chat=chats[0],
        )
        job_history.record(known.connection, saying, now=known.now)
        if source.job.kind == "script":  # its output may hold anything
            turns.mark_untrusted(known.connection, turn_id=saying.turn_id)
        return _find_place(known.connection, saying, room_id)

    def _open(
        self, known: Recipients, job: Job, person: Person, room_id: RoomId | None
    ) -> tuple[ConversationId, SessionId | None]:
        """Return a job's conversation, and its open session if it has one."""
        connection, key = known.connection, name_job_conversation(job, room_id)
        found = job_history.find_conversation(connection, key=key, person_id=person.id)
        if found and found[1] is not None:
            job_history.continue_session(
                connection, session_id=found[1], title=job.title, now=known.now
            )
        if found:
            return found
        conversation = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key=key, kind="job", person_id=person.id, is_direct=room_id is None, room_id=room_id
            ),
            now=known.now,
        )
        return conversation.id, None

    def attach(
        self, known: Recipients, source: Source, place: TranscriptPlace
    ) -> tuple[tuple[str, str], ...]:
        """Attach the full output to a recorded turn; return its (key, name), if there is one."""
        if not source.whole:
            return ()
        data = source.whole.encode()
        key = files.store(known.connection, data=data, media_type="text/plain", now=known.now)
        files.attach(
            known.connection,
            turn_id=place.turn_id,
            call_id=CallId(FILE),
            key=key,
            name=FILE,
            now=known.now,
        )
        return ((key, FILE),)

    def report(self, known: Recipients, place: TranscriptPlace, words: str) -> None:
        """Add the words of a recorded turn to the transcript, as they are sent now."""
        said = Message(role="assistant", parts=(TextPart(text=repair_text(words)),))
        messages.append(known.connection, place, [said], now=known.now)

    def record_late(self, known: Recipients, turn_id: TurnId, person: Person, words: str) -> None:
        """Add the words of a deferred message to the transcript, unless an earlier copy did."""
        found = job_history.find(known.connection, turn_id=turn_id, person_id=person.id)
        if found and not found.has_words:
            place = _find_place(known.connection, found, found.room_id)
            self.report(known, place, words)


def record_answer(connection: Connection, job: Job, run: Run, words: str, now: int) -> None:
    """Add to the transcript what somebody answered to a reminder by a button."""
    if job.person_id is None:
        return
    for found in job_history.list_of_run(connection, run_id=run.id, person_id=job.person_id):
        said = Message(role="user", parts=(TextPart(text=words),))
        messages.append(connection, _find_place(connection, found, found.room_id), [said], now=now)


def _find_room(known: Recipients, job: Job, chats: Sequence[Chat]) -> RoomId | None:
    try:
        return find_room(known.connection, job, chats)
    except UnknownRoom:
        return None  # the room gets the message, but nobody can search for it from there


def _find_place(
    connection: Connection, saying: JobMessage, room_id: RoomId | None
) -> TranscriptPlace:
    room = rooms.find_by_id(connection, room_id=room_id) if room_id is not None else None
    return TranscriptPlace(
        session_id=saying.session_id,
        turn_id=saying.turn_id,
        person_id=saying.person_id,
        conversation_id=saying.conversation_id,
        platform=saying.chat.platform,
        audience=room.audience if room else PRIVATE,
    )
