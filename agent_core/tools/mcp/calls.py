"""A running call to a server: its time limit, its progress, and its questions to the person."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from agent_core.transcript import flatten

_MOST_QUESTIONS = 10
_LOOK = 0.5
"""Seconds between two checks of a call that waits for a person."""
_NOTE = 100

Ask = Callable[[Form | PageLink, int], Awaitable[FormAnswer]]
"""Asks the person behind a call; the number counts the call's questions. Raises `StoreError`."""


async def _decline(question: Form | PageLink, number: int) -> FormAnswer:
    return FormAnswer(action="decline")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHooks:
    """Callbacks for a server that works on a call: report progress, and ask the person.

    The defaults decline every question, because they can't reach a person.
    """

    note: Callable[[str], None] = lambda text: None
    ask: Ask = _decline


class RunningCall:
    """A call that waits for its server. Its clock stops while a person answers a question."""

    def __init__(self, hooks: CallHooks, seconds: float) -> None:
        self._hooks = hooks
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._since = self._loop.time()
        self._waits = 0
        self._asked = 0

    async def ask(self, question: Form | PageLink) -> FormAnswer:
        """Ask the person, in the language and the context of the call."""
        if self._asked >= _MOST_QUESTIONS:
            return FormAnswer(action="decline")
        self._asked += 1
        self._stop_clock()
        try:
            asking = self._loop.create_task(
                _await(self._hooks.ask(question, self._asked)), context=self._context
            )
            try:
                return await asking
            finally:
                asking.cancel()
        finally:
            self._start_clock()

    def note(self, progress: float, total: float | None, message: str | None) -> None:
        """Show the server's progress."""
        count = f"{progress:g}/{total:g}" if total else f"{progress:g}"
        self._hooks.note(flatten(f"{count} {message or ''}", _NOTE))

    async def wait(self, *futures: asyncio.Future[Any]) -> None:
        """Wait until one of the futures is done, or the call's time is up."""
        while True:
            timeout = _LOOK if self._waits else self._count_left()
            done, _ = await asyncio.wait(
                futures, timeout=max(timeout, 0.0), return_when=asyncio.FIRST_COMPLETED
            )
            if done or not (self._waits or self._count_left() > 0):
                return

    def _count_left(self) -> float:
        return self._left - (self._loop.time() - self._since)

    def _stop_clock(self) -> None:
        if not self._waits:
            self._left = self._count_left()
        self._waits += 1

    def _start_clock(self) -> None:
        self._waits -= 1
        if not self._waits:
            self._since = self._loop.time()


async def _await(answer: Awaitable[FormAnswer]) -> FormAnswer:
    return await answer
