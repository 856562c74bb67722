"""The contract of a compared bot: its files, its command, and how a crash is made."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.processes import ROOT, clean_environment

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 60.0
"""Seconds until a bot that was asked to stop is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a bot runs: a folder of its own, its platform, and its model.

    `telegram` is the address of the Bot API, which ends before `/bot`. `model` is the address of a
    server that speaks OpenAI's chat completions below `/v1`, and Anthropic's messages.
    """

    home: Path
    telegram: str
    token: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A command with its variables; nothing else of this process's environment reaches it."""

    argv: Sequence[str]
    environ: Mapping[str, str]


class Bot(Protocol):
    """A bot that can be compared. Anybody may answer people whom it does not know."""

    name: str

    def find_fault(self) -> str:
        """Return why it can't run here, in one sentence; "" if it can."""

    def prepare(self, place: Place) -> Launch:
        """Write its settings into the place, and return its command; called before each start."""


@dataclass(slots=True)
class Running:
    """One bot's process, which is started and ended again and again."""

    bot: Bot
    place: Place
    _process: asyncio.subprocess.Process | None = field(default=None, init=False)

    async def start(self) -> None:
        """Start the bot in a process group of its own."""
        launch = self.bot.prepare(self.place)
        with (self.place.home / "output.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *launch.argv,
                cwd=ROOT,
                env=clean_environment(launch.environ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def stop(self) -> None:
        """Ask the bot to end; kill it if it does not."""
        process, self._process = self._process, None
        if process is None:
            return
        tree = _list_tree(process.pid)
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(_PATIENCE):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        _kill(tree)

    async def kill(self) -> None:
        """Kill the bot with everything that it started, as a power failure would."""
        process, self._process = self._process, None
        if process is None:
            return
        os.kill(process.pid, signal.SIGSTOP)  # it starts nothing while its tree is listed
        _kill(_list_tree(process.pid))
        await process.wait()

    def cpu_seconds(self) -> float:
        """Return the processor's time of the bot, and of all that it started and waited for."""
        return sum(sum(_read_times(pid)) for pid in self._tree())

    def resident_bytes(self) -> int:
        """Return the memory of the bot and all that it started; shared pages count once."""
        return sum(_read_memory(pid) for pid in self._tree())

    def _tree(self) -> list[int]:
        return _list_tree(self._process.pid) if self._process else []


def _list_tree(root: int) -> list[int]:
    """List a process with those below it, in whatever group or session they are."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            with suppress(OSError):
                found += map(int, (task / "children").read_text("ascii").split())
    return found


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _read_times(pid: int) -> Sequence[float]:
    """Return user and system time in seconds, of a process and of its ended children."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:  # it has just ended
        return ()
    return [int(one) / _TICKS for one in stat.rpartition(")")[2].split()[11:15]]


def _read_memory(pid: int) -> int:
    try:
        said = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in said.splitlines() if line[:4] == "Pss:")
