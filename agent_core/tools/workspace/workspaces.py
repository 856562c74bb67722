"""The workspaces of calls: find the person, and keep their changes apart."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from agent_core.errors import CoreError, ToolArgumentError, WorkspaceError
from agent_core.execution.contract import Backend, FileContent
from agent_core.ids import CallId
from agent_core.tools.contract import Pause, ToolContext
from agent_core.tools.workspace.places import CommandPlaces

if TYPE_CHECKING:
    from agent_core.tools.workspace.versions import FileVersions

_HOMES = ("~", "$HOME", "${HOME}", "$WORKSPACE", "${WORKSPACE}")
OUTPUTS = ".output"
"""The workspace folder with outputs that were too long to show."""
MOST_BYTES = 4_000_000
"""Bytes of a file that a tool reads as a whole; commands can read parts of longer files."""


class Workspaces:
    """The workspaces of all people in one backend."""

    def __init__(
        self,
        backend: Backend,
        places: CommandPlaces | None = None,
        versions: "FileVersions | None" = None,
    ) -> None:
        """Without `versions`, nothing that calls change can be taken back."""
        self.backend = backend
        self._versions = versions
        self.places = places or CommandPlaces()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, slug: str) -> asyncio.Lock:
        """The lock that a call holds while it changes a file; reading needs no lock."""
        lock = self._locks.get(slug)
        if lock is None:
            lock = self._locks[slug] = asyncio.Lock()
        return lock

    def hold_place(
        self, context: ToolContext, pause: Pause, *, is_alone: bool = False
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place for a command; see `HoldsPlace`."""
        owner = context.memory_owner
        if owner is None or owner.kind != "human":
            return nullcontext()  # the call is refused
        return self.places.hold(owner.slug, pause, is_alone=is_alone)

    def watch(
        self, context: ToolContext, path: str | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Record what a call changes during the block, or what it does to one path."""
        owner = context.memory_owner
        if self._versions is None or owner is None:
            return nullcontext()
        return self._versions.watch(owner, context.turn_id, self.backend, path)

    def read_path(self, arguments: Mapping[str, object], name: str = "path") -> str:
        """Return a path argument; a home that models name is the workspace.

        Without a sandbox, commands have another home. Raises as `read_text`.
        """
        path = read_text(arguments, name)
        return strip_home(path) if self.backend.is_confined else path

    async def await_writes(self, slug: str) -> None:
        """Wait until the file changes that were asked for earlier are made.

        A model may write a script, and run it, in one answer.
        """
        async with self.lock(slug):
            return

    async def keep_output(self, slug: str, call_id: CallId, data: bytes) -> str:
        """Write a long output to a file; return a clause that names the file.

        Raises `BackendUnavailable`.
        """
        path = f"{OUTPUTS}/{re.sub('[^0-9A-Za-z]', '', call_id)[-12:]}.txt"
        try:
            await self.backend.write_file(slug, path, data)
        except WorkspaceError:
            return "the rest is lost, because the workspace is full"
        return f"all of it is in {path}: read on with `read_file`"

    async def keep(self, text: str, context: ToolContext) -> str:
        """Write a long result of any tool to its person's workspace; see `Overflow`."""
        owner = context.memory_owner
        if owner is None or owner.kind != "human":
            return ""
        try:
            return await self.keep_output(
                owner.slug, context.call_id, text.encode("utf-8", "replace")
            )
        except CoreError as error:
            return f"the rest is lost: {error}"

    async def read(self, slug: str, path: str) -> FileContent:
        """Read a whole text file. Raises `WorkspaceError`, also if the file is too long."""
        found = await self.read_any(slug, path)
        refuse_binary(path, found)
        return found

    async def read_any(self, slug: str, path: str) -> FileContent:
        """Read a whole file, text or binary. Raises the errors of `read`."""
        found = await self.backend.read_file(slug, path, MOST_BYTES)
        if found.size > MOST_BYTES:
            raise WorkspaceError(
                f"`{path}` has {found.size:,} bytes, and at most {MOST_BYTES:,} can be read at"
                " once; read a part of it in `terminal` with head, tail or sed"
            )
        return found


def strip_home(path: str) -> str:
    """Return a path in the workspace without the home that models put in front of it."""
    for home in _HOMES:
        if path == home or path.startswith(f"{home}/"):
            return path[len(home) :].lstrip("/") or "."
    return path


def refuse_binary(path: str, found: FileContent) -> None:
    """Raise `WorkspaceError` if a file is not text."""
    if b"\0" in found.data:
        raise WorkspaceError(
            f"`{path}` is binary ({found.size:,} bytes); look at it in `terminal`, for instance"
            " with file or xxd"
        )


def find_slug(context: ToolContext) -> str:
    """Return the slug of the person whose workspace a call uses. Raises `ToolArgumentError`."""
    owner = context.memory_owner
    if owner is None or owner.kind != "human":
        raise ToolArgumentError("there is no workspace in a group or channel")
    return owner.slug


def read_text(arguments: Mapping[str, object], name: str) -> str:
    """Return a text argument; "" if it is missing. Raises `ToolArgumentError` for a NUL in it."""
    value = str(arguments.get(name, ""))
    if "\0" in value:
        raise ToolArgumentError(f"`{name}` can't hold a NUL character")
    return value
