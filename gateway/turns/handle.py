"""A turn as its lane holds it: its phase, its messages, its stop switch and its start."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from enum import Enum, auto
from types import TracebackType

from agent_core.agent import ActiveTurn, PreparedTurn
from agent_core.errors import StoreError
from agent_core.ids import ConversationId, InboxId, PersonId, TurnId
from agent_core.state.conversations import messages, sessions
from agent_core.state.conversations.messages import START
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import Turn, TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from gateway import conversion
from gateway.conversion import Place, QueuedMessage, place_of
from gateway.turns.presenter import Presenter

Job = QueuedMessage | Turn
"""Work of a lane: a message, or a turn that an earlier process left."""


class Phase(Enum):
    """Progress of a turn."""

    WAITING = auto()
    """Its messages wait, and may still be edited."""
    RETRYING = auto()
    """The store refused to begin it. Its messages may be edited again."""
    DRAFTED = auto()
    """The text of its messages is fixed."""
    RUNNING = auto()
    OVER = auto()
    """Nothing is left that could be stopped."""


class StopSwitch:
    """Ends the work in its scope at the next await."""

    def __init__(self) -> None:
        self._is_requested = False
        self._is_stale = False
        self._scope: asyncio.Timeout | None = None

    @asynccontextmanager
    async def scope(self) -> AsyncIterator[None]:
        """Run the block; after `request` or `mark_stale` its next await raises `TimeoutError`."""
        async with asyncio.timeout(None) as scope:
            self._scope = scope
            try:
                yield
            finally:
                self._scope = None

    def request(self) -> None:
        """Stop the work because a person asks for it."""
        self._cancel()
        self._is_requested = True

    def mark_stale(self) -> None:
        """Stop the work because it can't be finished as it is."""
        self._cancel()
        self._is_stale = True

    def is_requested(self) -> bool:
        """Return whether a person wants the work to end."""
        return self._is_requested

    def is_stale(self) -> bool:
        """Return whether the work rests on data that has changed."""
        return self._is_stale

    def _cancel(self) -> None:
        if self._scope and not self._is_requested:
            self._scope.reschedule(asyncio.get_running_loop().time())


class LaneQueue:
    """The jobs that wait in one conversation, and the rules for taking them."""

    def __init__(self, jobs: deque[Job], draining: asyncio.Event) -> None:
        """`draining` is set once no more turns begin."""
        self.jobs = jobs
        self.draining = draining

    def take_batch(self) -> list[QueuedMessage]:
        """Take the first job, with the messages behind it that go into the same turn.

        Return the messages; none for a turn of an earlier process. Messages of another person or
        chat need a turn of their own, with its own answer.
        """
        first = self.jobs.popleft()
        if not isinstance(first, QueuedMessage):
            return []
        batch = [first]
        while not first.starts_own_turn and (job := self._find_next(first)):
            self.jobs.popleft()
            batch.append(job)
        return batch

    def find_steers(self, place: Place, asker: PersonId) -> list[QueuedMessage]:
        """Return the messages that steer a turn: its asker's, in its chat or sent to steer.

        Of its chat's, those behind a message that starts its own turn wait with it. Other
        people's messages wait, and hold nothing up.
        """
        found: list[QueuedMessage] = []
        is_open = True
        for job in self.jobs:
            if not isinstance(job, QueuedMessage):
                continue
            is_here = _origin(job) == _spot(place, asker)
            is_open = is_open and not (is_here and job.starts_own_turn)
            if (is_here and is_open) or (job.is_steer and job.person.id == asker):
                found.append(job)
        return found

    def take_steers(self, place: Place, asker: PersonId) -> list[QueuedMessage]:
        """Take the messages that `find_steers` returns out of the queue."""
        taken = self.find_steers(place, asker)
        left = [job for job in self.jobs if not any(job is one for one in taken)]
        self._replace(left)
        return taken

    def put_back(self, messages: Sequence[QueuedMessage]) -> None:
        """Return messages to their places: the oldest is in front, behind an older turn."""
        self._replace(sorted([*messages, *self.jobs], key=_age))

    def _find_next(self, first: QueuedMessage) -> QueuedMessage | None:
        job = self.jobs[0] if self.jobs else None
        if not isinstance(job, QueuedMessage) or job.starts_own_turn:
            return None
        return job if _origin(job) == _origin(first) else None

    def _replace(self, jobs: Sequence[Job]) -> None:
        self.jobs.clear()
        self.jobs.extend(jobs)


