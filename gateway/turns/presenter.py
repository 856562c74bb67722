"""Show a running turn: indicators, a live message that grows, and a status line."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from adapters.abilities import CanEdit, CanShowSteps, CanType
from adapters.contract import ChatAdapter
from adapters.messages import Step, StepState
from agent_core.chats import Chat
from agent_core.events import Event, TextGrew, TextReset, ToolEnded, ToolStarted
from agent_core.ids import TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Verbosity
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import repair_text
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.live_message import LiveMessage
from gateway.texts import models as model_texts
from gateway.texts import turns as steps
from gateway.texts.tools import describe_step
from gateway.turns.answer_text import SentTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWords:
    """The messages of a turn that an earlier process opened."""

    live: OutboxRow | None = None
    status: OutboxRow | None = None
    sent: tuple[str, ...] = ()
    """Texts of the finished ones, oldest first."""


def find_shown(connection: Connection, turn_id: TurnId) -> ShownWords:
    """Find the messages that a turn has opened so far."""
    live, status = outbox.find_visible(connection, turn_id=turn_id)
    sent = turns.list_bodies(connection, turn_id=turn_id)
    return ShownWords(live=live, status=status, sent=tuple(sent))


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEnding:
    """The end of a turn's live message, as a transaction has written it."""

    rows: Sequence[OutboxRow] = ()
    """The messages to deliver."""
    texts: Sequence[str] = ()
    """What stays of the text, a message each."""
    is_over: bool = False
    """True if later text goes into a new message."""


_SENTENCE_END = re.compile(r"""[.!?:…]["'”’»)\]*_`]*(?=\s|$)|[。！？]|\n""")


@dataclass(frozen=True, slots=True, kw_only=True)
class PresenterTimings:
    """Delays of what a turn shows, in seconds since its start."""

    first_indicator: float = 0.15
    """Until the first indicator: soon enough for a person, but never for an instant answer."""
    first_words: float = 0.8
    """Until text that is not final is shown."""
    first_length: int = 80
    """Fewest characters of a text that is not final; 0 shows a part of a sentence, too."""
    first_status: float = 5.0
    first_outage: float = 20.0
    """Until an outage is shown, counted from when the model stopped answering."""
    status_interval: float = 5.0
    """Pause between two updates of the status line while nothing new happens."""


def choose_sign_pause(lasts: float) -> float:
    """Return the seconds until the typing sign is shown again: before it fades after `lasts`."""
    return max(1.0, lasts - 1.0)


def is_worth_showing(text: str, least: int) -> bool:
    """Return whether a growing text has `least` characters, and a whole sentence or line."""
    is_long = len(text) >= max(least, 1)
    return is_long and (not least or _SENTENCE_END.search(text) is not None)


_NOTHING_SHOWN = ShownWords()


