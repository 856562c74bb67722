"""Several backends as one: each person's workspace is in the backend that the owner chose."""

from collections.abc import Mapping
from contextlib import suppress

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Backend, Command, FileContent, Process
from agent_core.execution.folders import find_own


class SelectedBackends:
    """Passes every call on to the backend of its workspace; see `Backend`."""

    def __init__(
        self,
        default: Backend | None,
        chosen: Mapping[str, Backend],
        purposes: Mapping[str, Backend] | None = None,
    ) -> None:
        """`chosen` holds the backends by workspace; None where all others have none.

        `purposes` holds those of jobs and skills, which their toolboxes use instead of this.
        """
        self.purposes = dict(purposes or {})
        self._default = default
        self._chosen = dict(chosen)
        self._people = [*([default] if default else ()), *chosen.values()]
        self._all = list(dict.fromkeys((*self._people, *self.purposes.values())))
        self.names = tuple(backend.name for backend in self._all)

    @property
    def name(self) -> str:
        """The names of all."""
        return ", ".join(self.names)

    @property
    def is_confined(self) -> bool:
        """True if all backends of people are."""
        return all(backend.is_confined for backend in self._people)

    def has_network(self, workspace: str) -> bool:
        """Ask the backend of the workspace; see `Backend`."""
        backend = self._chosen.get(find_own(workspace), self._default)
        return backend is not None and backend.has_network(workspace)

    async def end_abandoned(self) -> int:
        """Ask all of them; one that can't be reached now keeps it for its first command."""
        ended = 0
        for backend in self._all:
            with suppress(BackendUnavailable):  # `list_faults` tells of it
                ended += await backend.end_abandoned()
        return ended

    async def start(self, command: Command) -> Process:
        """Start a command in its workspace's backend; see `Backend`."""
        return await self._find(command.workspace).start(command)

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        return await self._find(workspace).read_file(workspace, path, most)

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file at once; see `Backend`."""
        await self._find(workspace).write_file(workspace, path, data)

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._find(workspace).stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Give back what an idle workspace takes; see `Backend`."""
        await self._find(workspace).sleep(workspace)

    async def close(self) -> None:
        """Close all of them; see `Backend`."""
        for backend in self._all:
            await backend.close()

    async def health(self) -> None:
        """Try all of them. Raises `BackendUnavailable` with every reason, if none works."""
        reasons = await self.list_faults()
        if len(reasons) == len(self._all):
            raise BackendUnavailable("; ".join(reasons.values()))

    async def list_faults(self) -> dict[str, str]:
        """Try all of them; return the names of those that fail, each with its reason."""
        faults = {}
        for backend in self._all:
            try:
                await backend.health()
            except BackendUnavailable as error:
                faults[backend.name] = str(error)
        return faults

    def _find(self, workspace: str) -> Backend:
        backend = self._chosen.get(find_own(workspace), self._default)
        if backend is None:
            raise BackendUnavailable(
                "this person has no place for commands and files; the owner can choose one with"
                " `[[tools.backends]]` in config.toml"
            )
        return backend