@dataclass(slots=True, kw_only=True)
class TurnHandle:
    """A turn, from its wait for a place until it is over."""

    lane: LaneQueue
    asker: PersonId
    """The person who asked for the turn, and may stop it."""
    batch: Sequence[QueuedMessage] = ()
    """The messages that begin it; none for a turn of an earlier process."""
    place: Place | None = None
    """The chat that gets the answer."""
    active: ActiveTurn | None = None
    """The turn, while the agent runs it."""
    presenter: Presenter | None = None
    """Shows the turn, while it runs."""
    phase: Phase = Phase.WAITING
    stop: StopSwitch = field(default_factory=StopSwitch)
    released: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Gives the place among the running turns away while the turn waits for a model."""

    def find_conversation(self) -> Conversation | None:
        """Return the turn's conversation; None for a turn of an earlier process that waits."""
        if self.active:
            return self.active.conversation
        return self.batch[-1].conversation if self.batch else None

    def request_stop(self) -> bool:
        """Stop the turn, before it begins or at its next await; False if it is over."""
        if self.phase is Phase.OVER:
            return False
        self.stop.request()
        return True

    def is_editable(self) -> bool:
        """Return whether an edit of a message in `batch` still reaches the model."""
        return self.phase in (Phase.WAITING, Phase.RETRYING)

    def is_answered_in(self, platform: str, chat: str) -> bool:
        """Return whether a chat gets the answer."""
        place = self.place
        return place is not None and (place.platform, place.chat) == (platform, chat)

    def mark_steer(self, pending: QueuedMessage) -> None:
        """Show that a message was seen that steers the turn; it does so in the turn's chat only."""
        chat = conversion.name_chat(pending.message.address)
        if self.presenter and self.is_answered_in(pending.platform, chat):
            self.presenter.mark_steer(pending.message.message_id)

    def has_steers(self) -> bool:
        """Return whether a message waits that the turn has not read yet."""
        return self.place is not None and bool(self.lane.find_steers(self.place, self.asker))

    def inbox_ids(self) -> list[InboxId]:
        """Return the events that begin the turn."""
        return [inbox_id for pending in self.batch for inbox_id in pending.inbox_ids]


class TurnHandles:
    """The turns that run or wait for a place, one per conversation."""

    def __init__(self) -> None:
        self.by_conversation: dict[ConversationId, TurnHandle] = {}

    def find(self, turn_id: TurnId) -> TurnHandle | None:
        """Return the handle of a running turn."""
        handles = self.by_conversation.values()
        return next((one for one in handles if one.active and one.active.id == turn_id), None)


def _spot(place: Place, asker: PersonId) -> tuple[str, str, PersonId]:
    return place.platform, place.chat, asker


def _origin(pending: QueuedMessage) -> tuple[str, str, PersonId]:
    chat = conversion.name_chat(pending.message.address)
    return pending.platform, chat, pending.person.id


def _age(job: Job) -> int:
    return job.inbox_ids[0] if isinstance(job, QueuedMessage) else 0


_log = logging.getLogger(__name__)

START_DELAY = 0.15
"""Seconds in which a turn may be over, and then takes one commit instead of two. Everything shown
of a turn before its answer is shown later than this."""


class StaleTurn(Exception):
    """A turn can't begin: its person, conversation or job run has changed since it was queued."""


class DeferredStart:
    """Begin a running turn on disk after a delay; before that, a crash leaves its messages unread.

    The first record of the turn that has to last begins it earlier.
    """

    def __init__(self, active: ActiveTurn, stop: StopSwitch, delay: float) -> None:
        """`delay` is in seconds."""
        self._active = active
        self._stop = stop
        self._delay = delay
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if not self._active.journal.is_begun:
            self._timer = asyncio.get_running_loop().call_later(self._delay, self._begin)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if self._task:
            await self._task

    def _begin(self) -> None:
        if not self._active.journal.is_begun:
            self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        try:
            await self._active.journal.begin()
        except StaleTurn:
            self._stop.mark_stale()
        except StoreError as error:  # the next record of the turn tries again
            _log.error("turn %d is not on disk yet: %s", self._active.id, error)


def find_asked(
    connection: Connection, pending: QueuedMessage, prepared: PreparedTurn, *, is_stopped: bool
) -> TurnRequest:
    """Return the asker as the database has them in the transaction that begins their turn.

    Raises `StaleTurn` if people were merged, split or erased since, or if the conversation differs
    from the one that the prompt was made for. A turn that was stopped may end in a conversation
    that was closed since.
    """
    account = people.find_account(
        connection, platform=pending.platform, user_id=pending.message.sender.user_id
    )
    if account and account.person_id != pending.person.id:
        raise StaleTurn
    if account is None and erase_person.is_erased(connection, person_id=pending.person.id):
        raise StaleTurn
    if not is_stopped and not _is_unchanged(connection, prepared):
        raise StaleTurn
    return TurnRequest(
        person_id=pending.person.id,
        account_id=account.id if account else None,
        place=place_of((pending,)).fields,
    )


def _is_unchanged(connection: Connection, prepared: PreparedTurn) -> bool:
    """Return whether session, prompt and last message are those that were read."""
    conversation, seen = prepared.context.conversation, prepared.session
    now = sessions.find_open(connection, conversation_id=conversation.id)
    if seen is None or now is None:
        return seen is now
    last = prepared.history[-1].id if prepared.history else START
    newest = messages.find_newest(connection, session_id=now.id, person_id=conversation.person_id)
    return (seen.id, seen.prompt_hash, last) == (now.id, now.prompt_hash, newest)
