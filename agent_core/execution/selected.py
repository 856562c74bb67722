"""Several backends as one: each workspace uses the backend that the owner chose for it."""

from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Backend, Command, FileContent, Process
from agent_core.execution.folders import find_own
from agent_core.execution.sandbox import MOST_SECONDS

UNKNOWN = "backend:"
"""The place of skills that name a backend which does not exist."""
_NO_PLACE = (
    "this person has no place for commands and files; the owner can choose one with"
    " `[[tools.backends]]` in config.toml"
)


def find_place(places: Container[str], skill: str, named: str) -> str:
    """Find where a skill works: as an owner chose, else as its file says; "" for the usual place.

    `places` are keys of `SelectedBackends.purposes`, and without them there is only the usual one.
    `named` is the backend in the skill's file.
    """
    chosen, wished = f"skill:{skill}", f"backend:{named}"
    if chosen in places:
        return chosen
    if not named or UNKNOWN not in places:
        return ""
    return wished if wished in places else UNKNOWN


class SelectedBackends:
    """Passes every call to the backend of its workspace; see `Backend`."""

    def __init__(
        self,
        default: Backend | None,
        chosen: Mapping[str, Backend | None],
        purposes: Mapping[str, Backend] | None = None,
        refusal: str = _NO_PLACE,
    ) -> None:
        """`chosen` maps workspaces to backends; `default` serves the others. None refuses.

        `purposes` are the backends of jobs and skills (`job:TITLE`, `skill:NAME`), and those that
        skills may name (`backend:NAME`); their toolboxes use these directly. `refusal` is what a
        person reads who has none.
        """
        self.purposes = dict(purposes or {})
        self._default = default
        self._chosen = dict(chosen)
        self._refusal = refusal
        self._people = [one for one in (default, *chosen.values()) if one]
        owned: list[Backend] = []
        for one in self.purposes.values():
            owned += one._all if isinstance(one, SelectedBackends) else [one]
        self._all: list[Backend] = list(dict.fromkeys((*self._people, *owned)))
        self.names = tuple(backend.name for backend in self._all)

    @property
    def name(self) -> str:
        """The names of all backends."""
        return ", ".join(self.names)

    @property
    def is_confined(self) -> bool:
        """True if all backends of people are confined."""
        return all(backend.is_confined for backend in self._people)

    def has_network(self, workspace: str) -> bool:
        """Ask the backend of the workspace; see `Backend`."""
        backend = self._chosen.get(find_own(workspace), self._default)
        return backend is not None and backend.has_network(workspace)

    def has_wall(self, workspace: str) -> bool:
        """Ask the backend of the workspace; see `Backend`."""
        backend = self._chosen.get(find_own(workspace), self._default)
        return backend is not None and backend.has_wall(workspace)

    def find_seconds(self, workspace: str) -> int:
        """Ask the backend of the workspace; see `Backend`."""
        backend = self._chosen.get(find_own(workspace), self._default)
        return backend.find_seconds(workspace) if backend else MOST_SECONDS

    def find_place(self, workspace: str) -> Path | None:
        """Ask the backend of the workspace; see `Backend`."""
        backend = self._chosen.get(find_own(workspace), self._default)
        return backend.find_place(workspace) if backend else None

    async def end_abandoned(self) -> int:
        """Ask all backends; one that is unreachable now does this before its first command."""
        ended = 0
        for backend in self._all:
            with suppress(BackendUnavailable):  # `list_faults` reports it
                ended += await backend.end_abandoned()
        return ended

    async def start(self, command: Command) -> Process:
        """Start a command in its workspace's backend; see `Backend`."""
        return await self._find(command.workspace).start(command)

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file; see `Backend`."""
        return await self._find(workspace).read_file(workspace, path, most)

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file atomically; see `Backend`."""
        await self._find(workspace).write_file(workspace, path, data)

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._find(workspace).stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Free the resources of an idle workspace; see `Backend`."""
        await self._find(workspace).sleep(workspace)

    async def close(self) -> None:
        """Close all backends; see `Backend`."""
        for backend in self._all:
            await backend.close()

    async def health(self) -> None:
        """Check all backends. Raises `BackendUnavailable` with every reason if none works."""
        reasons = await self.list_faults()
        if len(reasons) == len(self._all):
            raise BackendUnavailable("; ".join(reasons.values()))

    async def list_faults(self) -> dict[str, str]:
        """Check all backends; return the names of those that fail, each with its reason."""
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
            raise BackendUnavailable(self._refusal)
        return backend
