"""Commands on this machine without namespaces: confined by Landlock and seccomp, or not at all."""

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import ClassVar

from agent_core.errors import BackendUnavailable, WorkspaceError
from agent_core.execution import files, git_guard
from agent_core.execution.contract import Command
from agent_core.execution.disk import HomeGuard
from agent_core.execution.folders import FolderBackend, shorten
from agent_core.execution.reaped.process import ReapedProcess, follow
from agent_core.execution.reaped.reapers import Reapers
from agent_core.execution.sandbox import ENVIRONMENT, PATH, SandboxLimits, make_landlock_filter
from agent_core.execution.subprocesses import landlock, seccomp
from agent_core.execution.subprocesses.command_reaper import SYSTEM
from agent_core.execution.timed_command import RunningCommands

_HEALTH_SECONDS = 10.0
_SHOWN = 300
_OF_PLACE = ("HOME", "WORKSPACE", "TMPDIR")
"""Variables with paths on this machine."""
_COMMON = {name: value for name, value in ENVIRONMENT.items() if name not in _OF_PLACE} | {
    "PATH": PATH
}
_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG")
_ROOT = "Talaria runs as root, for whom the kernel limits no processes; use another account"
_HOMES = ".homes"
"""The folder beside the workspaces with the homes of running commands; no slug begins so."""
_OLD_SECONDS = 7 * 86_400
"""No command runs so long; another process may have commands now."""
_TEMPORARY = ".tmp"
"""The workspace folder for temporary files, which count towards the workspace's limit."""


def find_landlock_fault(home: Path) -> str:
    """Return the reason why Landlock and seccomp can't confine commands here; "" if they can.

    `home` is the folder that commands may not read.
    """
    if not seccomp.is_available():
        return "this system has no seccomp filters that Talaria knows"
    if (abi := landlock.find_abi()) < landlock.SIGNALS_SINCE:
        found = f"this kernel has version {abi} of Landlock" if abi else "Landlock is missing here"
        return f"{found}, and only version {landlock.SIGNALS_SINCE} (Linux 6.12) is strong enough"
    if os.geteuid() == 0:
        return _ROOT
    place = os.path.realpath(home)
    if any(place == shown or place.startswith(f"{os.path.realpath(shown)}/") for shown in SYSTEM):
        return "Talaria's home lies among the system's programs, which commands may read"
    return ""


