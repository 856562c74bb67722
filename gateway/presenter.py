"""What is shown while a turn runs: the typing sign, and one live message that grows."""

import asyncio

from adapters.abilities import CanEdit, CanType
from adapters.contract import ChatAdapter
from agent_core.events import Event, TextGrew, TextReset, ToolStarted
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.transcript import mend_text
from gateway.delivery import Delivery
from gateway.live import LiveText

_FIRST_SIGN = 0.15
"""Seconds before the typing sign: at once for a person, never for an instant answer."""
_FIRST_WORDS = 0.8
"""Seconds of a turn before words are shown that are not final."""


class Presenter:
    """Shows one turn, within what its platform can do. Never waits, never raises."""

    def __init__(
        self, delivery: Delivery, adapter: ChatAdapter, debt: Debt, opened: OutboxRow | None
    ) -> None:
        self._delivery = delivery
        self._adapter = adapter
        self._debt = debt
        self._live = LiveText(debt, opened)
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._next_words = self._started + _FIRST_WORDS
        self._paint_at: asyncio.TimerHandle | None = None
        self._type_at: asyncio.TimerHandle | None = None
        self.text = ""
        """What has been said of the present answer so far."""
        self.tools: list[str] = []
        """Names of the tools that were called, in order."""
        if isinstance(adapter, CanType):
            self._type_at = self._loop.call_later(_FIRST_SIGN, self._type)

    def show(self, event: Event) -> None:
        """Take notice of an event."""
        if isinstance(event, TextGrew):
            self.text += event.delta
            if self._paint_at is None and isinstance(self._adapter, CanEdit):
                self._paint_at = self._loop.call_at(self._next_words, self._paint)
        elif isinstance(event, TextReset):
            self.text = ""
        elif isinstance(event, ToolStarted):
            self.tools.append(event.name)

    def close(self) -> None:
        """Show nothing more; the final words go through the outbox."""
        self._live.is_over = True
        for timer in (self._paint_at, self._type_at):
            if timer:
                timer.cancel()

    def _paint(self) -> None:
        self._paint_at = None
        if self.text.strip() and isinstance(self._adapter, CanEdit):
            self._next_words = self._loop.time() + self._adapter.pace.edit_interval
            self._live.text = mend_text(self.text)
            self._delivery.paint(self._live)

    def _type(self) -> None:
        if isinstance(self._adapter, CanType):
            self._delivery.type(self._debt.platform, self._debt.chat)
            pause = max(1.0, self._adapter.typing_lasts - 1.0)
            self._type_at = self._loop.call_later(pause, self._type)
