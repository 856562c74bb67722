"""Runs the command of a script job with limits on time and output, and kills what it leaves."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_core.subprocesses.confinement import ScriptLimits
from agent_core.subprocesses.program import make_command
from agent_core.subprocesses.spawning import spawn
from gateway.jobs import clean_output

LONGEST = 300.0
"""Seconds that a script may run."""
MOST_OUTPUT = 200_000
"""Bytes of output that are kept; a script that writes more is stopped."""
_REAPER = "gateway.scheduler.process_reaper"
_SHOWN_ERROR = 500
_REAP_SECONDS = 10.0
"""More than the reaper takes to kill every process."""
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "TMPDIR")
"""Environment variables that scripts inherit; none of them holds a token or a key."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The cleaned output of a script; `fault` is the error, or an empty text.

    `status` is that of a command that ended by itself.
    """

    text: str
    fault: str = ""
    status: int = 0


async def run_script(
    body: str,
    folder: Path,
    environ: Mapping[str, str],
    limits: ScriptLimits,
    *,
    longest: float = LONGEST,
) -> Output:
    """Run a command line (a JSON list of words) in a folder, and wait for its end.

    Processes that it leaves are killed. So are all of them beyond a limit, after `longest`
    seconds, on cancellation, and when this process dies.
    """
    words = json.loads(body)
    bounds = (limits.memory, limits.file, limits.processes)
    try:
        process = await spawn(
            make_command(_REAPER, *map(str, bounds), *words, has_packages=False),
            _abandon,
            environ={name: environ[name] for name in _INHERITED if name in environ},
            folder=folder,
        )
    except OSError as error:
        return Output(text="", fault=f"{words[0]} can't be started: {error.strerror or error}.")
    except ValueError:
        return Output(text="", fault="its command line contains an invalid character.")
    return await _supervise(process, longest)


async def _supervise(process: asyncio.subprocess.Process, longest: float) -> Output:
    is_over_limit = asyncio.Event()
    reading = _read_all(process, is_over_limit)
    bound = asyncio.create_task(is_over_limit.wait())
    try:
        await asyncio.wait((reading, bound), timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        is_late = not reading.done()
    finally:
        bound.cancel()
        await _stop(process, reading)
    if is_over_limit.is_set():
        return Output(
            text="", fault=f"it was stopped after writing more than {MOST_OUTPUT:,} bytes."
        )
    if is_late:
        return Output(text="", fault=f"it was stopped after {longest:g} s.")
    said, errors, status = reading.result()
    if status:
        shown = clean_output(errors)[-_SHOWN_ERROR:]
        return Output(text="", fault=f"it ended with status {status}. {shown}", status=status)
    return Output(text=clean_output(said))


async def _abandon(process: asyncio.subprocess.Process) -> None:
    await _stop(process, _read_all(process, asyncio.Event()))


def _read_all(
    process: asyncio.subprocess.Process, is_over_limit: asyncio.Event
) -> asyncio.Future[tuple[str, str, int]]:
    return asyncio.gather(
        _read_stream(process.stdout, is_over_limit),
        _read_stream(process.stderr, is_over_limit),
        process.wait(),
    )


async def _read_stream(stream: asyncio.StreamReader | None, is_over_limit: asyncio.Event) -> str:
    """Read a stream to its end, and return its beginning.

    asyncio does not notice the end of a process while one of its pipes is full.
    """
    assert stream is not None  # noqa: S101 - both are pipes
    kept = bytearray()
    while piece := await stream.read(65_536):
        if len(kept) + len(piece) > MOST_OUTPUT:
            is_over_limit.set()
        kept += piece[: MOST_OUTPUT - len(kept)]
    return kept.decode("utf-8", "replace")


async def _stop(
    process: asyncio.subprocess.Process, reading: asyncio.Future[tuple[str, str, int]]
) -> None:
    """Have the reaper kill every process; it goes on alone if that takes longer than expected."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()
    done, _ = await asyncio.wait((reading,), timeout=_REAP_SECONDS)
    if not done:
        _log.error("processes of a script can't be killed; the reaper is %d", process.pid)
