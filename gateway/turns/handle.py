"""A turn as its lane holds it: its phase, its messages, its stop switch and its start."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from types import TracebackType

from agent_core.agent.active_turn import ActiveTurn, PreparedTurn
from agent_core.errors import StoreError
from agent_core.events import Host, ModelFault, ModelOutage, Steer
from agent_core.ids import CallId, ConversationId, InboxId, PersonId, TurnId
from agent_core.state.conversations import messages, plans, sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn, TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from gateway import conversion
from gateway.concurrency import StopSwitch
from gateway.conversion import Place, QueuedMessage, place_of
from gateway.texts import models as model_texts
from gateway.turns.finalizer import TurnDeps
from gateway.turns.presenter import Presenter

_log = logging.getLogger(__name__)

Job = QueuedMessage | StoredTurn
"""Work of a lane: a message, or a turn that an earlier process left."""


class Phase(Enum):
    """Progress of a turn."""

    WAITING = auto()
    """Its messages wait, and may still be edited."""
    RETRYING = auto()
    """The store refused to begin the turn. Its messages may be edited again."""
    DRAFTED = auto()
    """The text of its messages is fixed."""
    RUNNING = auto()
    OVER = auto()
    """Nothing is left that could be stopped."""


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

        In its chat, a message with `starts_own_turn` waits, and so do the messages after it. Other
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
        """Put messages back in their places, ordered by age with everything else that waits."""
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
    unstored: ActiveTurn | None = None
    """The turn of the last try, which the store refused."""
    presenter: Presenter | None = None
    """Shows the turn, while it runs."""
    phase: Phase = Phase.WAITING
    stop: StopSwitch = field(default_factory=StopSwitch)
    released: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Releases the turn's place among the running turns while the turn waits for a model."""
    awaits_model: bool = False
    """True while it waits before its next try of a failed model call."""

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
        """Mark a steering message as seen, if it is in the chat that gets the answer."""
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


class TurnHost(Host):
    """The lane as the agent sees it: it gives the turn its steers, may drain, and lets it wait."""

    def __init__(self, handle: TurnHandle, deps: TurnDeps) -> None:
        self._handle = handle
        self._deps = deps
        self._handed_out: list[QueuedMessage] = []

    def take_steers(self) -> Sequence[Steer]:
        """Take the messages since the last call out of the lane."""
        if self._handle.place is None:
            return []
        taken = self._handle.lane.take_steers(self._handle.place, self._handle.asker)
        self._handed_out += taken
        if taken and self._handle.presenter:
            self._handle.presenter.is_steered = True
        self.assume_seen(taken)
        zone_of, now = self._deps.zone_of, self._deps.now()
        return [conversion.steer(one, zone=zone_of(one.person), now=now) for one in taken]

    def assume_seen(self, messages: Sequence[QueuedMessage]) -> None:
        """Let the turn remove the marks of messages that an earlier process received.

        Those of other platforms carry none: a mark is set in the turn's chat only.
        """
        presenter = self._handle.presenter
        if presenter is None:
            return
        for one in messages:
            sent = one.message
            if one.is_repeat and sent.message_id and presenter.is_on(one.platform):
                presenter.assume_seen(conversion.name_chat(sent.address), sent.message_id)

    def is_draining(self) -> bool:
        """Return whether the process is shutting down."""
        return self._handle.lane.draining.is_set()

    async def pause(self, seconds: float) -> None:
        """Wait while another turn has the place of this one."""
        self._handle.awaits_model = True
        try:
            async with self._handle.released():
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds * self._deps.outage_pace):
                        await self._handle.lane.draining.wait()
        finally:
            self._handle.awaits_model = False

    async def note_fault(self, fault: ModelFault) -> None:
        """Report a fault of a model to the owners. Raises `StoreError`."""
        await self._deps.note_fault(fault)

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        """Show how many helpers of a tool call are done."""
        presenter = self._handle.presenter
        if presenter:
            presenter.show_helpers(call_id, done, total)

    def show_progress(self, call_id: CallId, note: str) -> None:
        """Show a note on a running tool call."""
        presenter = self._handle.presenter
        if presenter:
            presenter.show_progress(call_id, note)

    async def show_kept_plan(self, active: ActiveTurn) -> None:
        """Show the plan that a turn begins with, unless all is done. Raises `StoreError`."""
        if active.prepared:
            session = active.prepared.session
            plan = session.plan if session else ()
        else:
            owner_id = active.conversation.person_id
            plan = await self._deps.database.read(
                plans.find, session_id=active.session_id, owner_id=owner_id
            )
        if any(item.state != "done" for item in plan):
            self.show_plan(*plans.find_current(plan))

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Show the step of the plan at hand."""
        presenter = self._handle.presenter
        if presenter:
            presenter.show_plan(number, total, title)

    def return_unclaimed(self, claimed: frozenset[InboxId]) -> None:
        """Put the messages that the turn has not claimed back into the lane."""
        left = [one for one in self._handed_out if not claimed.issuperset(one.inbox_ids)]
        self._handle.lane.put_back(left)
        self._handed_out = []

    def show_outage(self, active: ActiveTurn, outage: ModelOutage, presenter: Presenter) -> None:
        """Show that a turn waits for its model, and let another job run have its slot."""
        now, zone = self._deps.now(), self._deps.zone_of(active.person)
        presenter.show_outage(
            model_texts.describe_outage(outage, zone, now), (now - outage.since) / 1000
        )
        if active.job_turn:
            self._deps.outcomes.wakeup.set()


def _spot(place: Place, asker: PersonId) -> tuple[str, str, PersonId]:
    return place.platform, place.chat, asker


def _origin(pending: QueuedMessage) -> tuple[str, str, PersonId]:
    chat = conversion.name_chat(pending.message.address)
    return pending.platform, chat, pending.person.id


def _age(job: Job) -> int:
    return job.inbox_ids[0] if isinstance(job, QueuedMessage) else 0


class StaleTurn(Exception):
    """A turn can't begin: its person, conversation or job run has changed since it was queued."""


class DeferredStart:
    """Begin a running turn on disk after a delay; before that, a crash leaves its messages unread.

    The first record of the turn that must survive a crash begins it earlier.
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
    newest = messages.find_newest(connection, session_id=now.id, person_id=conversation.person_id)
    read = (seen.id, seen.prompt_hash, prepared.history.newest)
    return read == (now.id, now.prompt_hash, newest)
