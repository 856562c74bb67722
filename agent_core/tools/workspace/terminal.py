"""The `terminal` tool: one bash command in the person's workspace."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

from agent_core.errors import ToolArgumentError
from agent_core.execution.contract import Command
from agent_core.execution.timed_command import Completed, run_command
from agent_core.state.jobs.processes import NewProcess
from agent_core.tools.contract import Declaration, Effect, Pause, ToolContext, ToolResult
from agent_core.tools.policy.command_effects import list_command_actions
from agent_core.tools.policy.contract import Action
from agent_core.tools.schemas import make_schema
from agent_core.tools.workspace.background import BackgroundCommands, name_log
from agent_core.tools.workspace.named_secrets import (
    SECRET_PROPERTY,
    NamedSecret,
    NamedSecrets,
    list_uses,
    make_secret_input,
)
from agent_core.tools.workspace.output import (
    NO_OUTPUT,
    describe_refusals,
    describe_status,
    says_state,
    show_output,
)
from agent_core.tools.workspace.process import name_process
from agent_core.tools.workspace.shell import (
    ShellNames,
    is_fresh,
    make_secret_command,
    make_shell_command,
)
from agent_core.tools.workspace.workspaces import Workspaces, find_slug, read_text
from agent_core.transcript import ToolSpec, flatten, make_source

MOST_OUTPUT = 8_000_000
"""Bytes of output that are kept; a command that writes more is stopped."""
_SECONDS = 60
"""Default time of a command in seconds."""
_END_SECONDS = 30.0
"""Seconds to end a command that takes too long."""
_LONGEST_COMMAND = 100_000
"""Bytes; Linux accepts 131,072 for one argument."""
_NAMED = 60
_OFFLINE = (
    "It had no network, because words of others are in this conversation. If it needs one, say so:"
    " the person can start a /new conversation."
)
_ENDS = {
    "output": f"It was stopped after {MOST_OUTPUT:,} bytes of output; filter it or write a file.",
    "memory": "It was stopped because it took too much memory; do less at once.",
    "processes": "It was stopped because it had too many processes; do less at once.",
    "disk": "It was stopped because the workspace or the disk is full; delete files first.",
}


class TerminalTool:
    """The `terminal` tool. When a command ends, every process that it started ends, too."""

    effect: Effect = "unsafe"

    def __init__(
        self,
        workspaces: Workspaces,
        background: BackgroundCommands | None,
        secrets: NamedSecrets,
        most_seconds: int,
    ) -> None:
        """`most_seconds` is the longest time that the model may ask for."""
        self._workspaces = workspaces
        self._background = background
        self._secrets = secrets
        self._most_seconds = most_seconds
        self._names = ShellNames()
        self.declaration = Declaration(time_limit=most_seconds + _END_SECONDS)
        self.spec = ToolSpec(
            name="terminal",
            description=(
                "Run a bash command on Linux in this person's workspace ($WORKSPACE), for work with"
                " files, data and programs. Not to read, write or search single files: `read_file`,"
                " `write_file`, `patch` and `search_files` do that. No keyboard; no network unless"
                " the owner allows it. Files, folder (cd) and exports stay for the next command,"
                " but not $PATH and $HOME; processes end with it. Commands of one answer run side"
                ' by side: join steps with &&. Example: {"command": "wc -l *.c"}'
            ),
            schema=make_schema(
                ("command",),
                command={"type": "string"},
                timeout={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": most_seconds,
                    "description": f"seconds, {min(_SECONDS, most_seconds)} by default",
                },
                workdir={"type": "string", "description": "folder of the workspace"},
                background={
                    "type": "boolean",
                    "description": "true: only start it, for a server; `process` reads its output"
                    " or ends it, later commands reach it at localhost",
                },
                notify={
                    "type": "boolean",
                    "description": "with background: begin a turn here when it ends",
                },
                **({"secrets": SECRET_PROPERTY} if secrets else {}),
            ),
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Return the actions of the command, from bash's grammar; see `DeclaresActions`."""
        backend, slug = self._workspaces.backend, find_slug(context)
        actions = list_command_actions(
            read_text(arguments, "command"),
            self._workspaces.read_path(arguments, "workdir"),
            has_network=backend.has_network(slug),
            is_confined=backend.is_confined,
            has_wall=backend.has_wall(slug),
            is_fresh=not backend.is_confined and is_fresh(backend, slug, context.conversation_id),
        )
        return (*actions, *list_uses(self._secrets.choose(arguments, slug)))

    def hold_place(
        self, arguments: Mapping[str, object], context: ToolContext, pause: Pause
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place until the command ends; see `HoldsPlace`.

        One in the background needs none, and one with secrets gets all of its person's.
        """
        if arguments.get("background"):
            return nullcontext()
        return self._workspaces.hold_place(context, pause, is_alone=bool(arguments.get("secrets")))

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the command until it ends, or start it in the background. Cancellation kills it.

        Raises `ToolArgumentError`, `WorkspaceError` and `BackendUnavailable`.
        """
        slug, text = find_slug(context), read_text(arguments, "command")
        if not text.strip():
            raise ToolArgumentError("`command` is empty")
        if len(text.encode()) > _LONGEST_COMMAND:
            raise ToolArgumentError("`command` is too long; write a script with `write_file`")
        folder = self._workspaces.read_path(arguments, "workdir")
        secrets = self._secrets.choose(arguments, slug)
        if arguments.get("background"):
            if secrets:
                raise ToolArgumentError("a command in the background can't use `secrets`")
            return await self._start(text, folder, bool(arguments.get("notify")), context)
        given = arguments.get("timeout")
        seconds = min(
            given if isinstance(given, int) else min(_SECONDS, self._most_seconds),
            self._workspaces.backend.find_seconds(slug),
        )
        command = self._make_command(text, folder, secrets, context)
        await self._workspaces.await_writes(slug)
        async with self._workspaces.watch(context):
            done = await run_command(
                self._workspaces.backend,
                command,
                seconds=seconds,
                most_bytes=MOST_OUTPUT,
                given=make_secret_input(secrets),
            )
        shown = await self._show(slug, done, context)
        return ToolResult(
            text="\n".join((shown, *_describe_end(done, seconds), *_describe_network(context))),
            is_error=bool(done.status or done.limit),
            sources=() if says_state(shown) else (make_source("command", flatten(text, _NAMED)),),
        )

    async def _start(
        self, text: str, folder: str, wants_note: bool, context: ToolContext
    ) -> ToolResult:
        """Start a command in the background, with the shell's folder and exported variables."""
        if self._background is None:
            raise ToolArgumentError("commands of this job can't run in the background")
        slug = find_slug(context)
        exports = self._names.add(context.conversation_id, "")
        own = self._workspaces.backend.is_confined
        argv = make_shell_command(
            text, context.conversation_id, folder, exports, keeps=False, has_own_home=own
        )
        async with self._workspaces.lock(slug), self._workspaces.watch(context):
            process_id = await self._background.start(
                Command(
                    workspace=slug,
                    argv=argv,
                    folder=folder,
                    has_input=True,
                    circle=str(context.conversation_id),
                    is_offline=context.is_offline,
                ),
                text,
                NewProcess(
                    conversation_id=context.conversation_id,
                    turn_id=context.turn_id,
                    workspace=slug,
                    wants_note=wants_note,
                ),
                context.person_id,
            )
        note = " You get a message when it ends." if wants_note else ""
        return ToolResult(
            text=f"Started as {name_process(process_id)}; its output goes to"
            f" {name_log(process_id)}. `process` reads, writes, waits and kills.{note}"
        )

    def _make_command(
        self, text: str, folder: str, secrets: Sequence[NamedSecret], context: ToolContext
    ) -> Command:
        """Return the command in its conversation's shell, or in a fresh shell with secrets."""
        slug = find_slug(context)
        own = self._workspaces.backend.is_confined
        if secrets:
            argv = make_secret_command(text, has_own_home=own)
            return Command(workspace=slug, argv=argv, folder=folder, has_input=True, is_alone=True)
        conversation = context.conversation_id
        exports = self._names.add(conversation, text)
        argv = make_shell_command(text, conversation, folder, exports, has_own_home=own)
        return Command(
            workspace=slug,
            argv=argv,
            folder=folder,
            circle=str(conversation),
            is_offline=context.is_offline,
        )

    async def _show(self, slug: str, done: Completed, context: ToolContext) -> str:
        """Return the part of an output that the model sees; a long output goes to a file."""

        async def keep(data: bytes) -> str:
            return await self._workspaces.keep_output(slug, context.call_id, data)

        is_growing = done.limit == "output" or bool(done.limit and self._secrets)
        shown = await show_output(self._secrets.cleaner, done.output, keep, is_growing=is_growing)
        return shown or NO_OUTPUT


def _describe_network(context: ToolContext) -> list[str]:
    return [_OFFLINE] if context.is_offline else []


def _describe_end(done: Completed, seconds: float) -> list[str]:
    return [*_describe_limit(done, seconds), *describe_refusals(done.refusals)]


def _describe_limit(done: Completed, seconds: float) -> list[str]:
    if done.limit == "time":
        return [
            (
                f"[It was stopped after {seconds:g} s. Ask for a longer `timeout`, do less, or use"
                " `background`.]"
            )
        ]
    if done.limit:
        return [f"[{_ENDS[done.limit]}]"]
    return describe_status(done.status)
