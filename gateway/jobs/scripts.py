"""Runs the command of a script job with limits on time and output, and kills what it leaves."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.execution.subprocesses.reaped_command import Bounds, OutputTooLong, run_reaped
from gateway.jobs.history import clean_output
from gateway.texts.job_results import (
    SCRIPT_INVALID,
    SCRIPT_LOUD,
    SCRIPT_SLOW,
    SCRIPT_UNSTARTED,
    describe_script_failure,
)

LONGEST = 300.0
"""Seconds that a script may run."""
MOST_OUTPUT = 200_000
"""Bytes of output that are kept; a script that writes more is stopped."""
_SHOWN_ERROR = 500
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "TMPDIR")
"""Environment variables that scripts inherit; none of them holds a token or a key."""


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
    given: str = "",
) -> Output:
    """Run a command line (a JSON list of words) in a folder, and wait for its end.

    Its standard input is `given`.

    Processes that it leaves behind are killed. All its processes are killed beyond a limit, after
    `longest` seconds, on cancellation, and when this process dies.
    """
    words = json.loads(body)
    try:
        with _open_input(given) as source:
            ended = await run_reaped(
                words,
                limits,
                Bounds(seconds=longest, output=MOST_OUTPUT),
                environ={name: environ[name] for name in _INHERITED if name in environ},
                folder=folder,
                source=source,
            )
    except TimeoutError:
        return Output(text="", fault=SCRIPT_SLOW(seconds=f"{longest:g}"))
    except OutputTooLong:
        return Output(text="", fault=SCRIPT_LOUD(most=MOST_OUTPUT))
    except OSError as error:
        fault = SCRIPT_UNSTARTED(name=words[0], fault=error.strerror or error)
        return Output(text="", fault=fault)
    except ValueError:
        return Output(text="", fault=SCRIPT_INVALID())
    if ended.status:
        shown = clean_output(ended.errors.decode(errors="replace"))[-_SHOWN_ERROR:]
        fault = describe_script_failure(ended.status, shown)
        return Output(text="", fault=fault, status=ended.status)
    return Output(text=clean_output(ended.output.decode(errors="replace")))


@contextmanager
def _open_input(given: str) -> Iterator[str]:
    """Yield the path of a file with a command's input. Raises `OSError`."""
    if not given:
        yield os.devnull
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(given.encode(errors="replace"))
        file.flush()
        yield file.name
