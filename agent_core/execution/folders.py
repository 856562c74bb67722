"""Workspaces that are folders of this machine: their places, their files, their size."""

import asyncio
import os
import subprocess
from pathlib import Path

from agent_core.errors import BackendUnavailable, WorkspaceError
from agent_core.execution import files
from agent_core.execution.contract import FileContent
from agent_core.execution.disk import DiskGuard
from agent_core.execution.sandbox import WORKSPACE, SandboxLimits


class WorkspaceFolders:
    """The folders of all workspaces, below one root."""

    def __init__(self, root: Path, limits: SandboxLimits, *, owner: int | None = None) -> None:
        """`owner` is the user id of the files."""
        self._root = root
        self._owner = owner
        self.disk = DiskGuard(limits.workspace, limits.reserve)

    def name(self, workspace: str) -> Path:
        """Return where a workspace is, or will be. Raises `WorkspaceError`."""
        check_name(workspace)
        return self._root / workspace

    async def find(self, workspace: str, folder: str = "") -> Path:
        """Return a workspace's directory, created if missing.

        `folder` is only checked: raises `WorkspaceError` if the workspace does not contain it. Also
        raises `BackendUnavailable`.
        """
        place = await asyncio.to_thread(self._make, workspace)
        await asyncio.to_thread(files.find_folder, place, folder)
        return place

    async def read(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        place = await self.find(workspace)
        return await asyncio.to_thread(files.read, place, shorten(path), most)

    async def write(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file atomically; see `Backend`."""
        place = await self.find(workspace)
        await self.disk.check(place)
        await asyncio.to_thread(files.write, place, shorten(path), data)

    def _make(self, workspace: str) -> Path:
        place = self.name(workspace)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._owner is not None and place.stat().st_uid != self._owner:
                words = ("chown", "-R", "-P", f"{self._owner}:{self._owner}", "--", str(place))
                subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - no shell
        except (OSError, subprocess.SubprocessError) as error:
            reason = getattr(error, "strerror", None) or "its owner can't be set"
            raise BackendUnavailable(f"the workspace can't be made: {reason}") from error
        return place


class FolderBackend:
    """The base of backends whose workspaces are folders of this machine."""

    def __init__(self, root: Path, limits: SandboxLimits, *, owner: int | None = None) -> None:
        self._limits = limits
        self._folders = WorkspaceFolders(root, limits, owner=owner)

    def _require(self) -> None:
        """Raise `BackendUnavailable` if this backend must not run here."""

    def find_seconds(self, workspace: str) -> int:
        """Return the longest time of a command; see `Backend`."""
        return self._limits.seconds

    def find_place(self, workspace: str) -> Path:
        """Return the folder of a workspace; see `Backend`."""
        return self._folders.name(workspace)

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        self._require()
        return await self._folders.read(workspace, path, most)

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file atomically; see `Backend`."""
        self._require()
        await self._folders.write(workspace, path, data)


_SCRATCH = ".scratch"
"""The ending of a workspace for trials; no slug contains its first character."""


def name_scratch(workspace: str) -> str:
    """Return the name of the workspace for trials that belongs to a person's own workspace."""
    return f"{workspace}{_SCRATCH}"


def find_own(workspace: str) -> str:
    """Return the own workspace that a workspace for trials belongs to; other names unchanged."""
    return workspace.removesuffix(_SCRATCH)


def check_name(workspace: str) -> None:
    """Raise `WorkspaceError` if a text can't be the name of a workspace."""
    if workspace in ("", ".", "..") or "/" in workspace or "\0" in workspace:
        raise WorkspaceError("this is no name of a workspace")


def shorten(path: str) -> str:
    """Return a path relative to the workspace, also for a path as commands write it."""
    if path == WORKSPACE:
        return "."
    return path.removeprefix(f"{WORKSPACE}/")


def choose_owner() -> tuple[int, int | None]:
    """Return the user id of commands in a container, and the owner to give to their files.

    Commands never run as root. An owner is given only if this process is root.
    """
    own = os.geteuid()
    return (own, None) if own else (1000, 1000)
