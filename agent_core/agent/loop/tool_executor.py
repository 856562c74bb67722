"""Runs the tool calls of one answer side by side."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any

from agent_core.events import ToolEnded, ToolStarted
from agent_core.ids import CallId
from agent_core.tools.contract import ToolResult
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import ToolCallPart

Perform = Callable[[ToolCallPart], Coroutine[Any, Any, ToolResult]]

_log = logging.getLogger(__name__)


async def run_tools(
    calls: Sequence[ToolCallPart], perform: Perform, results: dict[CallId, ToolResult]
) -> AsyncGenerator[ToolStarted | ToolEnded, None]:
    """Run calls at once, put what they give into `results`, and tell when each began and ended.

    Closing or cancelling it cancels every call that still runs and waits for it. What
    `perform` raises ends the others and is raised; but `QuestionPending` is raised once the others
    are done, so that nothing is cut off.

    No TaskGroup: it may not be held open over a `yield`.
    """
    left_open: QuestionPending | None = None
    for call in calls:
        yield ToolStarted(call_id=call.call_id, name=call.name)
    unread = {asyncio.create_task(perform(call), name=f"tool {call.name}"): call for call in calls}
    try:
        while unread:
            done, _ = await asyncio.wait(unread, return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in unread if task in done]:
                call = unread.pop(task)
                try:
                    result = results[call.call_id] = task.result()
                except QuestionPending as error:
                    left_open = error
                    continue
                yield ToolEnded(call_id=call.call_id, name=call.name, is_error=result.is_error)
    finally:
        if unread:
            await _end(unread)
    if left_open:
        raise left_open


async def _end(unread: dict[asyncio.Task[ToolResult], ToolCallPart]) -> None:
    for task in unread:
        task.cancel()
    for outcome in await asyncio.gather(*unread, return_exceptions=True):
        if isinstance(outcome, Exception):
            _log.error("a tool failed while its turn was being ended", exc_info=outcome)
