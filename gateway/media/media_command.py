"""Runs the owner's programs for speech, confined like scripts, each in a folder of its own."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.execution.subprocesses.reaped_command import (
    Bounds,
    Ended,
    OutputTooLong,
    run_reaped,
)

FILE = "{file}"
"""Placeholder for the path of the file that a command reads."""
LANGUAGE = "{language}"
"""Placeholder for the language of the person, a BCP 47 tag."""
_MOST_SHOWN = 300


class CommandFailed(Exception):
    """A command can't be run, fails, or writes too much. The text is a clause for the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaCommand:
    """A program that turns one file into another. It runs without a shell.

    `environ` is its whole environment. `seconds` limits its time, and `most_bytes` its output.
    """

    words: Sequence[str]
    environ: Mapping[str, str] = field(repr=False)
    limits: ScriptLimits
    seconds: float
    most_bytes: int

    async def run(self, data: bytes, name: str, language: str = "") -> bytes:
        """Run the program on a file, and return its output.

        The program may also read the file from standard input. Raises `TimeoutError` and
        `CommandFailed`. Cancelling ends the program.
        """
        try:
            with tempfile.TemporaryDirectory(prefix="talaria-") as made:
                ended = await self._run(Path(made), data, name, language)
        except OutputTooLong as error:
            raise CommandFailed(f"it wrote more than {self.most_bytes:,} bytes") from error
        except TimeoutError:
            raise
        except (OSError, ValueError) as error:
            raise CommandFailed(f"it can't be run: {error}") from error
        if ended.status:
            last = ended.errors.decode(errors="replace").strip().rpartition("\n")[2]
            raise CommandFailed(f"it ended with status {ended.status}: {last[:_MOST_SHOWN]}")
        return ended.output

    async def _run(self, folder: Path, data: bytes, name: str, language: str) -> Ended:
        file = folder / name
        await asyncio.to_thread(file.write_bytes, data)
        return await run_reaped(
            [word.replace(FILE, str(file)).replace(LANGUAGE, language) for word in self.words],
            self.limits,
            Bounds(seconds=self.seconds, output=self.most_bytes),
            folder=folder,
            environ={**self.environ, "TMPDIR": str(folder)},
            source=str(file),
        )
