"""Walk from a fresh clone to a first answer on an emulated phone, and record the terminal.

    python -m tools.first_answer REPOSITORY     write docs/images/first-answer.cast and .gif

A person types three commands into a shell with a new home, and answers the questions of the setup.
The phone is the emulated Telegram of the tests. The model has to run on this machine, at a port
where `talaria setup` looks; PYTHON names the interpreter, and no uv is in the way. The cast is an
asciicast of version 2; the GIF shortens the waits.
"""

import asyncio
import json
import os
import pty
import re
import select
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bench.population import POPULATIONS
from tests.emulators.telegram_cast import ANNA

ROOT = Path(__file__).resolve().parents[1]
CAST = ROOT / "docs" / "images" / "first-answer.cast"
COLUMNS, ROWS = 92, 26
_PATIENCE = 900.0
_LONGEST_WAIT = 1.2
"""Seconds of a wait in the GIF."""
_KEY = 0.03
_SIZE, _LEAD = 15, 20
_INK, _PAPER = "#d8dee4", "#15191e"
_ANSWER = re.compile(r"\b12\b|twelve", re.IGNORECASE)
_MOST_SHOWN = 120
"""Frames of the GIF."""
_CODE = re.compile(r"\x1b\[[0-9;?]*([A-Za-z])|\x1b\][^\x07]*\x07")


