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

    def __init__(self, root: Path, most: int, *, owner: int | None = None) -> None:
        """`most` is the largest size of a workspace in bytes; `owner` the user id of its files."""
        self._root = root
        self._owner = owner
        self.disk = DiskGuard(most)

    async def find(self, workspace: str, folder: str = "") -> Path:
        """Return the place of a workspace, and create it if it is missing.

        Raises `WorkspaceError` if it has no such folder, and `BackendUnavailable`.
        """
        place = await asyncio.to_thread(self._make, workspace)
        await asyncio.to_thread(files.find_folder, place, folder)
        return place

    async def read(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        place = await self.find(workspace)
        return await asyncio.to_thread(files.read, place, shorten(path), most)

    async def write(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file at once; see `Backend`."""
        place = await self.find(workspace)
        await self.disk.check(place)
        await asyncio.to_thread(files.write, place, shorten(path), data)

    def _make(self, workspace: str) -> Path:
        check_name(workspace)
        place = self._root / workspace
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
        self._folders = WorkspaceFolders(root, limits.workspace, owner=owner)

    def _require(self) -> None:
        """Raise `BackendUnavailable` if nothing may be done here."""

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        self._require()
        return await self._folders.read(workspace, path, most)

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file at once; see `Backend`."""
        self._require()
        await self._folders.write(workspace, path, data)


_SCRATCH = ".scratch"
"""The ending of a workspace for trials; no slug contains its first character."""


def name_scratch(workspace: str) -> str:
    """Return the name of the workspace for trials beside a person's own one."""
    return f"{workspace}{_SCRATCH}"


def find_own(workspace: str) -> str:
    """Return the person's own workspace beside one for trials; any other one as it is."""
    return workspace.removesuffix(_SCRATCH)


def check_name(workspace: str) -> None:
    """Raise `WorkspaceError` for a text that can't be the name of a workspace."""
    if workspace in ("", ".", "..") or "/" in workspace or "\0" in workspace:
        raise WorkspaceError("this is no name of a workspace")


def shorten(path: str) -> str:
    """Return a path as it is below the workspace, for one that a command would use."""
    if path == WORKSPACE:
        return "."
    return path.removeprefix(f"{WORKSPACE}/")


def choose_owner() -> tuple[int, int | None]:
    """Return the user id of commands in a container, and the owner to give to their files.

    Commands never run as root; an owner is given where this process is root.
    """
    own = os.geteuid()
    return (own, None) if own else (1000, 1000)
