"""The docker backend: a container for each person, through the CLI of docker or podman."""

import asyncio
import hashlib
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_core.errors import BackendCrowded, BackendUnavailable, WorkspaceError
from agent_core.execution import git_guard
from agent_core.execution.contract import Command
from agent_core.execution.folders import FolderBackend, check_name, choose_owner, shorten
from agent_core.execution.sandbox import (
    ENVIRONMENT,
    WORKSPACE,
    SandboxLimits,
    make_profile,
)
from agent_core.execution.supervised_process import SupervisedProcess, call, start_supervised
from agent_core.execution.supervisor_script import IN_CONTAINER, make_setup
from agent_core.execution.timed_command import RunningCommands

_HOME_LABEL, _WORKSPACE_LABEL = "talaria.home", "talaria.workspace"
_SETTINGS_LABEL = "talaria.settings"
_SECONDS = 60.0
"""Seconds; longer than an engine takes to start a container."""
_SPARE_PROCESSES = 32
"""Processes of the supervisors in a container."""
_USER_PROCESSES = 4096
"""Processes of the containers' user on the whole machine; each container's limit is lower."""
_PASSED_ON = (
    *("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"),
    *("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "CONTAINER_HOST"),
)
"""Variables that the CLI needs to find its engine."""
_PROGRAMS = ("docker", "podman")
_INITS = {"docker": "/sbin/docker-init", "podman": "/run/podman-init"}
"""The first process of a container, which reaps orphans; docker ships its own."""
_TINY_INITS = ("docker-init", "tini", "tini-static")
"""Programs that can reap orphans for podman. Podman's own `catatonit` adopts no orphans for a
supervisor.
"""
_LABEL_FORMS = {"docker": '{{.Label "%s"}}', "podman": '{{index .Labels "%s"}}'}
_VERSION_FORMS = {"docker": "{{.Server.Version}}", "podman": "{{.Client.Version}}"}
_NONE = "none"
_DEVICE_FOLDERS = ("/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices")
"""Folders about the machine's devices, which stay empty. The limits are in `/sys/fs`."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSettings:
    """The image with bash and coreutils, the network, and the share of processors.

    `mounts` are folders that every container sees: source, target, and whether they are writable.

    An idle container is paused after `idle_seconds`. `environ` has the variables with which the
    client finds its engine. `program` is the client: docker or podman; "" for the first that is
    installed. `gpus` are the graphics cards, in the words of `docker run --gpus`; "" for none.

    `name` is the backend's in the configuration. Backends of different names share no container.
    """

    image: str
    network: str = _NONE
    cpus: float = 1.0
    mounts: tuple[tuple[str, str, bool], ...] = ()
    idle_seconds: float = 300.0
    program: str = ""
    gpus: str = ""
    name: str = "docker"
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Container:
    """The last state of one container that this process knows."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_known: bool = False
    is_paused: bool = False
    timer: asyncio.TimerHandle | None = None


class DockerBackend(FolderBackend):
    """Runs commands in containers that see their workspace and nothing else of this machine."""

    is_confined = True

    def __init__(self, root: Path, limits: SandboxLimits, settings: ContainerSettings) -> None:
        """`root` holds a folder for each workspace; the engine must run on this machine."""
        self._user, owner = choose_owner()
        super().__init__(root, limits, owner=owner)
        self._settings = settings
        self.name = settings.name
        self._guard = root.parent / git_guard.HOST_FOLDER
        place = os.fsencode(root.resolve())
        if settings.name != "docker":
            place += b"/" + settings.name.encode()
        self._home = hashlib.sha256(place).hexdigest()[:12]
        self._environ = {
            name: value for name, value in settings.environ.items() if name in _PASSED_ON
        }
        path = self._environ.get("PATH")
        found = (name for name in _PROGRAMS if shutil.which(name, path=path))
        self._program = settings.program or next(found, _PROGRAMS[0])
        inits = (shutil.which(name, path=path) for name in _TINY_INITS)
        self._tiny_init = next((name for name in inits if name), "")
        self._containers: dict[str, _Container] = {}
        self._running = RunningCommands(self._note_end)
        self._tasks: set[asyncio.Task[None]] = set()

    def has_wall(self, workspace: str) -> bool:
        """Return False: no list of hosts bounds these commands."""
        return False

    def has_network(self, workspace: str) -> bool:
        """Return whether the containers have a network."""
        return self._settings.network != _NONE

    async def end_abandoned(self) -> int:
        """Do nothing: a container that is found again is restarted, which ends its commands."""
        return 0

    async def start(self, command: Command) -> SupervisedProcess:
        """Start a command in its container; see `Backend`."""
        if any("\0" in word for word in command.argv):
            raise WorkspaceError("a command can't hold a NUL character")
        folder = shorten(command.folder)
        place = await self._folders.find(command.workspace, folder)
        before = await self._folders.disk.look(place)
        container = self._containers.setdefault(command.workspace, _Container())
        async with container.lock:
            self._running.require_privacy(command)
            await self._wake(command.workspace, container, place)
            try:
                process = await self._exec(command, folder)
            except BackendUnavailable as error:  # it may have been stopped or removed
                if isinstance(error, BackendCrowded) and self._running.has(command.workspace):
                    raise  # a restart would end the running commands
                container.is_known = False
                await self._wake(command.workspace, container, place)
                process = await self._exec(command, folder)
            self._running.add(command.workspace, process, is_alone=command.is_alone)
        process.is_disk_full = partial(self._folders.disk.is_exceeded, place, before)
        return process

    async def _exec(self, command: Command, folder: str) -> SupervisedProcess:
        limits = self._limits
        setup = make_setup(
            {
                "has_input": int(command.has_input),
                "memory": limits.memory,
                "processes": limits.processes,
                "disk": 0,  # this process watches the disk
                "init": _INITS[self._program],
            },
            {"argv": command.argv},
        )
        name = self._name(command.workspace)
        words = ("exec", "--interactive", "--workdir", f"{WORKSPACE}/{folder}", name)
        argv = (self._program, *words, "/bin/bash", "--norc", "--noprofile", "-c", IN_CONTAINER)
        return await start_supervised(
            argv, setup, self._environ, partial(self._force, command.workspace)
        )

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._running.stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Pause the container of an idle workspace; see `Backend`."""
        container = self._containers.get(workspace)
        if container is None:
            return
        async with container.lock:
            is_idle = not self._running.has(workspace)
            if container.is_known and is_idle and not container.is_paused:
                await self._call("pause", self._name(workspace))
                container.is_paused = True

    async def close(self) -> None:
        """Stop the containers that this process has used; see `Backend`."""
        for workspace, container in self._containers.items():
            await self.stop(workspace)  # which starts the timer
            if container.timer:
                container.timer.cancel()
            with suppress(BackendUnavailable):
                async with container.lock:
                    if container.is_known:
                        container.is_known = False
                        await self._call("kill", self._name(workspace))

    async def health(self) -> None:
        """Ask the engine, and check that the image exists; see `Backend`."""
        if not shutil.which(self._program, path=self._environ.get("PATH")):
            raise BackendUnavailable(f"{self._program} is not installed")
        if self._program == "podman" and not self._tiny_init:
            raise BackendUnavailable("podman needs tini; install it, as with `apt install tini`")
        await self._call("version", "--format", _VERSION_FORMS[self._program])
        await self._call("image", "inspect", "--format", "{{.Id}}", self._settings.image)

    def _note_end(self, workspace: str, _: SupervisedProcess) -> None:
        container = self._containers[workspace]
        if container.timer:
            container.timer.cancel()
        if not self._running.has(workspace):
            loop = asyncio.get_running_loop()
            container.timer = loop.call_later(
                self._settings.idle_seconds, self._fall_asleep, workspace
            )

    def _fall_asleep(self, workspace: str) -> None:
        task = asyncio.create_task(self._try_to_sleep(workspace))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _try_to_sleep(self, workspace: str) -> None:
        try:
            await self.sleep(workspace)
        except BackendUnavailable as error:
            _log.warning("an idle container can't be paused: %s", error)

    async def _force(self, workspace: str, pid: int) -> None:
        """End everything in a container if its supervisor does not answer."""
        self._containers[workspace].is_known = False
        await self._call("kill", self._name(workspace))

    async def _wake(self, workspace: str, container: _Container, place: Path) -> None:
        """Make the container run; create it if none fits. The caller holds the container's lock."""
        if container.timer:
            container.timer.cancel()
        if container.is_known and container.is_paused:
            await self._call("unpause", self._name(workspace))
            container.is_paused = False
        if container.is_known:
            return
        container.is_paused = False
        name, words = self._name(workspace), self._list_words(workspace, place)
        told = "\0".join((*words, make_profile()))
        digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        found = await self._find(workspace)
        if found and found[1] != digest:
            await self._call("rm", "--force", name)
            found = None
        if found is None:
            await self._create(digest, words)
        elif found[0] == "paused":
            await self._call("unpause", name)
            await self._call("restart", "--time", "0", name)
        else:  # this ends commands of an earlier gateway
            await self._call("restart", "--time", "0", name)
        container.is_known = True

    async def _create(self, digest: str, words: Sequence[str]) -> None:
        """Create and start a container; the client reads the seccomp profile from a file."""
        label = f"{_SETTINGS_LABEL}={digest}"
        with TemporaryDirectory() as folder:
            profile = Path(folder) / "calls.json"
            await asyncio.to_thread(profile.write_text, make_profile())
            given = ("--security-opt", f"seccomp={profile}", "--label", label)
            await self._call("run", "--detach", *given, *words)

    async def _find(self, workspace: str) -> tuple[str, str] | None:
        """Return a container's state and the digest of its settings, found by its labels."""
        filters = (
            *("--filter", f"label={_HOME_LABEL}={self._home}"),
            *("--filter", f"label={_WORKSPACE_LABEL}={workspace}"),
        )
        shown = "{{.State}} " + _LABEL_FORMS[self._program] % _SETTINGS_LABEL
        line = await self._call("ps", "--all", *filters, "--format", shown)
        state, _, digest = line.partition(" ")
        return (state, digest) if state else None

    def _list_words(self, workspace: str, place: Path) -> list[str]:
        limits, settings = self._limits, self._settings
        shared = limits.memory // 4
        words = ["--name", self._name(workspace)]
        words += ["--label", f"{_HOME_LABEL}={self._home}"]
        words += ["--label", f"{_WORKSPACE_LABEL}={workspace}"]
        if self._program == "podman":  # podman would also add an account of the machine
            words += ["--init-path", self._tiny_init, "--passwd=false"]
        words += ["--init", "--restart", "no", "--log-driver", "none", "--hostname", "workspace"]
        words += ["--network", settings.network, "--ipc", "private", "--read-only"]
        words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        words += ["--user", f"{self._user}:{self._user}", "--cpus", f"{settings.cpus:g}"]
        words += ["--gpus", settings.gpus] if settings.gpus else []
        words += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
        words += ["--pids-limit", str(limits.processes + _SPARE_PROCESSES)]
        words += ["--ulimit", "core=0", "--ulimit", "nofile=1024:1024"]
        soft, hard = limits.cpu
        words += ["--ulimit", f"cpu={soft}:{hard}"]
        words += ["--ulimit", f"fsize={limits.file}:{limits.file}", "--shm-size", str(shared)]
        words += ["--tmpfs", f"/tmp:rw,nosuid,nodev,size={shared},mode=1777"]  # noqa: S108 - its own
        is_podman = self._program == "podman"
        if is_podman:  # podman's default is more than an engine with few capabilities may set
            words += ["--ulimit", f"nproc={_USER_PROCESSES}:{_USER_PROCESSES}"]
        empty = ",notmpcopyup" if is_podman else ""  # podman would copy the folder's content
        for folder in _DEVICE_FOLDERS:
            words += ["--tmpfs", f"{folder}:ro,size=64k{empty}"]
        words += ["--mount", f"type=bind,source={place.resolve()},target={WORKSPACE}"]
        guard = git_guard.install(self._guard).resolve()
        words += ["--mount", f"type=bind,source={guard},target={git_guard.FOLDER},readonly"]
        for source, target, is_writable in settings.mounts:
            mode = "" if is_writable else ",readonly"
            words += ["--mount", f"type=bind,source={source},target={target}{mode}"]
        for name, value in ENVIRONMENT.items():
            if name != "HOME":  # each command has its own; see the supervisor
                words += ["--env", f"{name}={value}"]
        return [*words, "--entrypoint", "/bin/sleep", settings.image, "infinity"]

    def _name(self, workspace: str) -> str:
        check_name(workspace)
        return f"talaria-{self._home}-{workspace}"

    async def _call(self, *words: str) -> str:
        """Run the CLI, and return the first line of its output. Raises `BackendUnavailable`."""
        argv = (self._program, *words)
        status, output, errors = await call(argv, self._environ, _SECONDS)
        if status:
            raise BackendUnavailable(f"`{argv[0]} {words[0]}` failed: {_shorten(errors)}")
        return output.partition("\n")[0].strip()


def _shorten(errors: str) -> str:
    return " ".join(errors.split())[:300] or "it gives no reason"
