"""The workspace tools, in the order in which the model sees them."""

from agent_core.execution.contract import Backend
from agent_core.tools.contract import Tool
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.workspace.background import BackgroundCommands
from agent_core.tools.workspace.code_tool import ExecuteCodeTool
from agent_core.tools.workspace.files import PatchTool, ReadFileTool, WriteFileTool
from agent_core.tools.workspace.named_secrets import NamedSecrets
from agent_core.tools.workspace.places import CommandPlaces
from agent_core.tools.workspace.process import ProcessTool
from agent_core.tools.workspace.search import SearchFilesTool
from agent_core.tools.workspace.terminal import TerminalTool
from agent_core.tools.workspace.versions import FileVersions
from agent_core.tools.workspace.workspaces import Workspaces


def make_terminal(
    backend: Backend,
    seconds: int,
    places: CommandPlaces | None = None,
    versions: FileVersions | None = None,
) -> TerminalTool:
    """Return the runner of foreground commands, for tools that are commands themselves."""
    return TerminalTool(Workspaces(backend, places, versions), None, NamedSecrets(), seconds)


def make_workspace_tools(
    backend: Backend,
    background: BackgroundCommands | None,
    *,
    command_seconds: int,
    secrets: NamedSecrets | None = None,
    places: CommandPlaces | None = None,
    versions: FileVersions | None = None,
) -> tuple[Tool, ...]:
    """Return the tools that work in a backend; `command_seconds` is the longest time of a command.

    Commands may use `secrets` by name, and share `places` with those of other catalogs. Without
    `background`, commands can't run in the background, and without `versions`, their changes can't
    be taken back.
    """
    workspaces, secrets = Workspaces(backend, places, versions), secrets or NamedSecrets()
    cleaner = secrets.cleaner
    return (
        TerminalTool(workspaces, background, secrets, command_seconds),
        *(
            [ProcessTool(workspaces, background, cleaner, most_seconds=command_seconds)]
            if background
            else []
        ),
        ReadFileTool(workspaces, ReaderPool()),
        WriteFileTool(workspaces),
        PatchTool(workspaces),
        SearchFilesTool(workspaces),
        ExecuteCodeTool(workspaces, cleaner, most_seconds=command_seconds),
    )