@dataclass(slots=True)
class Recording:
    """A shell in a terminal, with everything that it wrote and when."""

    descriptor: int
    began: float = field(default_factory=time.monotonic)
    events: list[tuple[float, str]] = field(default_factory=list)
    seen: str = ""

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read until the output matches, and drop it up to there."""
        latest = time.monotonic() + _PATIENCE
        while not (found := re.search(pattern, self.seen)):
            if time.monotonic() > latest:
                raise TimeoutError(f"{pattern} never came:\n{self.seen[-2000:]}")
            self._read(0.1)
        self.seen = self.seen[found.end() :]
        return found

    def type(self, keys: str) -> None:
        """Type as a person does, and read what is echoed."""
        for key in keys:
            os.write(self.descriptor, key.encode())
            self._read(_KEY)

    def _read(self, seconds: float) -> None:
        if select.select([self.descriptor], [], [], seconds)[0]:
            said = os.read(self.descriptor, 65_536).decode(errors="replace")
            self.events.append((time.monotonic() - self.began, said))
            self.seen += _CODE.sub("", said)


def open_shell(home: Path, folder: Path, variables: dict[str, str]) -> tuple[int, Recording]:
    """Start a shell with a new home in a terminal of its own."""
    given = {
        **{
            name: os.environ[name]
            for name in os.environ
            if re.match(r"(?i)pip_|.*_proxy$|ssl_", name)
        },
        **variables,
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "PS1": "$ ",
    }
    if mode := os.environ.get("TALARIA_MODEL__MODE"):
        given["TALARIA_MODEL__MODE"] = mode
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile"], given)
    return pid, Recording(descriptor)


async def walk(
    repository: str, folder: Path, python: str
) -> tuple[Recording, list[tuple[str, float]]]:
    """Type the three commands; return the recording and the moments of the steps."""
    steps: list[tuple[str, float]] = []
    async with POPULATIONS["telegram"]() as people:
        given = people.environ()
        token = given.pop("TELEGRAM_BOT_TOKEN")
        pid, shell = open_shell(folder, folder, dict(given))

        def note(what: str) -> None:
            steps.append((what, time.monotonic() - shell.began))

        def set_up() -> str:
            shell.wait_for(r"\$ $")
            shell.type(f"git clone -q {repository} talaria\n")
            shell.wait_for(r"\$ $")
            note("cloned")
            shell.type("cd talaria\n")
            shell.wait_for(r"\$ $")
            shell.type(f"make{f' PYTHON={python}' if python else ''} run\n")
            shell.wait_for(r"Set Talaria up now\? \[Y/n\]: ")
            note("installed")
            for question, answer in (
                (None, ""),
                (r"Choose \[1\]: ", ""),
                (r"Choose \[1\]: ", ""),
                (r"\(not shown\): ", token),
                (r"Choose \[\d\]: ", ""),
                (r"console page open .*: ", "n"),
                (r"Your name.*: ", "Anna"),
                (r"time zone .*: ", "Vienna"),
                (r"assistant's name .*: ", ""),
                (r"Its character.*: ", ""),
            ):
                if question:
                    shell.wait_for(question)
                shell.type(f"{answer}\n")
            link = shell.wait_for(r"start=(claim-\S+)")[1]
            shell.wait_for(r"Ready\. Ctrl-C stops it\.")
            note("ready")
            return link

        link = await asyncio.to_thread(set_up)
        await people.api.says(ANNA, f"/start {link}")
        await asyncio.to_thread(shell.wait_for, r"Hello, Anna! Telegram is connected")
        note("the bot knows its owner")
        before = len(people.api.messages(ANNA))
        await people.api.says(ANNA, "Hello! What is three times four?")
        while (  # noqa: ASYNC110 - the emulator has no signal
            not (new := people.api.messages(ANNA)[before:]) or not _ANSWER.search(new[-1].text)
        ):
            await asyncio.sleep(0.05)
        note(f"first answer: {new[-1].text}")

        def stop() -> None:
            shell.type("\x03")
            shell.wait_for(r"Nothing is lost\.[\s\S]*\$ $")
            note("stopped")
            shell.type("exit\n")

        await asyncio.to_thread(stop)
        await asyncio.to_thread(os.waitpid, pid, 0)
    return shell, steps


def write_cast(recording: Recording, path: Path) -> None:
    """Write an asciicast of version 2."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS}
    lines = [
        json.dumps(head),
        *(json.dumps([round(at, 3), "o", said]) for at, said in recording.events),
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def show(said: str) -> list[str]:
    """Return the lines on the screen after some output: what a plain terminal would show."""
    lines, column = [""], 0
    for piece in re.split(r"(\r\n|\r|\n|\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07)", said):
        if piece in ("\n", "\r\n"):
            lines.append("")
            column = 0
        elif piece == "\r":
            column = 0
        elif piece.endswith("K") and piece.startswith("\x1b"):
            lines[-1] = lines[-1][:column]
        elif not piece.startswith("\x1b"):
            lines[-1] = lines[-1][:column] + piece + lines[-1][column + len(piece) :]
            column += len(piece)
    wrapped = [
        line[at : at + COLUMNS] for line in lines for at in range(0, max(1, len(line)), COLUMNS)
    ]
    return wrapped[-ROWS:]


def _choose_frames(events: Sequence[tuple[float, str]]) -> Iterator[tuple[str, int]]:
    """Yield the output so far and how long it stays, in milliseconds, in few frames."""
    least, said, pending = max(0.12, len(events) / _MOST_SHOWN * 0.03), "", 0.0
    for (at, piece), (after, _) in zip(events, [*events[1:], (events[-1][0] + 4, "")], strict=True):
        said += piece
        pending += min(after - at, _LONGEST_WAIT)
        if pending >= least:
            yield said, int(pending * 1000)
            pending = 0.0
    yield said, 4000


def write_gif(recording: Recording, path: Path) -> None:
    """Draw the recording; waits are cut."""
    font = ImageFont.truetype("DejaVuSansMono.ttf", _SIZE)
    width = int(font.getlength("m") * COLUMNS) + 2 * _LEAD
    frames, times = [], []
    for said, lasts in _choose_frames(recording.events):
        picture = Image.new("RGB", (width, _LEAD * (ROWS + 1)), _PAPER)
        pen = ImageDraw.Draw(picture)
        for row, line in enumerate(show(said)):
            pen.text((_LEAD, _LEAD // 2 + row * _LEAD), line, font=font, fill=_INK)
        frames.append(picture.quantize(8, dither=Image.Dither.NONE))
        times.append(lasts)
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True
    )


async def _main(repository: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        shell, steps = await walk(repository, Path(name), os.environ.get("PYTHON", ""))
    write_cast(shell, CAST)
    write_gif(shell, CAST.with_suffix(".gif"))
    for what, moment in steps:
        print(f"{moment:7.1f} s  {what}")


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
