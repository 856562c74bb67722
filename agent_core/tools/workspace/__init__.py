"""Tools that act in a person's workspace: `terminal`, `process`, files and search."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.workspace.background import LOGS as LOGS
    from agent_core.tools.workspace.background import PROCESS_EVENTS as PROCESS_EVENTS
    from agent_core.tools.workspace.background import BackgroundCommands as BackgroundCommands
    from agent_core.tools.workspace.background import BackgroundLimits as BackgroundLimits
    from agent_core.tools.workspace.background import name_log as name_log
    from agent_core.tools.workspace.catalog import WORKSPACE_TOOLS as WORKSPACE_TOOLS
    from agent_core.tools.workspace.catalog import make_terminal as make_terminal
    from agent_core.tools.workspace.catalog import make_workspace_tools as make_workspace_tools
    from agent_core.tools.workspace.named_secrets import NamedSecret as NamedSecret
    from agent_core.tools.workspace.named_secrets import NamedSecrets as NamedSecrets
    from agent_core.tools.workspace.process import describe_process as describe_process
    from agent_core.tools.workspace.workspaces import Workspaces as Workspaces
    from agent_core.tools.workspace.workspaces import find_slug as find_slug
else:
    __getattr__ = export_lazily(__name__, __file__)
