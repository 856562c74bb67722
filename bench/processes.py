"""Measured programs: started, watched through /proc, ended by their own id."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 60.0
"""Timeout in seconds of everything here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A running process. `started` is monotonic seconds."""

    pid: int
    started: float
    output: asyncio.StreamReader

    def cpu_seconds(self) -> float:
        """User and system time so far, in steps of 10 ms."""
        stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii")
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        """Current resident memory."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise ValueError(f"process {self.pid} has no VmRSS")


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the developer's own settings."""
    kept = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | dict(extra)


@asynccontextmanager
async def run_program(
    arguments: Sequence[str], environ: Mapping[str, str], log: Path
) -> AsyncIterator[Program]:
    """A Python program that runs during the block; ended by SIGTERM, then SIGKILL."""
    with log.open("ab") as errors:
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=ROOT,
            env=clean_environment(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        yield Program(pid=process.pid, started=started, output=process.stdout)
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(_PATIENCE):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


async def time_program(arguments: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the seconds a program takes; it must succeed."""
    started = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=ROOT,
        env=clean_environment(environ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(_PATIENCE):
        _, errors = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: {errors.decode(errors='replace')}")
    return time.monotonic() - started


@asynccontextmanager
async def run_server(module: str, *arguments: str) -> AsyncIterator[str]:
    """Run an emulator as its own process; returns its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        cwd=ROOT,
        env=clean_environment({}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(_PATIENCE):
            line = (await process.stdout.readline()).decode()
        if not line.startswith("listening on "):
            raise RuntimeError(f"{module} did not start: {line!r}")
        yield line.removeprefix("listening on ").strip()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
