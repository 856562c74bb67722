"""Workspaces on other machines, with small programs that read and write a file there.

The programs run as commands, so no link leads out of the files that commands can see. `$WORKSPACE`
is the path of the workspace, without links.
"""

import asyncio
from abc import ABC, abstractmethod
from pathlib import Path

from agent_core.errors import BackendUnavailable, WorkspaceError
from agent_core.execution import files
from agent_core.execution.contract import Command, FileContent, Process
from agent_core.execution.folders import check_name, shorten
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.supervised_process import SupervisedProcess
from agent_core.execution.supervisor_script import MEASURE

_SECONDS = 30.0
_CHECK = r"""
path=$1
case $path in /*) echo 'leads out of the workspace'; exit 1 ;; esac
place=$(realpath -m -- "$WORKSPACE/$path") 2>/dev/null
case $place/ in "$WORKSPACE"/*) ;; *) echo 'leads out of the workspace'; exit 1 ;; esac
"""
_READ = (
    _CHECK
    + r"""
[ -L "$WORKSPACE/$path" ] && [ ! -e "$WORKSPACE/$path" ] && { echo 'is a circle of links'; exit 1; }
[ -e "$place" ] && [ -e "$WORKSPACE/$path" ] || { echo 'does not exist'; exit 1; }
[ -d "$place" ] && { echo 'is a folder'; exit 1; }
[ -f "$place" ] || { echo 'is no plain file'; exit 1; }
size=$(stat -c %s -- "$place") && echo "$size" && exec head -c "$2" -- "$place"
"""
)
_WRITE = (
    MEASURE
    + r"""
case $1 in ''|.|..|*/|*/.|*/..) echo 'names no file'; exit 1 ;; esac
case $1 in */*) folder=${1%/*} ;; *) folder=. ;; esac
name=${1##*/} most=$2
set -- "$folder"
"""
    + _CHECK
    + r"""
if [ "$(measure "$WORKSPACE")" -gt $((most / 1024)) ]; then
    echo "can't be written: the workspace is full"; exit 1
fi
exec 2> /dev/null
mkdir -p -m 700 -- "$place" && cd -- "$place" || { echo "can't be written there"; exit 1; }
[ -d "$name" ] && [ ! -L "$name" ] && { echo 'is a folder'; exit 1; }
draft=$(mktemp .XXXXXXXXXXXX.part) || { echo "can't be written there"; exit 1; }
trap 'rm -f -- "$draft"' EXIT
cat > "$draft" || { echo "can't be written"; exit 1; }
[ -f "$name" ] && [ ! -L "$name" ] && chmod --reference="$name" -- "$draft"
mv -fT -- "$draft" "$name" || { echo "can't be written"; exit 1; }
"""
)


class RemoteWorkspaces(ABC):
    """The base of backends with workspaces on other machines; each starts commands its own way."""

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self._has_abandoned = False
        self._ending = asyncio.Lock()

    def find_seconds(self, workspace: str) -> int:
        """Return the longest time of a command; see `Backend`."""
        return self._limits.seconds

    def find_place(self, workspace: str) -> Path | None:
        """Return None: the workspaces are elsewhere."""
        return None

    async def end_abandoned(self) -> int:
        """End commands of an earlier gateway; if that fails, each command first tries again."""
        self._has_abandoned = True
        return await self._end_abandoned()

    async def _end_abandoned(self) -> int:
        async with self._ending:
            if not self._has_abandoned:
                return 0
            ended = await self._end_there()
            self._has_abandoned = False
            return ended

    @abstractmethod
    async def _end_there(self) -> int:
        """End what earlier gateways left running on the other machine; return the number."""

    async def start(self, command: Command) -> SupervisedProcess:
        """Start a command on the other machine; see `Backend`."""
        check_name(command.workspace)
        if any("\0" in word for word in (*command.argv, command.folder)):
            raise WorkspaceError("a command can't hold a NUL character")
        folder = shorten(command.folder)
        if folder.startswith("/"):
            raise WorkspaceError(f"`{folder}` leads out of the workspace")
        await self._end_abandoned()
        return await self._start_in(command, folder or ".")

    @abstractmethod
    async def _start_in(self, command: Command, folder: str) -> SupervisedProcess:
        """Start a command in a folder of its workspace; the folder may be missing."""

    async def read_file(self, workspace: str, path: str, most: int) -> FileContent:
        """Read the beginning of a file with a program on the other machine; see `Backend`."""
        output = await self._run(workspace, path, _READ, str(most))
        size, _, data = output.partition(b"\n")
        return FileContent(data=data, size=int(size))

    async def write_file(self, workspace: str, path: str, data: bytes) -> None:
        """Replace a file atomically, with a program on the other machine; see `Backend`."""
        await self._run(workspace, path, _WRITE, str(self._limits.workspace), data)

    async def _run(
        self, workspace: str, path: str, program: str, number: str, data: bytes | None = None
    ) -> bytes:
        path = shorten(path)
        with files.errors_of(path):
            words = ("/bin/bash", "-c", program, "file", path, number)
            has_input = data is not None
            process = await self.start(
                Command(workspace=workspace, argv=words, has_input=has_input)
            )
        return await _collect(process, path, data)


async def _collect(process: Process, path: str, data: bytes | None = None) -> bytes:
    """Run a small program on a file. Raises `WorkspaceError` with the program's complaint."""
    output = bytearray()
    try:
        async with asyncio.timeout(_SECONDS):
            if data is not None:
                for piece in (data, b"") if data else (b"",):
                    await process.write(piece)
            while piece := await process.read():
                output += piece
            ended = await process.wait()
    except TimeoutError as error:
        raise BackendUnavailable("the other machine does not answer in time") from error
    finally:
        await process.kill()
    if ended.status or ended.limit:
        complaint = output.decode(errors="replace").strip() or "can't be used"
        raise WorkspaceError(f"`{path}` {complaint}")
    return bytes(output)
