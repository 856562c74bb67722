"""The `process` tool: manages commands that run in the background."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress

from agent_core.errors import ToolArgumentError, WorkspaceError
from agent_core.ids import ProcessId
from agent_core.state.jobs.processes import ProcessRow
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.policy.command_effects import list_input_actions
from agent_core.tools.policy.contract import Action
from agent_core.tools.schemas import make_schema
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.tools.workspace.background import KILLED, BackgroundCommands, name_log
from agent_core.tools.workspace.output import OUT_OF_TIME, show_output
from agent_core.tools.workspace.workspaces import (
    MOST_BYTES,
    Workspaces,
    find_slug,
    read_text,
)
from agent_core.transcript import ToolSpec, make_source

_ACTIONS = ("list", "read", "write", "wait", "kill")
_READ_SECONDS, _WAIT_SECONDS = 1, 60
_WRITE_SECONDS = 5.0
_LONGEST_INPUT = 50_000
"""Bytes of input; a pipe holds 65,536."""
_REASONS = {
    "time": "was stopped because it took longer than allowed",
    "memory": "was stopped because it took too much memory",
    "processes": "was stopped because it had too many processes",
    "cpu": "was stopped because it took too much processor time",
    "disk": "was stopped because the workspace or the disk is full",
    "backend": "was lost, because the place where it ran no longer exists",
    KILLED: "was killed",
}
_END_SECONDS = 30.0
"""Seconds that a call may take in addition to the wait that it asks for."""


def name_process(process_id: ProcessId) -> str:
    """Return the id of a command as the model writes it."""
    return f"p{process_id}"


def describe_process(row: ProcessRow, now: int) -> str:
    """Describe a command's outcome in a sentence."""
    name = name_process(row.id)
    seconds = ((row.ended_at or now) - row.started_at) // 1000
    if row.state == "running":
        return f"{name} has run for {seconds:,} s."
    if row.state == "lost":
        return f"{name} was lost when Talaria restarted; it no longer runs."
    reason = "cpu" if row.status == OUT_OF_TIME else row.reason
    if reason:
        return f"{name} {_REASONS.get(reason, reason)}, after {seconds:,} s."
    return f"{name} ended with exit status {row.status}, after {seconds:,} s."


class ProcessTool:
    """The `process` tool."""

    effect: Effect = "unsafe"

    def __init__(
        self,
        workspaces: Workspaces,
        background: BackgroundCommands,
        cleaner: TextCleaner,
        *,
        most_seconds: int,
    ) -> None:
        """`most_seconds` is the longest time that one call may wait."""
        self._workspaces = workspaces
        self._background = background
        self._cleaner = cleaner
        self._most_seconds = most_seconds
        self.declaration = Declaration(time_limit=most_seconds + _END_SECONDS)
        self.spec = ToolSpec(
            name="process",
            description=(
                "Look after commands that `terminal` started with `background`: list them, read"
                " new output, write to their input, wait for their end, or kill them. Example:"
                ' {"action": "read", "id": "p7"}'
            ),
            schema=make_schema(
                ("action",),
                action={"type": "string", "enum": _ACTIONS},
                id={"type": "string", "description": "for instance p7"},
                text={
                    "type": "string",
                    "description": "input to write, with its line break; empty closes the input",
                },
                timeout={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": most_seconds,
                    "description": f"seconds to wait for output ({_READ_SECONDS}) or the end"
                    f" ({min(_WAIT_SECONDS, most_seconds)})",
                },
            ),
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return the actions of a command's input; the command itself was judged at its start."""
        if read_text(arguments, "action") != "write":
            return ()
        backend = self._workspaces.backend
        return list_input_actions(
            read_text(arguments, "text"),
            has_network=backend.has_network(find_slug(context)),
            is_confined=backend.is_confined,
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Perform one action; cancellation leaves the command running.

        Raises `ToolArgumentError`, `WorkspaceError` and `BackendUnavailable`.
        """
        find_slug(context)  # a group has no commands
        action = read_text(arguments, "action")
        if action == "list":
            return ToolResult(text=await self._list(context))
        row = await self._find(read_text(arguments, "id"), context)
        if action == "write":
            return await self._write(row, arguments)
        log = self._background.find_log(row.id)
        if log is None and action == "kill":
            return ToolResult(text=f"{describe_process(row, context.now)} Nothing was killed.")
        given = arguments.get("timeout")
        if action == "kill":
            await self._background.kill(row.id)
        elif log:
            default = _READ_SECONDS if action == "read" else min(_WAIT_SECONDS, self._most_seconds)
            ready = log.wait_for_output() if action == "read" else log.over.wait()
            await _wait_at_most(ready, given if isinstance(given, int) else default)
        path = name_log(row.id)
        if log:
            output, missing = log.take()
        else:
            output, missing = await self._read_file(row, path), 0
        fresh = await self._find(name_process(row.id), context)

        async def keep(_: bytes) -> str:
            return f"all that is kept is in {path}: read on with `read_file`"

        shown = await show_output(self._cleaner, output, keep)
        return ToolResult(
            text="\n".join(
                (
                    *([f"[{missing:,} bytes of output are lost.]"] if missing else []),
                    shown or "[No new output.]",
                    f"[{describe_process(fresh, context.now)}]",
                )
            ),
            sources=(make_source("command", name_process(row.id)),),
        )

    async def _read_file(self, row: ProcessRow, path: str) -> bytes:
        """Return the output of an ended command."""
        try:
            found = await self._workspaces.backend.read_file(row.workspace, path, MOST_BYTES)
        except WorkspaceError:  # the person may have deleted it
            return b""
        return found.data

    async def _find(self, name: str, context: ToolContext) -> ProcessRow:
        number = name.removeprefix("p")
        row = None
        if number.isascii() and number.isdecimal() and len(number) < 18:
            process_id = ProcessId(int(number))
            row = await self._background.find(process_id, context.person_id)
        if row is None:
            wrong = f"there is no command `{name[:20]}`; `list` shows them"
            raise ToolArgumentError(wrong if name else "`id` is missing")
        return row

    async def _write(self, row: ProcessRow, arguments: Mapping[str, object]) -> ToolResult:
        data = read_text(arguments, "text").encode(errors="replace")
        if len(data) > _LONGEST_INPUT:
            raise ToolArgumentError("`text` is too long; write a file, and let the command read it")
        try:
            async with asyncio.timeout(_WRITE_SECONDS):
                await self._background.write(row.id, data)
        except TimeoutError as error:
            raise WorkspaceError("the command does not read its input now") from error
        name = name_process(row.id)
        return ToolResult(text=f"Sent to {name}." if data else f"The input of {name} is closed.")

    async def _list(self, context: ToolContext) -> str:
        rows = await self._background.list(context.person_id)
        lines = [f"- {describe_process(row, context.now)} {name_log(row.id)}" for row in rows]
        return "\n".join(lines) or "No command runs in the background."


async def _wait_at_most(ready: Awaitable[object], seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await ready
