"""The `execute_code` tool: runs Python in the sandbox; the code can call the other tools."""

import asyncio
import json
from asyncio import Timeout
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_core.errors import ToolArgumentError, WorkspaceError
from agent_core.execution.contract import Command, Exit, Process
from agent_core.ids import CallId
from agent_core.tools.contract import (
    CallTool,
    Declaration,
    Effect,
    Pause,
    ToolContext,
    ToolResult,
)
from agent_core.tools.policy.command_effects import list_input_actions
from agent_core.tools.policy.contract import Action
from agent_core.tools.schemas import make_schema
from agent_core.tools.text_cleaner import TextCleaner
from agent_core.tools.workspace import code_program as program
from agent_core.tools.workspace.output import describe_refusals, describe_status, show_output
from agent_core.tools.workspace.workspaces import Workspaces, find_slug, read_text
from agent_core.transcript import ToolCallPart, ToolSpec, UntrustedSource, flatten, make_source

_LONGEST_LINE = 2_000_000
"""Bytes of a line; a call in a longer line would be too long for any tool."""

EXECUTE_CODE = "execute_code"
MOST_CALLS = 50
"""Tool calls that one run of the code can make."""
_MOST_OUTPUT = 1_000_000
"""Characters of output; code that prints more is stopped."""
_LONGEST_CODE = 100_000
_SECONDS = 60
_WAITS = 3_600.0
"""Seconds that the code's calls may take besides, mostly while people decide."""
_NAMED = 64
_REFUSED = frozenset((EXECUTE_CODE, "ask"))
_SOURCE = make_source("command", EXECUTE_CODE)
_ENDS = {
    "output": f"The code was stopped after {_MOST_OUTPUT:,} characters of output; print less.",
    "memory": "The code was stopped because it took too much memory; do less at once.",
    "processes": "The code was stopped because it had too many processes; do less at once.",
    "disk": "The code was stopped because the workspace or the disk is full; delete files first.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOutput:
    """More output of the code."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCall:
    """A call that the code makes. `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEnd:
    """The end of the code, with its exit status; a negative status is the signal that ended it."""

    status: int


Frame = CodeOutput | CodeCall | CodeEnd


class FrameReader:
    """Parses frames from pieces of a stream; anything else counts as output."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that a piece completes; an empty piece ends the stream."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if not piece or len(self._rest) > _LONGEST_LINE:
            lines, self._rest = [*lines, self._rest], b""
        return [_read(line) for line in lines if line]


def _read(line: bytes) -> Frame:
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    match value:
        case {"output": str(shown)}:
            return CodeOutput(text=shown)
        case {"call": str(name), "arguments": dict(arguments)}:
            return CodeCall(name=name, arguments=json.dumps(arguments))
        case {"status": int(status)}:
            return CodeEnd(status=status)
    return CodeOutput(text=f"{text}\n")


class ExecuteCodeTool:
    """The `execute_code` tool.

    Each call of the code is journalled as a separate step. The code itself is never repeated after
    a crash. It may obey untrusted text that it reads, so its calls are judged as if they followed
    untrusted words.
    """

    effect: Effect = "unsafe"

    def __init__(self, workspaces: Workspaces, cleaner: TextCleaner, *, most_seconds: int) -> None:
        """`most_seconds` is the longest time that the model may ask for, excluding tool calls."""
        self._workspaces = workspaces
        self._cleaner = cleaner
        self._most_seconds = most_seconds
        self.declaration = Declaration(time_limit=most_seconds + _WAITS, is_untrusted=True)
        self._program = Path(program.__file__).read_text()
        self.spec = ToolSpec(
            name=EXECUTE_CODE,
            description=(
                "Run Python in the workspace when one step needs many calls of tools; `terminal`"
                " runs other programs. `from talaria_tools import call`, then call('read_file',"
                " path='a.txt') returns the result as text, or raises ToolError. Only what is"
                f" printed comes back. At most {MOST_CALLS} calls."
            ),
            schema=make_schema(
                ("code",),
                code={"type": "string"},
                timeout={"type": "integer", "minimum": 1, "maximum": most_seconds},
            ),
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return the actions of the code itself; its tool calls are judged one by one."""
        backend = self._workspaces.backend
        return list_input_actions(
            read_text(arguments, "code"),
            has_network=backend.has_network(find_slug(context)),
            is_confined=backend.is_confined,
        )

    def hold_place(
        self, arguments: Mapping[str, object], context: ToolContext, pause: Pause
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place while the code runs, but not during its calls; see `HoldsPlace`."""
        return self._workspaces.hold_place(context, pause)

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the code until it ends. Cancellation kills it.

        Raises `ToolArgumentError`, `WorkspaceError`, `BackendUnavailable` and `QuestionPending`.
        """
        slug, code = find_slug(context), read_text(arguments, "code")
        if not code.strip():
            raise ToolArgumentError("`code` is empty")
        if len(code) > _LONGEST_CODE:
            raise ToolArgumentError("`code` is too long; write a module with `write_file`")
        if context.call_tool is None:
            raise ToolArgumentError("code can't be run here")
        given = arguments.get("timeout")
        seconds = min(
            given if isinstance(given, int) else min(_SECONDS, self._most_seconds),
            self._workspaces.backend.find_seconds(slug),
        )
        argv = ("/usr/bin/env", "python3", "-I", "-c", self._program)
        circle = str(context.conversation_id)
        command = Command(workspace=slug, argv=argv, has_input=True, circle=circle)
        await self._workspaces.await_writes(slug)
        async with self._workspaces.watch(context):
            process = await self._workspaces.backend.start(command)
            lend = partial(self._workspaces.places.lend, slug)
            run = _Run(process, context, context.call_tool, lend)
            ended = await run.play(code, seconds)
        return await run.describe(ended, seconds, self._cleaner)


class _Run:
    """A run of code, with the calls that it has made."""

    def __init__(
        self, process: Process, context: ToolContext, call_tool: CallTool, lend: Pause
    ) -> None:
        """`lend` gives up the code's place for a while."""
        self._process = process
        self._context = context
        self._call_tool = call_tool
        self._lend = lend
        self._output: list[str] = []
        self._length = 0
        self._calls: Counter[str] = Counter()
        self._failed = 0
        self._sources: dict[UntrustedSource, None] = {_SOURCE: None}
        self._status: int | None = None
        self._bound = ""

    async def play(self, code: str, seconds: float) -> Exit:
        """Run the code within its limits; no process is left behind."""
        waiting = asyncio.create_task(self._process.wait())
        try:
            async with asyncio.timeout(seconds) as clock:
                await self._write({"code": code})
                await self._listen(clock)
                if not self._bound:
                    await asyncio.shield(waiting)
        except TimeoutError:
            if not clock.expired():
                raise
            self._bound = "time"
        finally:
            await self._process.kill()
            await asyncio.wait((waiting,))
        return waiting.result()

    async def _listen(self, clock: Timeout) -> None:
        """Handle the code's messages until it ends, or exceeds a limit."""
        frames, is_open = FrameReader(), True
        while is_open and not self._bound:
            piece = await self._process.read()
            is_open = bool(piece)
            for frame in frames.feed(piece):
                if isinstance(frame, CodeOutput):
                    self._output.append(frame.text)
                    self._length += len(frame.text)
                    if self._length > _MOST_OUTPUT:
                        self._bound = "output"
                        break
                elif isinstance(frame, CodeCall):
                    result = await self._call(frame, clock)
                    await self._write({"text": result.text, "is_error": result.is_error})
                else:
                    self._status = frame.status

    async def _call(self, frame: CodeCall, clock: Timeout) -> ToolResult:
        """Run a call of the code; meanwhile its clock stops, and others may have its place."""
        name, number = frame.name, self._calls.total() + 1
        if number > MOST_CALLS:
            return _refuse(
                f"the code has made {MOST_CALLS} calls already; run more code for others"
            )
        if name in _REFUSED:
            return _refuse(f"`{name}` can't be called from code; call it yourself")
        self._calls[flatten(name, _NAMED)] += 1
        call = ToolCallPart(
            call_id=CallId(f"{self._context.call_id}.{number}"),
            name=name,
            arguments=frame.arguments,
        )
        async with _paused(clock), self._lend():
            result = await self._call_tool(call, tuple(self._sources))
        self._failed += result.is_error
        self._sources |= dict.fromkeys(result.sources)
        return result

    async def _write(self, value: object) -> None:
        try:
            await self._process.write(json.dumps(value).encode() + b"\n")
        except WorkspaceError:
            return  # the code has ended; its last output is read later

    async def describe(self, ended: Exit, seconds: float, cleaner: TextCleaner) -> ToolResult:
        """Return the code's output, how it ended, and which tools it called."""
        output = "".join(self._output).encode("utf-8", "replace")
        is_growing = self._bound == "output"
        text = await show_output(cleaner, output, _say_how, is_growing=is_growing)
        limit = self._bound or ended.limit
        status = ended.status if self._status is None else self._status
        lines = [text or "[No output.]"]
        if limit == "time":
            lines.append(f"[The code was stopped after {seconds:g} s. Do less, or ask for more.]")
        elif limit:
            lines.append(f"[{_ENDS[limit]}]")
        else:
            lines += describe_status(status)
        lines += describe_refusals(ended.refusals)
        if self._calls:
            called = ", ".join(f"{name} {count}" for name, count in self._calls.items())
            failed = f"; {self._failed} failed" if self._failed else ""
            lines.append(f"[Calls: {called}{failed}.]")
        return ToolResult(
            text="\n".join(lines), is_error=bool(limit or status), sources=tuple(self._sources)
        )


async def _say_how(_: bytes) -> str:
    return "print less, or write a file"


def _refuse(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, is_error=True)


@asynccontextmanager
async def _paused(clock: Timeout) -> AsyncIterator[None]:
    """Stop the code's clock during the block, unless its time is up."""
    now = asyncio.get_running_loop().time
    left = (clock.when() or now()) - now()
    clock.reschedule(None)
    yield
    clock.reschedule(now() + left)
