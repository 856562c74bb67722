"""Begin a turn on disk: when, and whether it still may begin."""

import asyncio
import logging
from types import TracebackType

from agent_core.agent.turn import ActiveTurn, PreparedTurn
from agent_core.errors import StoreError
from agent_core.ids import TurnId
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import messages, sessions
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.lifecycle import erase_person
from agent_core.state.memory import skill_uses
from agent_core.state.people import people
from gateway.fairness import StopSwitch
from gateway.queued_message import QueuedMessage, place_of_batch

START_DELAY = 0.15
"""Seconds before a turn is begun on disk. A turn that ends sooner takes one commit instead of two.
Everything that a turn shows before its answer appears later than this.
"""

_log = logging.getLogger(__name__)


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
        place=place_of_batch((pending,)),
    )


def attach_to_run(connection: Connection, turn_id: TurnId, job_turn: JobTurn, now: int) -> None:
    """Tie a turn to its job run. Raises `StaleTurn` if the run is over."""
    if not job_runs.attach(connection, run_id=job_turn.run_id, turn_id=turn_id):
        raise StaleTurn
    for name in job_turn.skills:
        skill_uses.note(connection, name=name, turn_id=turn_id, now=now)


def _is_unchanged(connection: Connection, prepared: PreparedTurn) -> bool:
    """Return whether session, prompt and last message are those that were read."""
    conversation, seen = prepared.context.conversation, prepared.session
    now = sessions.find_open(connection, conversation_id=conversation.id)
    if seen is None or now is None:
        return seen is now
    newest = messages.find_newest(connection, session_id=now.id, person_id=conversation.person_id)
    read = (seen.id, seen.prompt_hash, prepared.history.newest)
    return read == (now.id, now.prompt_hash, newest)
