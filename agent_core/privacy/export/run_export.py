"""Run the program of an export, so that nobody waits for Python's lock meanwhile."""

import asyncio
import json
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_core.errors import StoreError
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn
from agent_core.privacy.export.export_order import ExportOrder, dump_order
from agent_core.privacy.progress import Progress, Report

_PROGRAM = "agent_core.privacy.export.export_program"
_SECONDS = 3600.0
"""The most seconds of an export; one of 500,000 messages took 107 s on a busy machine."""
_REAP_SECONDS = 5.0
_MOST_COMPLAINT = 2000

_log = logging.getLogger(__name__)


class ExportBroken(Exception):
    """The program of an export ended without an outcome."""


async def run_export(order: ExportOrder, report: Report) -> list[Path]:
    """Write the archives of an order into its folder, and return them.

    Cancelling kills the program. Raises `StoreError`, `OSError` if the disk is full or no program
    can be started, and `ExportBroken`.
    """
    process = await spawn(make_command(_PROGRAM), _kill, environ={"LANG": "C.UTF-8"})
    try:
        async with asyncio.timeout(_SECONDS):
            (outcome, names), complaint = await asyncio.gather(
                _exchange(process, order, report), _read_end(process.stderr)
            )
    except TimeoutError as error:
        raise ExportBroken(f"it took longer than {_SECONDS:g} s") from error
    finally:
        await _kill(process)
    if "store" in outcome:
        raise StoreError(outcome["store"])
    if "disk" in outcome:
        raise OSError(outcome["disk"], outcome["text"])
    if "is_done" not in outcome:
        _log.error("the program of an export ended with %s: %s", process.returncode, complaint)
        raise ExportBroken(f"its program ended with status {process.returncode}")
    return [order.folder / name for name in names]


async def _exchange(
    process: asyncio.subprocess.Process, order: ExportOrder, report: Report
) -> tuple[dict[str, Any], list[str]]:
    """Give the order, pass on the reports, and return the last line and the archives' names."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    said: dict[str, Any] = {}
    names: list[str] = []
    with suppress(BrokenPipeError, ConnectionResetError):  # it may have ended already
        process.stdin.write(f"{dump_order(order)}\n".encode())
        await process.stdin.drain()
    async for line in process.stdout:
        said = json.loads(line) if line.endswith(b"\n") else {}
        if "total" in said:
            report(Progress(stage="pack", done=said["done"], total=said["total"]))
        elif "archive" in said:
            names.append(said["archive"])
    return said, names


async def _read_end(stream: asyncio.StreamReader | None) -> str:
    """Read a stream to its end; return the last characters."""
    assert stream is not None  # noqa: S101 - it is a pipe
    kept = b""
    while piece := await stream.read(_MOST_COMPLAINT):
        kept = (kept + piece)[-_MOST_COMPLAINT:]
    return kept.decode(errors="replace")


async def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_SECONDS):
                await process.wait()
