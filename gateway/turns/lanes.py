"""A lane per conversation while it has work: order, steering, stopping and fairness."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from adapters.messages import InboundMessage
from agent_core.chats import Chat, Place
from agent_core.errors import StoreError
from agent_core.ids import ConversationId, InboxId, PersonId
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Database
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from gateway.chats import make_chat, read_chat
from gateway.conversation_keys import is_of_pages
from gateway.fairness import FairSemaphore, Workers
from gateway.outbound.pending_answers import PendingAnswers
from gateway.people.admission import API_PLATFORM
from gateway.people.owner_notices import find_direct_chat
from gateway.people.rooms import Rooms
from gateway.queued_message import QueuedMessage, place_of_batch
from gateway.turns import crash_backoff
from gateway.turns.beginning import StaleTurn
from gateway.turns.crash_backoff import CrashBackoff
from gateway.turns.finalizer import TurnFinalizer
from gateway.turns.handle import Phase, TurnHandle, TurnHandles
from gateway.turns.lane_queue import LaneJob, LaneQueue
from gateway.turns.runner import TurnRunner

_log = logging.getLogger(__name__)


class Lanes:
    """The lanes. Each runs one turn at a time; messages that arrive meanwhile steer it."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        runner: TurnRunner,
        finalizer: TurnFinalizer,
        places: FairSemaphore,
        program_places: FairSemaphore,
        rooms: Rooms,
        answers: PendingAnswers,
        handles: TurnHandles,
        platforms: Collection[str],
        on_stale: Callable[[Sequence[InboxId]], None],
        crash_wait: float = crash_backoff.CRASH_WAIT,
    ) -> None:
        """`places` are for running turns, `program_places` are those that programs may take.

        A person's programs may not take all, so that a chat need not wait for them. `platforms`
        are the names of the enabled ones. `on_stale` gets events that have to be routed again,
        because their person has changed. `crash_wait` is in seconds; see `crash_backoff`.
        """
        self._group = group
        self._database = database
        self._runner = runner
        self._finalizer = finalizer
        self._places = places
        self._program_places = program_places
        self._rooms = rooms
        self._answers = answers
        self._handles = handles.by_conversation
        self._platforms = platforms
        self._on_stale = on_stale
        self._workers: Workers[ConversationId, LaneJob] = Workers(group, self._serve, self._fail)
        self._draining = asyncio.Event()
        self._changed = asyncio.Event()
        """Set when a lane is done, and once the lanes drain."""
        self._backoff = CrashBackoff(
            count_busy=self.__len__,
            draining=self._draining,
            changed=self._changed,
            first_wait=crash_wait,
        )

    def put(self, pending: QueuedMessage) -> None:
        """Queue a message: it starts a turn, or steers the running one.

        A turn of the same person that waits for an answer stops waiting, unless the message is one
        that may wait for it, such as that of `/queue`.
        """
        handle = self._handles.get(pending.conversation.id)
        self._workers.put(pending.conversation.id, pending)
        if handle is None or handle.active is None or handle.asker != pending.person.id:
            return
        if pending.ends_question or not pending.starts_own_turn:
            self._answers.interrupt(handle.active.id)
        if not pending.starts_own_turn:
            handle.mark_steer(pending)

    async def recover(self) -> None:
        """Queue the turns of an earlier process. Raises `StoreError`."""
        running, records = await self._database.write("turns.recover", crash_backoff.recover)
        self._backoff.begin(records)
        for turn in running:
            self._workers.put(turn.conversation_id, turn)

    def find_waiting(
        self, conversation_id: ConversationId, platform: str, edit: InboundMessage
    ) -> QueuedMessage | None:
        """Find the message that an edit changes, as long as its text can still be replaced."""
        handle = self._handles.get(conversation_id)
        batch = handle.batch if handle and handle.is_editable() else ()
        for job in (*batch, *self._workers.waiting(conversation_id)):
            if isinstance(job, QueuedMessage) and _is_same(job, platform, edit):
                return job
        return None

    def may_steer_by_edit(
        self, conversation_id: ConversationId, platform: str, edit: InboundMessage, person: Person
    ) -> bool:
        """Return whether an edit changes the request of a turn that waits for its model."""
        handle = self._handles.get(conversation_id)
        if handle is None or not handle.awaits_model or handle.asker != person.id:
            return False
        if any(_is_same(pending, platform, edit) for pending in handle.batch):
            return True
        chat = make_chat(platform, edit.address)  # a turn of an earlier process has no batch
        is_there = handle.is_answered_in(chat)
        return is_there and handle.place is not None and handle.place.answers == edit.message_id

    def may_stop(self, conversation_id: ConversationId, person: Person) -> bool:
        """Return whether a person may stop the conversation's turn: its asker and owners may."""
        handle = self._handles.get(conversation_id)
        return handle is None or handle.asker == person.id or person.is_owner

    def stop(self, conversation_id: ConversationId) -> bool:
        """Stop the running turn of a conversation; return whether there was one."""
        handle = self._handles.get(conversation_id)
        return handle is not None and handle.request_stop()

    def stop_of(self, person_id: PersonId) -> None:
        """Stop every turn of a person, wherever it is answered."""
        for handle in self._handles.values():
            if handle.asker == person_id:
                handle.request_stop()

    def stop_asides(self, person: Person, chat: Chat) -> bool:
        """Stop a person's side questions, agents and tasks whose answers are for a chat.

        Return whether any ran.
        """
        stopped = [
            handle.request_stop()
            for handle in self._handles.values()
            if handle.asker == person.id
            and handle.is_answered_in(chat)
            and (conversation := handle.find_conversation())
            and _is_beside(conversation)
        ]
        return any(stopped)

    def may_steer(self, conversation_id: ConversationId, person: Person) -> bool:
        """Return whether a person has a running turn that a further message still reaches."""
        handle = self._handles.get(conversation_id)
        return handle is not None and handle.asker == person.id and handle.phase is not Phase.OVER

    def stop_at(self, chat: Chat) -> bool:
        """Stop every turn that is answered in a chat; return whether there was one."""
        stopped = [
            handle.request_stop()
            for handle in self._handles.values()
            if handle.is_answered_in(chat)
        ]
        return any(stopped)

    def place_of(self, conversation_id: ConversationId) -> Place | None:
        """Return the chat that gets the answer of the running turn, if there is one."""
        handle = self._handles.get(conversation_id)
        return handle.place if handle else None

    async def move(self, conversation_id: ConversationId, place: Place) -> bool:
        """Answer the running turn in another chat; return whether there was one.

        Raises `StoreError`.
        """
        handle = self._handles.get(conversation_id)
        return handle is not None and await self._runner.move(handle, place)

    def leave(self, room: Room) -> None:
        """Move turns of direct conversations out of a room in which they are answered.

        Somebody else is in the room now. Never waits.
        """
        for conversation_id, handle in self._handles.items():
            place, conversation = handle.place, handle.find_conversation()
            is_there = place is not None and place.chat.platform == room.platform
            if is_there and conversation and conversation.is_private and place:
                address = read_chat(place.chat.address)
                if not address.is_direct and address.chat_id == room.chat_id:
                    self._group.create_task(self._leave(conversation_id, handle))

    async def _leave(self, conversation_id: ConversationId, handle: TurnHandle) -> None:
        """Move a turn to its person's latest direct chat, or stop it without one."""
        try:
            place = await self._find_direct_place(handle)
            is_moved = place is not None and await self.move(conversation_id, place)
        except StoreError as error:
            _log.error("the turn of conversation %s can't move: %s", conversation_id, error)
            is_moved = False
        if not is_moved:
            handle.request_stop()

    async def _find_direct_place(self, handle: TurnHandle) -> Place | None:
        if handle.active is None:
            return None
        person, platforms = handle.active.person, self._platforms
        found = await self._database.read(find_direct_chat, person, platforms)
        return Place(chat=found) if found else None

    def is_running(self, conversation_id: ConversationId) -> bool:
        """Return whether a conversation has a turn under way or about to begin."""
        return self._workers.is_busy(conversation_id)

    def count_waiting(self, conversation_id: ConversationId) -> int:
        """Count the messages that wait behind the running turn."""
        return len(self._workers.waiting(conversation_id))

    def awaits_answer(self, conversation_id: ConversationId) -> bool:
        """Return whether the running turn of a conversation waits for an answer."""
        handle = self._handles.get(conversation_id)
        active = handle.active if handle else None
        return active is not None and self._answers.is_awaited(active.id)

    def drain(self) -> None:
        """Begin no more turns, and let the running ones reach a step boundary.

        Turns that wait for an answer end now: the answer may take long.
        """
        self._draining.set()
        self._changed.set()
        self._answers.close()

    def is_idle(self) -> bool:
        """Return whether no lane has work."""
        return len(self._workers) == 0

    def __len__(self) -> int:
        """Count the conversations with work."""
        return len(self._workers)

    async def _serve(self, conversation_id: ConversationId, queue: deque[LaneJob]) -> None:
        lane = LaneQueue(queue, self._draining)
        handle = TurnHandle(lane=lane, asker=_person_of(queue[0]))
        self._handles[conversation_id] = handle
        async with AsyncExitStack() as stack:
            # The lane counts as busy until this function has returned.
            stack.callback(asyncio.get_running_loop().call_soon, self._changed.set)
            try:
                async with handle.stop.scope():
                    if isinstance(queue[0], StoredTurn):
                        await self._backoff.admit(queue[0])
                    if not _is_job_run(queue[0]):
                        await self._take_place(queue[0], handle, stack)
            except TimeoutError:
                _log.info("a turn of conversation %s is stopped before it begins", conversation_id)
            if self._draining.is_set():
                queue.clear()  # the database has all of it, and the next start resumes it
            else:
                job = queue[0]
                handle.asker = _person_of(job)
                handle.batch = lane.take_batch()
                await self._run(job, handle)
        del self._handles[conversation_id]

    async def _take_place(self, job: LaneJob, handle: TurnHandle, stack: AsyncExitStack) -> None:
        """Wait for a place, and hold it until the stack is left."""
        person_id, released = _person_of(job), self._places.released
        if _is_of_program(job):
            await stack.enter_async_context(self._program_places.place(person_id))
            released = self._release_both
        await stack.enter_async_context(self._places.place(person_id))
        handle.released = partial(released, person_id)

    @asynccontextmanager
    async def _release_both(self, person_id: PersonId) -> AsyncIterator[None]:
        """Release the places of a program's request during the block.

        They are taken again in the order of `_take_place`, so that no two wait for each other.
        """
        places, of_programs = self._places, self._program_places
        async with places.released(person_id), of_programs.released(person_id):
            yield

    async def _run(self, job: LaneJob, handle: TurnHandle) -> None:
        """Run one turn; while the store refuses to begin it, wait."""
        if handle.batch:
            handle.place = place_of_batch(handle.batch)

        async def run() -> None:
            if self._draining.is_set():
                return
            if isinstance(job, StoredTurn):
                is_abandoned = self._backoff.is_abandoned(job)
                is_readable = await self._rooms.is_readable(job.place.chat)
                if self._draining.is_set():  # the platform may have been waited for
                    return
                leave = partial(self._leave, job.conversation_id) if is_readable else None
                await self._runner.resume(job, handle, leave, is_abandoned=is_abandoned)
            elif _is_job_run(job) or await self._rooms.is_current(handle.batch[-1]):
                await self._runner.start(handle)
            else:
                raise StaleTurn

        try:
            await self._database.retry_while_unavailable(run, "a turn")
        except StaleTurn:
            self._on_stale(handle.inbox_ids())

    async def _fail(self, conversation_id: ConversationId, job: LaneJob, error: Exception) -> None:
        """End a turn that an unexpected error broke, and report it to its person.

        The lane waits until that is written: the next turn can't follow a transcript whose turn
        neither runs nor has ended.
        """
        handle = self._handles.pop(conversation_id)

        async def end() -> None:
            if handle.active and await self._finalizer.end_broken(handle.active, error):
                return
            if isinstance(job, StoredTurn):
                await self._finalizer.abandon(job)
            elif isinstance(job, QueuedMessage):
                await self._finalizer.refuse(handle.batch or [job], error)

        try:
            await self._database.retry_while_unavailable(end, "the end of a broken turn")
        except StaleTurn:
            self._on_stale(handle.inbox_ids())


def _is_beside(conversation: Conversation) -> bool:
    """Return whether turns of a conversation run outside the one that a chat shows."""
    return conversation.kind in ("aside", "task") or conversation.agent != ""


def _person_of(job: LaneJob) -> PersonId:
    return job.person_id if isinstance(job, StoredTurn) else job.person.id


def _is_job_run(job: LaneJob) -> bool:
    """Return whether a message is a job run: the scheduler limits those, and chose their chat."""
    return isinstance(job, QueuedMessage) and job.job_turn is not None


def _is_of_program(job: LaneJob) -> bool:
    """Return whether a program asks, and not its person on a page."""
    if isinstance(job, StoredTurn):
        platform, address = job.place.chat.platform, read_chat(job.place.chat.address)
    else:
        platform, address = job.platform, job.message.address
    return platform == API_PLATFORM and not is_of_pages(address)


def _is_same(pending: QueuedMessage, platform: str, edit: InboundMessage) -> bool:
    """Return whether an edit changes this message; ids are unique within a chat only."""
    message = pending.message
    known = (pending.platform, message.address, message.message_id)
    return known == (platform, edit.address, edit.message_id)
