"""Runs the command of a script job: bounded in time and output, and never left behind."""

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LONGEST = 300.0
"""Seconds that a command may take."""
MOST_OUTPUT = 200_000
"""Bytes of output that are kept; a command that says more is stopped."""
_SHOWN_ERROR = 500
_GRACE = 2.0
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "TMPDIR")
"""What a command is told of the environment: no token and no key is among it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command said; `fault` says why it did not work, "" if it did."""

    text: str
    fault: str = ""


async def run_script(body: str, folder: Path, environ: Mapping[str, str]) -> Output:
    """Run a command line (JSON: a list of words) in a folder and wait for its end.

    Cancelling stops it, and what it has begun.
    """
    words = json.loads(body)
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env={name: environ[name] for name in _PASSED_ON if name in environ},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Output(text="", fault=f"{words[0]} can't be started: {error.strerror or error}.")
    except ValueError:
        return Output(text="", fault="its command line has a character in it that none may have.")
    try:
        async with asyncio.timeout(LONGEST):
            said, complained = await asyncio.gather(_read(process.stdout), _read(process.stderr))
            status = await process.wait()
    except TimeoutError:
        return Output(text="", fault=f"it was stopped: it took longer than {LONGEST:g} s.")
    except _TooMuch:
        return Output(text="", fault=f"it was stopped: it said more than {MOST_OUTPUT:,} bytes.")
    finally:
        await _end(process)
    if status:
        return Output(text="", fault=f"it ended with status {status}. {complained[-_SHOWN_ERROR:]}")
    return Output(text=said)


class _TooMuch(Exception):
    """A command says more than anybody would read."""


async def _read(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None  # noqa: S101 - both are pipes
    kept = bytearray()
    while piece := await stream.read(65_536):
        kept += piece
        if len(kept) > MOST_OUTPUT:
            raise _TooMuch
    return kept.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the command's whole group: asked first, then made to."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        if process.returncode is not None:
            continue
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await process.wait()
