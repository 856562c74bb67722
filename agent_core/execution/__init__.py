"""Execution backends: their contract, and the local one, which runs commands in bubblewrap."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.execution.contract import Backend as Backend
    from agent_core.execution.contract import Command as Command
    from agent_core.execution.contract import Exit as Exit
    from agent_core.execution.contract import FileContent as FileContent
    from agent_core.execution.contract import Process as Process
    from agent_core.execution.docker import ContainerSettings as ContainerSettings
    from agent_core.execution.docker import DockerBackend as DockerBackend
    from agent_core.execution.files import remove_workspace as remove_workspace
    from agent_core.execution.files import walk_files as walk_files
    from agent_core.execution.folders import find_own as find_own
    from agent_core.execution.folders import name_scratch as name_scratch
    from agent_core.execution.git_guard import is_harmless_setting as is_harmless_setting
    from agent_core.execution.hosted import DaytonaSettings as DaytonaSettings
    from agent_core.execution.hosted import HostedBackend as HostedBackend
    from agent_core.execution.hosted import ModalSettings as ModalSettings
    from agent_core.execution.hosted import make_daytona as make_daytona
    from agent_core.execution.hosted import make_modal as make_modal
    from agent_core.execution.local import WORKSPACES as WORKSPACES
    from agent_core.execution.local import LocalBackend as LocalBackend
    from agent_core.execution.local import find_bubblewrap as find_bubblewrap
    from agent_core.execution.network import NetworkSession as NetworkSession
    from agent_core.execution.network import SandboxNetwork as SandboxNetwork
    from agent_core.execution.reaped import LandlockBackend as LandlockBackend
    from agent_core.execution.reaped import UnsandboxedBackend as UnsandboxedBackend
    from agent_core.execution.reaped import find_landlock_fault as find_landlock_fault
    from agent_core.execution.running import Completed as Completed
    from agent_core.execution.running import run_command as run_command
    from agent_core.execution.sandbox import SandboxLimits as SandboxLimits
    from agent_core.execution.selected import SelectedBackends as SelectedBackends
    from agent_core.execution.servers import ServerProcess as ServerProcess
    from agent_core.execution.servers import ServerProgram as ServerProgram
    from agent_core.execution.servers import start_sandboxed as start_sandboxed
    from agent_core.execution.servers import start_unsandboxed as start_unsandboxed
    from agent_core.execution.ssh import RemoteSettings as RemoteSettings
    from agent_core.execution.ssh import SshBackend as SshBackend
    from agent_core.execution.subprocesses.spawning import finish as finish
else:
    __getattr__ = export_lazily(__name__, __file__)
