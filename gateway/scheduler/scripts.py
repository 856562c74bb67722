"""Runs the command of a script job: bounded in time and output, and never left behind."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.subprocesses import spawn
from gateway.jobs.history import clean

LONGEST = 300.0
"""Seconds that a command may take."""
MOST_OUTPUT = 200_000
"""Bytes of output that are kept; a command that says more is stopped."""
_WARDEN = Path(__file__).with_name("process_reaper.py")
_SHOWN_ERROR = 500
_REAP_SECONDS = 10.0
"""More than the warden takes to end whatever there is."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "TMPDIR")
"""What a command is told of the environment: no token and no key is among it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command said, cleaned; `fault` says why it did not work, "" if it did."""

    text: str
    fault: str = ""


async def run_script(
    body: str, folder: Path, environ: Mapping[str, str], *, longest: float = LONGEST
) -> Output:
    """Run a command line (JSON: a list of words) in a folder and wait for its end.

    What it leaves running is ended with it, and so is all of it after `longest` seconds, when
    this is cancelled, and when this process dies.
    """
    words = json.loads(body)
    try:
        process = await spawn(
            (sys.executable, "-I", "-S", str(_WARDEN), *words),
            _end_unheard,
            environ={name: environ[name] for name in _PASSED_ON if name in environ},
            folder=folder,
        )
    except OSError as error:
        return Output(text="", fault=f"{words[0]} can't be started: {error.strerror or error}.")
    except ValueError:
        return Output(text="", fault="its command line has a character in it that none may have.")
    return await _attend(process, longest)


async def _attend(process: asyncio.subprocess.Process, longest: float) -> Output:
    is_full = asyncio.Event()
    hearing = _hear_all(process, is_full)
    bound = asyncio.create_task(is_full.wait())
    try:
        await asyncio.wait((hearing, bound), timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        is_late = not hearing.done()
    finally:
        bound.cancel()
        await _end(process, hearing)
    if is_full.is_set():
        return Output(text="", fault=f"it was stopped: it said more than {MOST_OUTPUT:,} bytes.")
    if is_late:
        return Output(text="", fault=f"it was stopped: it took longer than {longest:g} s.")
    said, complained, status = hearing.result()
    if status:
        shown = clean(complained)[-_SHOWN_ERROR:]
        return Output(text="", fault=f"it ended with status {status}. {shown}")
    return Output(text=clean(said))


async def _end_unheard(process: asyncio.subprocess.Process) -> None:
    await _end(process, _hear_all(process, asyncio.Event()))


def _hear_all(
    process: asyncio.subprocess.Process, is_full: asyncio.Event
) -> asyncio.Future[tuple[str, str, int]]:
    return asyncio.gather(
        _hear(process.stdout, is_full), _hear(process.stderr, is_full), process.wait()
    )


async def _hear(stream: asyncio.StreamReader | None, is_full: asyncio.Event) -> str:
    """The beginning of what a stream says. It is read to its end all the same: asyncio does not
    see the end of a process while a pipe of it stays full.
    """
    assert stream is not None  # noqa: S101 - both are pipes
    kept = bytearray()
    while piece := await stream.read(65_536):
        if len(kept) + len(piece) > MOST_OUTPUT:
            is_full.set()
        kept += piece[: MOST_OUTPUT - len(kept)]
    return kept.decode("utf-8", "replace")


async def _end(
    process: asyncio.subprocess.Process, hearing: asyncio.Future[tuple[str, str, int]]
) -> None:
    """Let the warden end all that there is; what it should leave in its group is ended here."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()
    try:
        async with asyncio.timeout(_REAP_SECONDS):
            await hearing
    except TimeoutError:
        _log.error("processes of a command can't be ended; the warden was %d", process.pid)
    finally:  # also where nobody waits any longer
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
