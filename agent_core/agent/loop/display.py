"""Show the text of a turn: its answers so far, then the answer that is streaming."""

from collections.abc import Sequence

from agent_core.events import Emit, TextGrew, TextReset


class Display:
    """The text that a watcher of the turn sees."""

    def __init__(self, answers: Sequence[str], emit: Emit) -> None:
        """`answers` are those of an earlier process; this process has not shown them yet."""
        self._emit = emit
        self._kept = "".join(f"{answer}\n\n" for answer in answers)
        self._prefix = self._kept
        """Text to show before the next delta."""
        self._is_stale = False
        """Whether the shown text must be reset before the next delta."""
        self._is_empty = True
        self._has_text = False
        """Whether the current call has shown text."""

    async def append(self, delta: str) -> None:
        """Show more text of the current call."""
        if not delta:
            return
        is_stale, prefix = self._is_stale, self._prefix
        self._is_stale, self._prefix = False, ""
        self._has_text, self._is_empty = True, False
        if is_stale:
            await self._emit(TextReset())
        if prefix:
            await self._emit(TextGrew(delta=prefix))
        await self._emit(TextGrew(delta=delta))

    async def discard(self) -> None:
        """Remove the text of the current call from the display at once."""
        if self._has_text:
            self._has_text, self._is_empty, self._prefix = False, True, self._kept
            await self._emit(TextReset())

    async def recall(self, words: str) -> None:
        """Show the words before the calls that an earlier process recorded."""
        await self.append(words)
        self.mark_interim()

    def mark_interim(self) -> None:
        """Keep the text of the current call on display until the next text replaces it."""
        if self._has_text:
            self._has_text, self._is_stale, self._prefix = False, True, self._kept

    def keep(self, answer: str) -> None:
        """Keep the text of the current call: it is an answer, but the turn goes on."""
        self._kept += f"{answer}\n\n"
        if self._has_text:
            self._prefix = "\n\n"
        else:  # the whole answer came at the end of its stream, without a delta
            self._prefix, self._is_stale = self._kept, not self._is_empty
        self._has_text = False
