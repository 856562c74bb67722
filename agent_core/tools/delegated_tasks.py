"""The contract of helpers, which work on parts of a turn's task."""

from dataclasses import dataclass
from typing import Protocol

from agent_core.ids import CallId
from agent_core.transcript import Receipt, UntrustedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperTask:
    """A task for one helper. `schema` is the JSON Schema of its answer; "" for free text.

    `agent` is the named agent that works on it, "" for a helper without a name. It ends after
    `seconds`, if that is not 0. It has at most `steps` calls of a model, 0 for the usual number.
    """

    goal: str
    context: str = ""
    schema: str = ""
    agent: str = ""
    seconds: float = 0.0
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperReport:
    """The result of a helper. `text` is its answer, or the reason why it has none.

    `receipts` are what its calls have changed. `limit` is the one that ended it, such as `steps`.
    """

    text: str
    is_error: bool = False
    sources: tuple[UntrustedSource, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    limit: str = ""


class Helpers(Protocol):
    """Runs a turn's helpers."""

    async def run(self, call_id: CallId, number: int, task: HelperTask) -> HelperReport:
        """Run one helper until it ends; a repeated call continues it, or returns its result.

        Raises `StoreError`, and `QuestionPending` if the process stops meanwhile. Cancelling stops
        the helper.
        """

    async def find_objection(self, agent: str) -> str:
        """Return why the turn may not write to a named agent; "" if it may. Raises `StoreError`."""

    async def tell(self, call_id: CallId, agent: str) -> None:
        """Store a call's message for a named agent; a repeated call stores nothing.

        Raises `StoreError`, and `ToolArgumentError` if the turn may not write to the agent.
        """

    async def start(self, call_id: CallId, number: int) -> str:
        """Start a helper on a call's task in the background; return the task's id.

        When the helper ends, a turn starts in the conversation. A repeated call starts nothing.
        Raises `StoreError`, and `ToolArgumentError` if the turn may not start helpers.
        """

    def as_team(self, steps: int, micro_dollars: int) -> "Helpers":
        """Return these helpers with a common limit of model calls and money; see `Budget`."""

    def find_limit(self) -> str:
        """Return the limit that the helpers have reached together: `steps`, `money`, … or ""."""

    def show_progress(self, call_id: CallId, done: int, total: int) -> None:
        """Show in the chat how many of a call's helpers have finished."""
