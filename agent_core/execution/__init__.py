"""Execution backends: their contract, and the local one, which runs commands in bubblewrap."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.execution.contract import (
        Backend,
        Command,
        Exit,
        FileContent,
        Process,
    )
    from agent_core.execution.docker import ContainerSettings, DockerBackend
    from agent_core.execution.files import remove_workspace, walk_files
    from agent_core.execution.folders import find_own, name_scratch
    from agent_core.execution.hosted import (
        DaytonaSettings,
        HostedBackend,
        ModalSettings,
        make_daytona,
        make_modal,
    )
    from agent_core.execution.local import WORKSPACES, LocalBackend, find_bubblewrap
    from agent_core.execution.network import NetworkSession, SandboxNetwork
    from agent_core.execution.reaped import (
        LandlockBackend,
        UnsandboxedBackend,
        find_landlock_fault,
    )
    from agent_core.execution.running import Completed, run_command
    from agent_core.execution.sandbox import SandboxLimits
    from agent_core.execution.selected import SelectedBackends
    from agent_core.execution.servers import (
        ServerProcess,
        ServerProgram,
        start_sandboxed,
        start_unsandboxed,
    )
    from agent_core.execution.ssh import RemoteSettings, SshBackend
    from agent_core.execution.subprocesses.spawning import finish
else:
    __getattr__ = export_lazily(__name__, __file__)
