"""The commands that a backend keeps until they end."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from agent_core.execution.supervised_process import start_supervised
from agent_core.execution.timed_command import RunningCommands
from tests.patience import PATIENCE


class Ended:
    """A command that ends when it is killed."""

    def __init__(self) -> None:
        self.on_end: Callable[[], object] = lambda: None

    async def kill(self) -> None:
        self.on_end()


async def test_each_kept_command_is_noted_once_when_it_ends() -> None:
    noted: list[tuple[str, Ended]] = []
    running = RunningCommands[Ended](lambda *ended: noted.append(ended))
    kept, other, unkept = Ended(), Ended(), Ended()
    running.add("anna", kept)
    running.add("ben", other)
    await unkept.kill()
    await running.stop("anna")
    await kept.kill()
    assert noted == [("anna", kept)]
    assert (running.has("anna"), running.has("ben"), running.has("eva")) == (False, True, False)
    await running.stop_all()
    assert noted == [("anna", kept), ("ben", other)]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.thorough
async def test_a_killed_command_ends_although_another_process_holds_its_outputs() -> None:
    """A master of ssh that hangs keeps the outputs of its clients."""
    holders = []

    async def note(pid: int) -> None:
        holders.append(pid)

    script = "setsid sleep 1000 & echo supervisor: ready $! >&2; exec sleep 1000"
    argv = ("/bin/bash", "-c", script)
    process = await start_supervised(argv, b"\n", {"PATH": os.defpath}, note)
    await process.kill()
    async with asyncio.timeout(PATIENCE):
        ended = await process.wait()
        os.kill(holders[0], signal.SIGKILL)
        assert await process.read() == b""
        assert await process._stderr.readline() == b""
    assert ended.status == 137
