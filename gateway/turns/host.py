"""The lane as a running turn of the agent sees it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from agent_core.events import Host, ModelFault, Steer
from agent_core.ids import CallId, InboxId
from agent_core.state.people.people import Person
from gateway.chats import make_chat
from gateway.queued_message import QueuedMessage
from gateway.texts import models as model_texts
from gateway.turns.handle import TurnHandle
from gateway.turns.model_messages import make_steer


class TurnHost(Host):
    """Gives a turn its steers, may drain, and lets it wait."""

    def __init__(
        self,
        handle: TurnHandle,
        *,
        zone_of: Callable[[Person], str],
        now: Callable[[], int],
        note_fault: Callable[[ModelFault], Awaitable[None]],
        pace: float,
    ) -> None:
        """`note_fault` reports a fault of a model to the owners.

        `pace` is a factor of the pauses between two tries of a model that does not answer.
        """
        self._handle = handle
        self._zone_of = zone_of
        self._now = now
        self._note_fault = note_fault
        self._pace = pace
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
        now = self._now()
        return [make_steer(one, zone=self._zone_of(one.person), now=now) for one in taken]

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
                    async with asyncio.timeout(seconds * self._pace):
                        await self._handle.lane.draining.wait()
        finally:
            self._handle.awaits_model = False

    async def note_fault(self, fault: ModelFault) -> None:
        """Report a fault of a model to the owners. Raises `StoreError`."""
        await self._note_fault(fault)

    def show_loading(self) -> None:
        """Show that the model is being loaded, until its first words."""
        if self._handle.presenter:
            self._handle.presenter.show_outage(model_texts.LOADING(), math.inf)

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
