"""The contract of a compared bot: its files, its command, and how a crash is made."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.processes import ROOT, clean_environment

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
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """Kill the bot with everything that it started, as a power failure would."""
        await self._end(signal.SIGKILL)

    async def _end(self, kind: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        os.killpg(process.pid, kind)
        try:
            async with asyncio.timeout(_PATIENCE):
                await process.wait()
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
