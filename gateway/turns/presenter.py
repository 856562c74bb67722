"""What is shown while a turn runs: signs, a live message that grows, a line of what it does."""

import asyncio
from dataclasses import replace

from adapters.abilities import CanEdit, CanShowSteps, CanType
from adapters.contract import ChatAdapter
from adapters.messages import Step, StepState
from agent_core.events import Event, TextGrew, TextReset, ToolEnded, ToolStarted
from agent_core.state.people.people import Verbosity
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import mend_text
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.live_message import LiveMessage
from gateway.texts import general

_FIRST_SIGN = 0.15
"""Seconds before the typing sign: at once for a person, never for an instant answer."""
_FIRST_WORDS = 0.8
"""Seconds of a turn before words are shown that are not final."""
_FIRST_STATUS = 5.0
"""Seconds of a turn before a line tells what it does."""
_STATUS_PAUSE = 5.0
"""Seconds between two updates of that line while nothing new happens."""


class Presenter:
    """Shows one turn, within what its platform can do. Never waits, never raises."""

    def __init__(
        self,
        dispatcher: OutboxDispatcher,
        adapter: ChatAdapter,
        outgoing: NewOutboxMessage,
        *,
        opened: tuple[OutboxRow | None, OutboxRow | None] = (None, None),
        verbosity: Verbosity = "normal",
        is_hidden: bool = False,
    ) -> None:
        """`opened` are the live message and the status line that an earlier process opened.

        One that `is_hidden` takes note of a turn that nobody waits for, and shows nothing.
        """
        self._dispatcher = dispatcher
        self._adapter = adapter
        self._outgoing = outgoing
        self._verbosity = verbosity
        self._is_hidden = is_hidden
        self._live = LiveMessage(outgoing, opened[0])
        self._status = LiveMessage(_as_status(outgoing), opened[1]) if opened[1] else None
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._next_words = self._started + _FIRST_WORDS
        first = _FIRST_WORDS if verbosity == "verbose" else _FIRST_STATUS
        self._next_status = self._started + first
        self._paint_at: asyncio.TimerHandle | None = None
        self._status_at: asyncio.TimerHandle | None = None
        self._seen: tuple[str, str, str] | None = None
        """The message that may have the sign."""
        self._has_shown_eyes = False
        self._steps: dict[str, Step] = {}
        self._said = ""
        """What was said last before tools ran; it may be on show still."""
        self.text = ""
        """What has been said of the present answer so far."""
        self.tools: list[str] = []
        """Names of the tools that were called, in order."""
        self._sign_at: asyncio.TimerHandle | None = (
            None if is_hidden else self._loop.call_later(_FIRST_SIGN, self._give_sign)
        )

    def show(self, event: Event) -> None:
        """Take notice of an event."""
        if isinstance(event, TextGrew):
            self.text += event.delta
            self._plan_words()
        elif isinstance(event, TextReset):
            self._said, self.text = self.text or self._said, ""
        elif isinstance(event, ToolStarted):
            self.tools.append(event.name)
            self._note_step(event.call_id, event.name, "running")
        elif isinstance(event, ToolEnded):
            self._note_step(event.call_id, event.name, "failed" if event.is_error else "done")

    def assume_seen(self) -> None:
        """An earlier process may have shown the sign on the message: it is to be taken away."""
        if self._outgoing.answers is not None:
            self._seen = (self._outgoing.platform, self._outgoing.chat, self._outgoing.answers)

    def move(self, adapter: ChatAdapter, outgoing: NewOutboxMessage) -> None:
        """Show the turn elsewhere from now on; what it showed so far is another's business."""
        self._end_shown()
        self._unsee()
        self._adapter, self._outgoing = adapter, outgoing
        self._live, self._status = LiveMessage(outgoing), None
        if self.text.strip():
            self._plan_words()
        if self._steps:
            self._plan_status()
        if self._sign_at:
            self._sign_at.cancel()
            self._give_sign()

    def turn_page(self) -> str:
        """Say what comes in a message of its own from now on; gives the words before that."""
        self._live.is_over = True
        self._live = LiveMessage(self._outgoing)
        words, self._said = mend_text(self.text or self._said), ""
        return words

    def close(self) -> None:
        """Show nothing more; the final words go through the outbox."""
        self._end_shown()
        for timer in (self._paint_at, self._status_at, self._sign_at):
            if timer:
                timer.cancel()
        self._unsee()

    def _end_shown(self) -> None:
        self._live.is_over = True
        if self._status:
            self._status.is_over = True

    def _plan_words(self) -> None:
        if self._paint_at is None and not self._is_hidden:
            self._paint_at = self._loop.call_at(self._next_words, self._paint)

    def _paint(self) -> None:
        self._paint_at = None
        if self.text.strip() and isinstance(self._adapter, CanEdit):
            self._next_words = self._loop.time() + self._adapter.pace.edit_interval
            self._live.text = mend_text(self.text)
            self._dispatcher.show_live(self._live)

    def _note_step(self, call_id: str, name: str, state: StepState) -> None:
        self._steps[call_id] = Step(key=call_id, title=general.title_tool(name), state=state)
        self._plan_status()

    def _plan_status(self) -> None:
        is_open = self._verbosity != "quiet" and not self._is_hidden
        if is_open and isinstance(self._adapter, CanEdit):
            if self._status_at:
                self._status_at.cancel()
            self._status_at = self._loop.call_at(self._next_status, self._paint_status)

    def _paint_status(self) -> None:
        """Tell what the turn does: in a list of the platform's own, or in a silent line."""
        now = self._loop.time()
        steps = tuple(self._steps.values())
        if isinstance(self._adapter, CanShowSteps) and self._adapter.shows_steps:
            self._live.steps = steps
            self._dispatcher.show_live(self._live)
        else:
            seconds = round(now - self._started)
            is_whole = self._verbosity == "verbose"
            self._status = self._status or LiveMessage(_as_status(self._outgoing))
            self._status.text = general.describe_steps(steps, seconds, is_whole=is_whole)
            self._dispatcher.show_live(self._status)
        self._next_status = now + self._adapter.pace.edit_interval
        self._status_at = self._loop.call_later(_STATUS_PAUSE, self._paint_status)

    def _give_sign(self) -> None:
        outgoing, indicators = self._outgoing, self._dispatcher.indicators
        pause = 5.0
        if not self._has_shown_eyes and outgoing.answers is not None:
            message = (outgoing.platform, outgoing.chat, outgoing.answers)
            self._has_shown_eyes = indicators.see(*message)
            self._seen = message if self._has_shown_eyes else self._seen
        if isinstance(self._adapter, CanType):
            indicators.type(outgoing.platform, outgoing.chat)
            pause = max(1.0, self._adapter.typing_lasts - 1.0)
        self._sign_at = self._loop.call_later(pause, self._give_sign)

    def _unsee(self) -> None:
        if self._seen:
            self._dispatcher.indicators.unsee(*self._seen)
        self._seen, self._has_shown_eyes = None, False


def _as_status(outgoing: NewOutboxMessage) -> NewOutboxMessage:
    """The status line of a turn: nobody's phone rings for it."""
    return replace(outgoing, kind="status", is_silent=True)
