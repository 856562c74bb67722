"""The backends of commands, made as the settings say."""

import hashlib
import logging
import os
from pathlib import Path

from agent_core.execution.contract import Backend
from agent_core.execution.docker import ContainerSettings, DockerBackend
from agent_core.execution.hosted.accounts import (
    DaytonaSettings,
    ModalSettings,
    make_daytona,
    make_modal,
)
from agent_core.execution.local import WORKSPACES, LocalBackend, find_bubblewrap
from agent_core.execution.reaped.backend import LandlockBackend, UnsandboxedBackend
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.selected import SelectedBackends
from agent_core.execution.ssh import RemoteSettings, SshBackend
from agent_core.tools.network.lookup import HostLookup
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
from gateway.app.settings import Settings, environment
from gateway.app.tables import ToolSettings

_MEGABYTE = 1_000_000

_log = logging.getLogger(__name__)


def make_backend(settings: Settings) -> SelectedBackends | None:
    """Make the backends that the settings name; None if they name none."""
    table = settings.tools
    chosen = dict(table.backends)
    names = {*chosen.values(), *([table.backend] if table.backend else ())}
    if not names:
        return None
    made = {name: _make_backend(name, settings) for name in sorted(names)}
    places = {who: made[name] for who, name in chosen.items() if ":" not in who}
    purposes = {what: made[name] for what, name in chosen.items() if ":" in what}
    return SelectedBackends(made.get(table.backend), places, purposes)


def _make_backend(name: str, settings: Settings) -> Backend:
    table = settings.tools
    limits = SandboxLimits(
        memory=table.memory_mb * _MEGABYTE,
        processes=table.processes,
        file=table.file_mb * _MEGABYTE,
        workspace=table.workspace_mb * _MEGABYTE,
        cpu_seconds=table.cpu_minutes * 60,
    )
    root = settings.home.resolve() / WORKSPACES
    if name == "docker":
        return DockerBackend(root, limits, _make_container_settings(table))
    if name == "ssh":
        return SshBackend(limits, _make_remote_settings(table, settings.home))
    if name == "daytona":
        return make_daytona(limits, _make_daytona_settings(settings))
    if name == "modal":
        return make_modal(limits, _make_modal_settings(settings))
    if name == "unsandboxed":
        return UnsandboxedBackend(root, limits, environment())
    home, program = settings.home.resolve(), find_bubblewrap()
    if program is None:
        return LandlockBackend(root, limits, home=home)
    network = SandboxProxy(
        table.network_people,
        AllowedHosts(table.network_hosts),
        HostLookup(settings.digest.allow_hosts),
    )
    return LocalBackend(root, limits, hidden=(home,), program=program, network=network)


def _make_container_settings(table: ToolSettings) -> ContainerSettings:
    return ContainerSettings(
        image=table.docker_image,
        network=table.docker_network,
        program=table.docker_program,
        cpus=table.docker_cpus,
        mounts=tuple(map(_read_mount, table.docker_mounts)),
        idle_seconds=table.docker_idle_minutes * 60.0,
        environ=environment(),
    )


def _read_mount(text: str) -> tuple[str, str, bool]:
    source, target, *mode = text.split(":")
    return os.path.realpath(source), target, mode == ["rw"]


def _make_remote_settings(table: ToolSettings, home: Path) -> RemoteSettings:
    return RemoteSettings(
        host=table.ssh_host,
        user=table.ssh_user,
        port=table.ssh_port,
        key=table.ssh_key,
        known_hosts=table.ssh_known_hosts,
        root=table.ssh_root,
        gateway=_name_gateway(home),
        environ=environment(),
    )


def _make_daytona_settings(settings: Settings) -> DaytonaSettings:
    table, secrets = settings.tools, settings.secrets
    return DaytonaSettings(
        api_key=secrets.daytona_api_key or "",
        api_url=secrets.daytona_api_url or "",
        gateway=_name_gateway(settings.home),
        target=table.daytona_target,
        snapshot=table.daytona_snapshot,
        has_network=table.daytona_network,
        idle_seconds=table.daytona_idle_minutes * 60.0,
    )


def _make_modal_settings(settings: Settings) -> ModalSettings:
    table, secrets = settings.tools, settings.secrets
    return ModalSettings(
        token_id=secrets.modal_token_id or "",
        token_secret=secrets.modal_token_secret or "",
        gateway=_name_gateway(settings.home),
        image=table.modal_image,
        region=table.modal_region,
        has_network=table.modal_network,
        idle_seconds=table.modal_idle_minutes * 60.0,
    )


def _name_gateway(home: Path) -> str:
    return hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]


async def load_backend(settings: Settings) -> SelectedBackends | None:
    """Make the backends and test them. Logs a warning for each that fails.

    None if no backend is configured, or if all fail. If only some fail, they stay: their people get
    the reason as a tool's error until the backend works again.
    """
    backend = make_backend(settings)
    if backend is None:
        return None
    if ended := await backend.end_abandoned():
        _log.warning("killed %d processes of commands that a crash left behind", ended)
    faults = await backend.list_faults()
    for name, reason in faults.items():
        _log.warning("the backend %s does not work now: %s", name, reason)
    if len(faults) < len(backend.names):
        return backend
    _log.warning("the tools of [tools] are off, because no backend works")
    return None
