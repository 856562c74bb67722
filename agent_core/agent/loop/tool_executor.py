"""Run the tool calls of one answer concurrently."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from agent_core.events import Emit, ToolEnded, ToolStarted
from agent_core.ids import CallId
from agent_core.tools.contract import ToolResult
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import ToolCallPart

RunOne = Callable[[ToolCallPart], Coroutine[Any, Any, ToolResult]]

_log = logging.getLogger(__name__)


async def run_tools(
    calls: Sequence[ToolCallPart], run_one: RunOne, emit: Emit
) -> dict[CallId, ToolResult]:
    """Run calls concurrently and return their results; `emit` gets their start and end.

    Cancellation, or an exception of `run_one` or `emit`, cancels the calls that still run, waits
    for them and is raised. `QuestionPending` is raised only after the other calls are done.
    """
    # No TaskGroup: it would report each end in a task of its own, and wrap what a call raises.
    results: dict[CallId, ToolResult] = {}
    pending_question: QuestionPending | None = None
    for call in calls:
        await emit(ToolStarted(call_id=call.call_id, name=call.name))
    running = {asyncio.create_task(run_one(call), name=f"tool {call.name}"): call for call in calls}
    try:
        while running:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in running if task in done]:
                call = running.pop(task)
                try:
                    result = results[call.call_id] = task.result()
                except QuestionPending as error:
                    pending_question = error
                    continue
                ended = ToolEnded(call_id=call.call_id, name=call.name, is_error=result.is_error)
                await emit(ended)
    finally:
        if running:
            await _cancel(running)
    if pending_question:
        raise pending_question
    return results


async def _cancel(running: dict[asyncio.Task[ToolResult], ToolCallPart]) -> None:
    for task in running:
        task.cancel()
    for outcome in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(outcome, Exception):
            _log.error("a tool failed while its turn was ending", exc_info=outcome)