class _ReapedBackend(FolderBackend):
    """Runs each command as a child of a reaper, in the folder of the command's workspace."""

    is_confined: ClassVar[bool]

    def __init__(
        self, root: Path, limits: SandboxLimits, environ: Mapping[str, str], name: str
    ) -> None:
        super().__init__(root, limits)
        self.name = name
        self._root = root
        self._environ = environ
        self._guard = root.parent / git_guard.HOST_FOLDER
        self._running = RunningCommands[ReapedProcess]()
        self._reapers = Reapers()

    def has_wall(self, workspace: str) -> bool:
        """Return False: no list of hosts bounds these commands."""
        return False

    def has_network(self, workspace: str) -> bool:
        """Return whether commands have a network: only commands without a sandbox do."""
        return not self.is_confined

    async def end_abandoned(self) -> int:
        """End nothing: commands end with their reaper, and the reaper ends with its parent.

        Homes that a power failure left behind are removed.
        """
        await asyncio.to_thread(_remove_homes, self._root / _HOMES)
        return 0

    async def start(self, command: Command) -> ReapedProcess:
        """Start a command below its reaper; see `Backend`."""
        folder = shorten(command.folder)
        place = await self._folders.find(command.workspace, folder)
        process = await self._start(command.argv, place, folder, has_input=command.has_input)
        self._running.add(command.workspace, process)
        return process

    async def _start(
        self, argv: Sequence[str], place: Path, folder: str, *, has_input: bool
    ) -> ReapedProcess:
        self._require()
        if any("\0" in word for word in argv):
            raise WorkspaceError("a command can't hold a NUL character")
        before = await self._folders.disk.look(place)
        homes = self._root / _HOMES if self.is_confined else None
        place, home = await asyncio.to_thread(_prepare, place, homes)
        own = dict(zip(_OF_PLACE, (home, str(place), str(place / _TEMPORARY)), strict=True))
        guard = str(await asyncio.to_thread(git_guard.install, self._guard.resolve()))
        given = {**own, **self._environ}
        request = {
            "memory": self._limits.memory,
            "file": self._limits.file,
            "processes": self._limits.processes,
            "cpu": self._limits.cpu,
            "filter": make_landlock_filter().hex() if self.is_confined else "",
            "workspace": str(place),
            "home": home,
            "guard": guard,
            "folder": str(place / folder),
            "argv": list(argv),
            "environ": given | git_guard.make_environment(guard, given.get("PATH", PATH)),
        }
        try:
            pipes = self._reapers.start(json.dumps(request).encode(), has_input=has_input)
        except OSError as error:
            raise BackendUnavailable(f"a command can't start: {error.strerror}") from error
        watched = HomeGuard(Path(home), self._limits.workspace) if home else None

        async def is_disk_full() -> bool:
            if await self._folders.disk.is_exceeded(place, before):
                return True
            return watched is not None and await watched.is_exceeded()

        return await follow(pipes, is_disk_full)

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._running.stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Do nothing: an idle workspace costs nothing here."""

    async def close(self) -> None:
        """Kill every command; see `Backend`."""
        await self._running.stop_all()
        await self._reapers.close()

    async def health(self) -> None:
        """Run a command once; see `Backend`."""
        with TemporaryDirectory() as folder:
            process = await self._start(("/bin/true",), Path(folder), "", has_input=False)
            try:
                async with asyncio.timeout(_HEALTH_SECONDS):
                    output = await process.read()
                    ended = await process.wait()
            except TimeoutError as error:
                raise BackendUnavailable("a command does not start in time") from error
            finally:
                await process.kill()
        if ended.status:
            raise BackendUnavailable(output.decode(errors="replace").strip()[:_SHOWN])


class LandlockBackend(_ReapedBackend):
    """Runs commands that Landlock and seccomp confine, for a machine without bubblewrap.

    Commands see their workspace at its real path, and names and sizes of files elsewhere.
    """

    is_confined = True

    def __init__(
        self, root: Path, limits: SandboxLimits, *, home: Path, name: str = "local"
    ) -> None:
        """`root` holds a folder for each workspace; commands can read nothing else of `home`."""
        super().__init__(root, limits, _COMMON, name)
        self._home = home

    def _require(self) -> None:
        if fault := find_landlock_fault(self._home):
            raise BackendUnavailable(
                f"bubblewrap is not installed, and {fault}; install it, for instance with"
                " `apt install bubblewrap`"
            )


class UnsandboxedBackend(_ReapedBackend):
    """Runs commands with all rights of Talaria's user, because the owner chose that."""

    is_confined = False

    def __init__(
        self,
        root: Path,
        limits: SandboxLimits,
        environ: Mapping[str, str],
        *,
        name: str = "unsandboxed",
    ) -> None:
        """Commands inherit only `PATH` and similar variables from `environ`, and never a token."""
        given = {name: environ[name] for name in _INHERITED if name in environ}
        given.setdefault("HOME", "/nonexistent")  # never the workspace
        super().__init__(root, limits, {**_COMMON, **given}, name)

    def _require(self) -> None:
        if os.geteuid() == 0:
            raise BackendUnavailable(_ROOT)


def _remove_homes(homes: Path) -> None:
    if homes.is_dir():
        for home in homes.iterdir():
            if time.time() - home.stat().st_mtime > _OLD_SECONDS:
                with suppress(OSError):
                    files.remove_workspace(home)


def _prepare(place: Path, homes: Path | None) -> tuple[Path, str]:
    """Return the real path of a workspace, with `.tmp` in it, and a new home; "" without `homes`.

    Raises `WorkspaceError`, and `BackendUnavailable` if no home can be made.
    """
    place = place.resolve()
    try:
        (place / _TEMPORARY).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"`{_TEMPORARY}` can't be made: {error.strerror}") from error
    if homes is None:
        return place, ""
    try:
        homes.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place, mkdtemp(dir=homes.resolve())
    except OSError as error:
        raise BackendUnavailable(f"a command's home can't be made: {error.strerror}") from error
