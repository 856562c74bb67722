"""Show the text of a turn: its answers so far, then the answer that is streaming."""

from collections.abc import Callable, Sequence
from functools import partial

from agent_core.agent.claims.gate import Gate
from agent_core.events import Emit, TextGrew, TextReset

_GAP = "\n\n"
"""Separates the answers of a turn."""


class Display:
    """The text that a watcher of the turn sees."""

    def __init__(self, answers: Sequence[str], emit: Emit) -> None:
        """`answers` are those of an earlier process; this process has not shown them yet."""
        self._emit = emit
        self._make_gate: Callable[[], Gate] = partial(Gate, None)
        self._gate: Gate | None = None
        """The gate of the current call; None before its first text."""
        self._kept = "".join(f"{answer}{_GAP}" for answer in answers)
        self._prefix = self._kept
        """Text to show before the next delta."""
        self._is_stale = False
        """Whether the shown text must be reset before the next delta."""
        self._is_empty = True
        self._text = ""
        """The text of the current call that is on show."""

    def guard(self, make_gate: Callable[[], Gate]) -> None:
        """Let a new gate hold back what may be a false claim, in each stream from now on."""
        self._make_gate = make_gate

    async def append(self, delta: str) -> None:
        """Take more text of the current call, and show what may be shown already."""
        self._gate = self._gate or self._make_gate()
        await self._show(self._gate.grow(delta))

    async def release(self) -> None:
        """Show what was held back, because it stands."""
        if self._gate:
            await self._show(self._gate.release())

    async def _show(self, delta: str) -> None:
        if not delta:
            return
        is_stale, prefix = self._is_stale, self._prefix
        self._is_stale, self._prefix, self._is_empty = False, "", False
        self._text += delta
        if is_stale:
            await self._emit(TextReset())
        if prefix:
            await self._emit(TextGrew(delta=prefix))
        await self._emit(TextGrew(delta=delta))

    async def discard(self) -> None:
        """Remove the text of the current call from the display at once."""
        self._gate = None
        if self._text:
            self._text, self._is_empty, self._prefix = "", True, self._kept
            await self._emit(TextReset())

    async def recall(self, words: str) -> None:
        """Show the words before the calls that an earlier process recorded."""
        await self._show(words)
        self.mark_interim()

    def mark_interim(self) -> None:
        """Keep the text of the current call on display until the next text replaces it."""
        self._gate = None
        if self._text:
            self._text, self._is_stale, self._prefix = "", True, self._kept

    async def cut(self, answer: str) -> None:
        """Keep only the beginning of the current call's text, as `keep` does."""
        more = self._text.removeprefix(answer) if self._text.startswith(answer) else ""
        if not _GAP.startswith(more) or not (more or answer.startswith(self._text)):
            await self.discard()
            more = ""
        if not more:
            await self._show(answer.removeprefix(self._text))
        self.keep(answer)
        self._prefix = self._prefix.removeprefix(more)

    def keep(self, answer: str) -> None:
        """Keep the text of the current call: it is an answer, but the turn goes on."""
        self._gate = None
        self._kept += f"{answer}{_GAP}"
        if self._text:
            self._prefix = _GAP
        else:  # the whole answer came at the end of its stream, without a delta
            self._prefix, self._is_stale = self._kept, not self._is_empty
        self._text = ""
