"""The lane as a running turn of the agent sees it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from agent_core.agent.turn import ActiveTurn
from agent_core.events import Host, ModelFault, ModelOutage, Steer
from agent_core.ids import CallId, InboxId
from agent_core.state.conversations import plans
from gateway.chats import make_chat
from gateway.queued_message import QueuedMessage
from gateway.texts import models as model_texts
from gateway.turns.finalizer import TurnDeps
from gateway.turns.handle import TurnHandle
from gateway.turns.model_messages import make_steer
from gateway.turns.presenter import Presenter


class TurnHost(Host):
    """Gives a turn its steers, may drain, and lets it wait."""

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
        return [make_steer(one, zone=zone_of(one.person), now=now) for one in taken]

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
                presenter.assume_seen(make_chat(one.platform, sent.address), sent.message_id)

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
