"""Trace one answered message through the product's files.

`python -m tools.trace_message` starts a gateway in this process between an emulated chat platform
and an emulated model, sends it a message and prints the files that the message passes through:
from the arrival of the event until the answer is noted as sent.

`--files` lists each file with the first function that runs in it, instead of the whole path.
`--platform` chooses discord or slack instead of telegram.
"""

import argparse
import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dis import opmap
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from agent_core.ids import SessionId
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection, now
from bench.bots import compose_environment
from bench.population import POPULATIONS
from bench.quick_model import QuickModel
from gateway.app.build import run
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.turns.presenter import PresenterTimings

_ROOT = Path(__file__).resolve().parents[1]
_PRODUCT = tuple(f"{_ROOT / package}/" for package in ("gateway", "agent_core", "adapters"))
_PAUSE = 2 * 3_600_000
"""Milliseconds between the first message and the later ones.

The first message of a person fills caches and opens their session, for an hour each message may
answer their greeting, and one of the first gives the session a title. The path that matters is
that of every later message.
"""
_POLL = 0.005
_RESUME = opmap["RESUME"]
_KIND = 3
"""Bits of the operand of `RESUME`: 0 at the start of a function, else it continues (CPython's
`dis`).
"""
_LATER = 60.0
"""Seconds until a turn shows something before its answer. On a slow machine, too, the model counts
as one that answers at once.
"""

Step = tuple[str, str]
"""A file below the root, and a function in it."""


class Tracer:
    """Records the calls in product files, in every thread that starts after `install`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._is_recording = False

    def install(self) -> None:
        """Watch this thread and all later ones; `recording` turns the record on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def remove(self) -> None:
        """Stop watching this thread."""
        threading.setprofile(None)
        sys.setprofile(None)

    @contextmanager
    def recording(self, *, is_on: bool = True) -> Iterator[None]:
        """Record, or leave out, the calls in this block."""
        before, self._is_recording = self._is_recording, is_on
        try:
            yield
        finally:
            self._is_recording = before

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if self._is_recording and event == "call":
            code = frame.f_code
            if code.co_filename.startswith(_PRODUCT) and not _is_resumed(frame):
                self.steps.append((code.co_filename[len(str(_ROOT)) + 1 :], code.co_qualname))


def _is_resumed(frame: FrameType) -> bool:
    """Whether a coroutine or a generator continues, which the interpreter reports as a call, too.

    Whoever awaits the others is continued with each of them: the supervisor of a platform with
    each message.
    """
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] == _RESUME and bool(code[at + 1] & _KIND)


@asynccontextmanager
async def _serving(environ: dict[str, str], clock: Callable[[], int]) -> AsyncIterator[Gateway]:
    """Run a gateway with these variables and this clock; end it in order."""
    stop = asyncio.Event()
    opened: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()

    async def keep(gateway: Gateway) -> None:
        opened.set_result(gateway)

    display = PresenterTimings(first_indicator=_LATER, first_words=_LATER)
    timings = Timings(start_delay=_LATER, display=display)
    extensions = Extensions(now=clock, timings=timings)
    running = asyncio.create_task(
        run(load(environ), stop=stop, companions=(keep,), extensions=extensions)
    )
    await asyncio.wait((running, opened), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield opened.result()
    finally:
        stop.set()
        await running


async def trace(platform: str) -> list[Step]:
    """Send a message on an emulated platform and return the calls that answer it."""
    tracer = Tracer()
    tracer.install()
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="talaria-trace-")))
        model = QuickModel()
        await model.start()
        stack.push_async_callback(model.stop)
        population = await stack.enter_async_context(POPULATIONS[platform]())
        environ = compose_environment([population], model.url, home)
        ahead = 0
        gateway = await stack.enter_async_context(_serving(environ, lambda: now() + ahead))
        await population.wait_for_poll()
        await population.ask({0: "warm up."})
        await _until_at_rest(gateway, tracer)
        ahead = _PAUSE
        await gateway.database.write("trace.title", _give_title)
        await population.ask({0: "warm up again."})
        await _until_at_rest(gateway, tracer)
        with tracer.recording():
            await population.ask({0: "hello."})
            await _until_at_rest(gateway, tracer)
        tracer.remove()
    return tracer.steps


def _give_title(connection: Connection) -> None:
    """Name the only session."""
    sessions.set_title(connection, session_id=SessionId(1), title="Trace")


async def _until_at_rest(gateway: Gateway, tracer: Tracer) -> None:
    """Wait until the answer is noted as sent. The question itself is no part of the path."""
    while True:
        with tracer.recording(is_on=False):
            if gateway.is_at_rest():
                return
        await asyncio.sleep(_POLL)


def main(arguments: Sequence[str]) -> None:
    """Print the path, and how many files and changes of file it has."""
    parser = argparse.ArgumentParser(prog="trace_message", description=__doc__.splitlines()[0])
    parser.add_argument("--platform", choices=tuple(POPULATIONS), default="telegram")
    parser.add_argument("--files", action="store_true", help="list each file once")
    chosen = parser.parse_args(arguments)
    steps = asyncio.run(trace(chosen.platform))
    path = [next(group) for _, group in groupby(steps, key=lambda step: step[0])]
    firsts = dict(reversed(path))
    for file, function in sorted(firsts.items()) if chosen.files else path:
        print(f"{file:<56} {function}")
    print(f"{chosen.platform}: {len(firsts)} files, {len(path) - 1} file switches")


if __name__ == "__main__":
    main(sys.argv[1:])
