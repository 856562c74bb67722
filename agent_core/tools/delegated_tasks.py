"""The contract of helpers, which work on parts of a turn's task."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.ids import CallId
from agent_core.transcript import UntrustedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperTask:
    """A task for one helper. `schema` is the JSON Schema of its answer; "" for free text.

    `agent` is the named agent that works on it, "" for a helper without a name. It ends after
    `seconds`, if that is not 0.
    """

    goal: str
    context: str = ""
    schema: str = ""
    agent: str = ""
    seconds: float = 0.0


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

    async def find_objection(self, agent: str) -> str:
        """Return why the turn may not write to a named agent; "" if it may. Raises `StoreError`."""

    async def tell(self, call_id: CallId, agent: str) -> None:
        """Leave the message of a call for a named agent; a repeated call leaves nothing.

        Raises `ToolArgumentError` if the turn may not, and `StoreError`.
        """

    async def start(self, call_id: CallId, number: int) -> str:
        """Let a helper work on a task of a call in the background; return the task's id.

        Its end starts a turn in the conversation. A repeated call starts nothing. Raises
        `ToolArgumentError` if the turn may not, and `StoreError`.
        """

    def show_progress(self, call_id: CallId, done: int, total: int) -> None:
        """Show in the chat how many helpers of a call are done."""
