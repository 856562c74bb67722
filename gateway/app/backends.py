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
from agent_core.execution.selected import UNKNOWN, SelectedBackends
from agent_core.execution.ssh import RemoteSettings, SshBackend
from agent_core.tools.network.lookup import HostLookup
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
from gateway.app.credentials import Secrets
from gateway.app.named_backends import MEGABYTE, apply, find_backend, list_used
from gateway.app.settings import Settings, environment
from gateway.app.tables import ToolSettings
from gateway.app.tool_rules import NamedBackend

_UNKNOWN = "this skill names a backend that does not exist here; `talaria skills check` says which"
_CLOSED = (
    "this person's skills may not use the backend {name}; an owner allows it with `people` in its"
    " table [[tools.named_backends]]"
)
_log = logging.getLogger(__name__)


def make_backend(settings: Settings, home: Path | None = None) -> SelectedBackends | None:
    """Make the backends that the settings name; None if they name none.

    `home` is the folder of the workspaces, if it is not that of the settings.
    """
    table, place = settings.tools, (home or settings.home).resolve()
    chosen = dict(table.backends)
    names = list_used(table)
    if not names:
        return None
    made = {name: _make_backend(name, settings, place) for name in sorted(names)}
    places = {who: made[name] for who, name in chosen.items() if ":" not in who}
    purposes: dict[str, Backend] = {
        what: made[name] for what, name in chosen.items() if ":" in what
    }
    for name, backend in made.items():
        purposes[f"backend:{name}"] = _open_to_skills(table, name, backend)
    purposes[UNKNOWN] = SelectedBackends(None, {}, refusal=_UNKNOWN)
    return SelectedBackends(made.get(table.backend), places, purposes)


def _open_to_skills(table: ToolSettings, name: str, backend: Backend) -> SelectedBackends:
    """Return a backend for skills that name it: for its own people, and those in its `people`."""
    own = {who: used for who, used in table.backends if ":" not in who}
    people = find_backend(table, name).people
    is_open = "*" in people
    chosen = {
        who: backend if is_open or used == name or who in people else None
        for who, used in {**dict.fromkeys(people, name), **own}.items()
    }
    default = backend if is_open or name == table.backend else None
    return SelectedBackends(default, chosen, refusal=_CLOSED.format(name=name))


def _make_backend(name: str, settings: Settings, home: Path) -> Backend:
    """Make one backend, with its own values of the settings if it has a name of its own."""
    chosen = find_backend(settings.tools, name)
    table = apply(settings.tools, chosen)
    limits = SandboxLimits(
        memory=table.memory_mb * MEGABYTE,
        processes=table.processes,
        file=table.file_mb * MEGABYTE,
        workspace=table.workspace_mb * MEGABYTE,
        cpu_seconds=table.cpu_minutes * 60,
        seconds=table.command_seconds,
    )
    root = home / WORKSPACES
    match chosen.kind:
        case "docker":
            return DockerBackend(root, limits, _make_container_settings(table, name))
        case "ssh":
            gateway = _name_gateway(home, chosen)
            return SshBackend(limits, _make_remote_settings(table, name, gateway))
        case "daytona":
            account = _make_daytona_settings(table, settings.secrets, _name_gateway(home, chosen))
            return make_daytona(limits, account, name)
        case "modal":
            token = _make_modal_settings(table, settings.secrets, _name_gateway(home, chosen))
            return make_modal(limits, token, name)
        case "unsandboxed":
            return UnsandboxedBackend(root, limits, environment(), name=name)
        case "local":
            return _make_local(table, settings, root, limits, name)


def _make_local(
    table: ToolSettings, settings: Settings, root: Path, limits: SandboxLimits, name: str
) -> Backend:
    home, program = settings.home.resolve(), find_bubblewrap()
    hidden = tuple({home, root.parent})  # a run of a batch has a folder of its own
    if program is None:
        return LandlockBackend(root, limits, home=home, name=name)
    network = SandboxProxy(
        table.network_people,
        AllowedHosts(table.network_hosts),
        HostLookup(settings.digest.allow_hosts),
    )
    return LocalBackend(root, limits, hidden=hidden, program=program, network=network, name=name)


def _make_container_settings(table: ToolSettings, name: str) -> ContainerSettings:
    return ContainerSettings(
        image=table.docker_image,
        network=table.docker_network,
        program=table.docker_program,
        cpus=table.docker_cpus,
        gpus=table.docker_gpu,
        mounts=tuple(map(_read_mount, table.docker_mounts)),
        idle_seconds=table.docker_idle_minutes * 60.0,
        name=name,
        environ=environment(),
    )


def _read_mount(text: str) -> tuple[str, str, bool]:
    source, target, *mode = text.split(":")
    return os.path.realpath(source), target, mode == ["rw"]


def _make_remote_settings(table: ToolSettings, name: str, gateway: str) -> RemoteSettings:
    return RemoteSettings(
        host=table.ssh_host,
        user=table.ssh_user,
        port=table.ssh_port,
        key=table.ssh_key,
        known_hosts=table.ssh_known_hosts,
        root=table.ssh_root,
        name=name,
        gateway=gateway,
        environ=environment(),
    )


def _make_daytona_settings(table: ToolSettings, secrets: Secrets, gateway: str) -> DaytonaSettings:
    return DaytonaSettings(
        api_key=secrets.daytona_api_key or "",
        api_url=secrets.daytona_api_url or "",
        gateway=gateway,
        target=table.daytona_target,
        snapshot=table.daytona_snapshot,
        image=table.daytona_image,
        cpus=table.daytona_cpus,
        gpus=table.daytona_gpu,
        memory=table.daytona_memory_mb * MEGABYTE,
        has_network=table.daytona_network,
        idle_seconds=table.daytona_idle_minutes * 60.0,
    )


def _make_modal_settings(table: ToolSettings, secrets: Secrets, gateway: str) -> ModalSettings:
    return ModalSettings(
        token_id=secrets.modal_token_id or "",
        token_secret=secrets.modal_token_secret or "",
        gateway=gateway,
        image=table.modal_image,
        cpus=table.modal_cpus,
        gpu=table.modal_gpu,
        memory=table.modal_memory_mb * MEGABYTE,
        secrets=table.modal_secrets,
        region=table.modal_region,
        has_network=table.modal_network,
        idle_seconds=table.modal_idle_minutes * 60.0,
    )


def _name_gateway(home: Path, backend: NamedBackend) -> str:
    """Name what a backend owns elsewhere; backends of different names share nothing."""
    own = b"" if backend.name == backend.kind else b"/" + backend.name.encode()
    return hashlib.sha256(os.fsencode(home) + own).hexdigest()[:12]


async def load_backend(settings: Settings, home: Path | None = None) -> SelectedBackends | None:
    """Make the backends and test them; see `make_backend`. Logs a warning for each that fails.

    None if no backend is configured, or if all fail. If only some fail, they stay: their people get
    the reason as a tool's error until the backend works again.
    """
    backend = make_backend(settings, home)
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
