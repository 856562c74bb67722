"""The contract of helpers, which work on parts of a turn's task."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.ids import CallId
from agent_core.transcript import UntrustedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperTask:
    """A task for one helper. `schema` is the JSON Schema of its answer; "" for free text."""

    goal: str
    context: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperReport:
    """The end of a helper's work. `text` is its answer, or the reason why there is none."""

    text: str
    is_error: bool = False
    sources: tuple[UntrustedSource, ...] = ()


class Helpers(Protocol):
    """Runs helpers for one turn."""

    async def run(self, call_id: CallId, number: int, task: HelperTask) -> HelperReport:
        """Run one helper to its end; a repeated call continues it, or returns what it found.

        Raises `StoreError`, and `QuestionPending` if the process stops meanwhile. Cancelling stops
        the helper.
        """

    def show_progress(self, call_id: CallId, done: int, total: int) -> None:
        """Show in the chat how many helpers of a call are done."""
