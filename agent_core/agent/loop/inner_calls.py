"""Tool calls from the code of another call. The journal records each as its own step."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from agent_core.agent.loop.contract import Journal
from agent_core.agent.loop.messages import UNKNOWN_OUTCOME
from agent_core.agent.turn import Turn
from agent_core.ids import CallId
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.selection.renamed_calls import renew
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart, UntrustedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerCalls:
    """Runs the calls that the code of one call makes; `context` belongs to the outer call."""

    toolbox: Toolbox
    journal: Journal
    context: ToolContext
    pause: Callable[[], AbstractContextManager[None]]
    """Stops the turn's clock while a person thinks."""
    now: Callable[[], int]

    async def run(self, call: ToolCallPart, sources: tuple[UntrustedSource, ...]) -> ToolResult:
        """Run a call. Its intent is recorded before it runs, its result after. See `CallTool`."""
        call = renew(call)
        begin = partial(self.journal.record_begin, call)
        if not self.toolbox.begins_late(call.name):
            await begin(None)
        context = replace(
            self.context,
            call_id=call.call_id,
            is_from_code=True,
            now=self.now(),
            sources=tuple(dict.fromkeys((*self.context.sources, *sources))),
        )
        result = await self.toolbox.run(call, context, begin, self._wait_for_person)
        result = replace(result, images=())  # code reads text only
        await self.journal.record_result(call, result)
        return result

    @asynccontextmanager
    async def _wait_for_person(self) -> AsyncGenerator[None, None]:
        with self.pause():
            yield


def make_unknown(call_id: CallId, turn: Turn) -> ToolResult:
    """Say that the outcome of an interrupted call is unknown.

    Also say how many of its code's calls had ended or only begun.
    """
    ended, begun = (
        sum(one.startswith(f"{call_id}.") for one in calls)
        for calls in (turn.results, turn.started)
    )
    text = UNKNOWN_OUTCOME
    if ended or begun:
        text += (
            f" Of the calls that its code made, {ended} had ended, and it is not known whether"
            f" {begun} more happened."
        )
    return ToolResult(text=text, is_error=True)
