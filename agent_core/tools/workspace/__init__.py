"""Tools that act in a person's workspace: `terminal`, `process`, files and search."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.workspace.background import (
        LOGS,
        PROCESS_EVENTS,
        BackgroundCommands,
        BackgroundLimits,
        name_log,
    )
    from agent_core.tools.workspace.catalog import (
        WORKSPACE_TOOLS,
        make_terminal,
        make_workspace_tools,
    )
    from agent_core.tools.workspace.named_secrets import NamedSecret, NamedSecrets
    from agent_core.tools.workspace.output import read_output
    from agent_core.tools.workspace.process import describe_process
    from agent_core.tools.workspace.workspaces import Workspaces, find_slug
else:
    __getattr__ = export_lazily(__name__, __file__)
