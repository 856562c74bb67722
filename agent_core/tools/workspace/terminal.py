"""The `terminal` tool: one bash command in the person's workspace."""

from collections.abc import Mapping, Sequence

from agent_core.errors import ToolArgumentError
from agent_core.execution.contract import Command
from agent_core.execution.timed_command import Completed, run_command
from agent_core.state.jobs.processes import NewProcess
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
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
    describe_refusals,
    describe_status,
    show_output,
)
from agent_core.tools.workspace.process import name_process
from agent_core.tools.workspace.shell import (
    ShellNames,
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
                "Run a bash command on Linux, in this person's workspace ($WORKSPACE). No keyboard;"
                " no network unless the owner allows it. Files, folder (cd) and exports stay, but"
                " not $PATH and $HOME; processes end with the command. `background` only starts it,"
                " for `process`."
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
                workdir={"type": "string"},
                background={"type": "boolean"},
                notify={
                    "type": "boolean",
                    "description": "begin a turn here when that ends",
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
            read_text(arguments, "workdir"),
            has_network=backend.has_network(slug),
            is_confined=backend.is_confined,
        )
        return (*actions, *list_uses(self._secrets.choose(arguments, slug)))

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the command until it ends, or start it in the background. Cancellation kills it.

        Raises `ToolArgumentError`, `WorkspaceError` and `BackendUnavailable`.
        """
        slug, text = find_slug(context), read_text(arguments, "command")
        if not text.strip():
            raise ToolArgumentError("`command` is empty")
        if len(text.encode()) > _LONGEST_COMMAND:
            raise ToolArgumentError("`command` is too long; write a script with `write_file`")
        folder = read_text(arguments, "workdir")
        secrets = self._secrets.choose(arguments, slug)
        if arguments.get("background"):
            if secrets:
                raise ToolArgumentError("a command in the background can't use `secrets`")
            return await self._start(text, folder, bool(arguments.get("notify")), context)
        given = arguments.get("timeout")
        seconds = given if isinstance(given, int) else min(_SECONDS, self._most_seconds)
        command = self._make_command(text, folder, secrets, context)
        async with self._workspaces.lock(slug):
            done = await run_command(
                self._workspaces.backend,
                command,
                seconds=seconds,
                most_bytes=MOST_OUTPUT,
                given=make_secret_input(secrets),
            )
            shown = await self._show(slug, done, context)
        return ToolResult(
            text="\n".join((shown, *_describe_end(done, seconds))),
            is_error=bool(done.status or done.limit),
            sources=(make_source("command", flatten(text, _NAMED)),),
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
        async with self._workspaces.lock(slug):
            process_id = await self._background.start(
                Command(workspace=slug, argv=argv, folder=folder, has_input=True),
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
        return Command(workspace=slug, argv=argv, folder=folder)

    async def _show(self, slug: str, done: Completed, context: ToolContext) -> str:
        """Return the part of an output that the model sees; a long output goes to a file."""

        async def keep(data: bytes) -> str:
            return await self._workspaces.keep_output(slug, context.call_id, data)

        is_growing = done.limit == "output" or bool(done.limit and self._secrets)
        shown = await show_output(self._secrets.cleaner, done.output, keep, is_growing=is_growing)
        return shown or "[No output.]"


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