class Presenter:
    """Shows one turn, within the abilities of its platform. Never waits, never raises."""

    def __init__(
        self,
        dispatcher: OutboxDispatcher,
        adapter: ChatAdapter,
        outgoing: NewOutboxMessage,
        *,
        shown: ShownWords = _NOTHING_SHOWN,
        verbosity: Verbosity | Literal["hidden"] = "normal",
        timings: PresenterTimings,
    ) -> None:
        """The verbosity `hidden` shows nothing."""
        self._dispatcher = dispatcher
        self._adapter = adapter
        self._outgoing = outgoing
        self._verbosity = verbosity
        self._timings = timings
        self._live = LiveMessage(outgoing, shown.live) if shown.live else None
        self._status = LiveMessage(_as_status(outgoing), shown.status) if shown.status else None
        self._sent = SentTexts(shown.sent)
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._next_words = self._started + timings.first_words
        first = timings.first_words if verbosity == "verbose" else timings.first_status
        self._next_status = self._started + first
        self._words_timer: asyncio.TimerHandle | None = None
        self._status_timer: asyncio.TimerHandle | None = None
        self._indicator_timer: asyncio.TimerHandle | None = None
        self._outage_timer: asyncio.TimerHandle | None = None
        self._outage = ""
        """The note on an outage of the model, while it lasts."""
        self._unmarked: list[str] = [outgoing.answers] if outgoing.answers is not None else []
        """Messages that the turn reads and that do not carry the seen mark yet."""
        self._marked: list[tuple[Chat, str]] = []
        """Messages that may carry the seen mark."""
        self._holds = 0
        """Number of questions that wait for the person. Meanwhile, nothing may suggest that they
        have to wait for the bot.
        """
        self._is_closed = False
        self.is_steered = False
        """True if the turn has read a further message, whose answer has to be a new message."""
        self._steps: dict[str, Step] = {}
        self._plan = ""
        """The step of the plan at hand, as the status line begins with it."""
        self.text = ""
        """The text of the present answer so far; between two model calls, all of it is recorded."""
        self.tools: list[str] = []
        """Names of the tools that were called, in order."""
        if verbosity != "hidden":
            self._indicator_timer = self._loop.call_later(
                timings.first_indicator, self._show_indicators
            )

    def show(self, event: Event) -> None:
        """Show an event of the turn."""
        if isinstance(event, TextGrew | ToolStarted):
            self._end_outage()
        if isinstance(event, TextGrew):
            self.text += event.delta
            self._plan_words()
        elif isinstance(event, TextReset):
            self.text = ""
            self._sent.begin_again()
        elif isinstance(event, ToolStarted):
            self.tools.append(event.name)
            self._note_step(event.call_id, event.name, "running")
        elif isinstance(event, ToolEnded):
            self._note_step(event.call_id, event.name, "failed" if event.is_error else "done")

    def show_helpers(self, call_id: str, done: int, total: int) -> None:
        """Show how many helpers of a running call are done."""
        self._retitle(call_id, steps.HELPERS(done=done, total=total))

    def show_progress(self, call_id: str, note: str) -> None:
        """Show a note on a running call, in the words of others."""
        self._retitle(call_id, steps.describe_progress(self._dispatcher.mask.hide(note)))

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Show the step of the conversation's plan at hand; see `Host.show_plan`."""
        self._plan = steps.describe_plan(number, total, self._dispatcher.mask.hide(title))
        if self._plan or self._steps:
            self._plan_status()

    def show_outage(self, note: str, lasted: float) -> None:
        """Show a note with a Stop button once the model has not answered for a while.

        `lasted` is how long it has not answered, in seconds.
        """
        if self._verbosity == "hidden" or note == self._outage:
            return
        self._end_outage()
        self._outage = note
        delay = max(self._timings.first_outage - lasted, 0.0)
        self._outage_timer = self._loop.call_later(delay, self._show_outage)

    def assume_seen(self, chat: Chat, message_id: str) -> None:
        """Remove the seen mark of a message that an earlier process may have marked.

        The end of the turn does so, as with its own marks.
        """
        self._marked.append((chat, message_id))

    def is_on(self, platform: str) -> bool:
        """Return whether the turn is shown on a platform."""
        return platform == self._outgoing.chat.platform

    def mark_steer(self, message_id: str) -> None:
        """Mark a further message as seen: it goes into this turn."""
        if message_id and self._verbosity != "hidden":
            self._unmarked.append(message_id)
            self._mark_seen()

    def hold(self) -> None:
        """Show no work while the turn waits for the person's answer."""
        self._holds += 1
        if self._indicator_timer:
            self._indicator_timer.cancel()
        self._remove_marks()
        self._status = None  # the transaction that wrote the question has removed the status line

    def resume(self) -> None:
        """Show the turn again after an answer."""
        self._holds -= 1
        if not (self._holds or self._is_closed or self._verbosity == "hidden"):
            self._show_indicators()

    def move(self, adapter: ChatAdapter, outgoing: NewOutboxMessage) -> None:
        """Show the turn in another chat; the caller ends the messages in the old one."""
        self._end_shown()
        self._remove_marks()
        self._unmarked = [outgoing.answers] if outgoing.answers is not None else []
        self._adapter, self._outgoing = adapter, outgoing
        self._live = self._status = None
        if self.text.strip():
            self._plan_words()
        if self._steps or self._plan:
            self._plan_status()
        if self._outage and self._outage_timer is None:
            self._show_outage()
        if self._indicator_timer:
            self._indicator_timer.cancel()
            self._show_indicators()

    def end_live_message(self) -> tuple[str, bool]:
        """Show no more text in the current live message; return what of it is recorded.

        That is "" without a message, and for a call that broke off: its next try may say something
        else. Also return whether it is only a draft, which disappears. Called between two model
        calls; `continue_below` follows.
        """
        live, self.is_steered = self._live, False
        if live is None:
            return "", False
        live.was_over, live.is_over = live.is_over, True
        shown = repair_text(self.text).strip()
        return self._sent.leave_out(self._dispatcher.mask.hide(shown)), live.is_draft

    def continue_below(self, ending: LiveEnding) -> None:
        """Put later text into a new message, below those that stay.

        Unless the current live message is over, the text so far stays in it.
        """
        live = self._live
        for text in ending.texts:
            self._sent.add(text, is_behind=True)
        if ending.texts:
            self.text = ""
        if ending.rows:
            self._status = None
        if ending.is_over:
            self._live = None
        elif live:
            live.is_over = live.was_over
            if live.is_over and live.row is None:  # its first sending was refused
                self._live = None

    def has_shown(self) -> bool:
        """Return whether a live message or a draft of the answer is on show."""
        return self._live is not None

    def close(self) -> None:
        """Show nothing more; the final text goes through the outbox."""
        self._is_closed = True
        self._end_shown()
        timers = (self._words_timer, self._status_timer, self._indicator_timer, self._outage_timer)
        for timer in timers:
            if timer:
                timer.cancel()
        self._remove_marks()

    def _end_shown(self) -> None:
        for message in (self._live, self._status):
            if message:
                message.is_over = True

    def _grows(self) -> bool:
        """Return whether what the turn shows may change there."""
        return isinstance(self._adapter, CanEdit) and self._adapter.pace.grows

    def _plan_words(self) -> None:
        if self._words_timer is None and self._verbosity != "hidden":
            self._words_timer = self._loop.call_at(self._next_words, self._show_words)

    def _show_words(self) -> None:
        self._words_timer = None
        if not self._grows():
            return
        grown = self._dispatcher.mask.hide_growing(repair_text(self.text)).strip()
        text = self._sent.leave_out(grown)
        if is_worth_showing(text, 0 if self._live else self._timings.first_length):
            self._next_words = self._loop.time() + self._adapter.pace.edit_interval
            self._live = self._live or LiveMessage(self._outgoing)
            self._live.text = text
            self._dispatcher.show_live(self._live)

    def _note_step(self, call_id: str, name: str, state: StepState) -> None:
        self._steps[call_id] = Step(key=call_id, title=describe_step(name), state=state)
        self._plan_status()

    def _retitle(self, call_id: str, title: str) -> None:
        step = self._steps.get(call_id)
        if step and step.state == "running":
            self._steps[call_id] = replace(step, title=title)
            self._plan_status()

    def _plan_status(self) -> None:
        is_wanted = self._verbosity not in ("quiet", "hidden")
        if is_wanted and self._grows():
            if self._status_timer:
                self._status_timer.cancel()
            self._status_timer = self._loop.call_at(self._next_status, self._show_status)

    def _show_outage(self) -> None:
        self._outage_timer = None
        if self._grows():
            self._status = self._status or LiveMessage(_as_status(self._outgoing))
            self._status.text = self._outage
            self._status.buttons = (stand_for("stop", model_texts.STOP()),)
            self._dispatcher.show_live(self._status)

    def _end_outage(self) -> None:
        """Show the steps again; without any, the note is removed at the end of the turn."""
        self._outage = ""
        if self._outage_timer:
            self._outage_timer.cancel()
        self._outage_timer = None
        if self._status:
            self._status.buttons = ()

    def _show_status(self) -> None:
        """Show the steps in the platform's own list, or in a silent status line."""
        if self._outage:
            return  # the steps stand still, and the note says why
        now = self._loop.time()
        shown = tuple(self._steps.values())
        if self._holds:
            return
        if isinstance(self._adapter, CanShowSteps) and self._adapter.shows_steps:
            self._live = self._live or LiveMessage(self._outgoing)
            plan = Step(key="plan", title=self._plan, state="running")
            self._live.steps = (plan, *shown) if self._plan else shown
            self._dispatcher.show_live(self._live)
        else:
            seconds = round(now - self._started)
            is_whole = self._verbosity == "verbose"
            self._status = self._status or LiveMessage(_as_status(self._outgoing))
            text = steps.describe_steps(shown, seconds, is_whole=is_whole)
            self._status.text = "\n".join(filter(None, (self._plan, text)))
            self._dispatcher.show_live(self._status)
        self._next_status = now + self._adapter.pace.edit_interval
        interval = self._timings.status_interval
        self._status_timer = self._loop.call_later(interval, self._show_status)

    def _show_indicators(self) -> None:
        if self._holds:
            return
        chat = self._outgoing.chat
        pause = 5.0
        self._mark_seen()
        if isinstance(self._adapter, CanType):
            self._dispatcher.indicators.type(chat)
            pause = choose_sign_pause(self._adapter.typing_lasts)
        self._indicator_timer = self._loop.call_later(pause, self._show_indicators)

    def _mark_seen(self) -> None:
        """Mark what the turn reads; what can't be marked now is tried again later."""
        if self._holds:
            return
        chat = self._outgoing.chat
        left = []
        for message_id in self._unmarked:
            if self._dispatcher.indicators.mark_seen(chat, message_id):
                self._marked.append((chat, message_id))
            else:
                left.append(message_id)
        self._unmarked = left

    def _remove_marks(self) -> None:
        """Remove the marks; those in the present chat return when the turn is shown again."""
        here = self._outgoing.chat
        marked, self._marked = dict.fromkeys(self._marked), []
        for chat, message_id in marked:
            self._dispatcher.indicators.unmark(chat, message_id)
            if chat == here:
                self._unmarked.append(message_id)


@contextmanager
def held(presenter: Presenter | None) -> Iterator[None]:
    """Show no work of a turn during the block, while a person has to answer."""
    if presenter:
        presenter.hold()
    try:
        yield
    finally:
        if presenter:
            presenter.resume()


def _as_status(outgoing: NewOutboxMessage) -> NewOutboxMessage:
    return replace(outgoing, kind="status", is_silent=True)
