"""`talaria` as its own process: run to its end, or kept running during a test."""

import asyncio
import ctypes
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.__main__ import main
from gateway.interfaces.subcommands import SUBCOMMANDS, name_module
from tests.architecture.source import ROOT
from tests.patience import PATIENCE

_POLL = 0.01


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str


def environ(home: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a process, without most of the tester's."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "LANG": "C.UTF-8",
        "TALARIA_HOME": str(home),
        "TALARIA_MODEL__FIND_LOCAL": "false",  # also for processes that are not forked
        **variables,
    }


FORKS = multiprocessing.get_context("forkserver")
# Importing takes a command a second or more of CPU, and a fork of who imported it none.
FORKS.set_forkserver_preload([*map(name_module, SUBCOMMANDS), "tests.forking"])


def talaria(home: Path, *words: str, given: str = "", **variables: str) -> Done:
    """Run a command to its end, forked from a process that has imported it.

    Raises `TimeoutError`.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        files[0].write_text(given, encoding="utf-8")
        try:
            code = run_fork(run_command, files, words, environ(home, **variables))
        except TimeoutError as error:
            said = "".join(file.read_text(encoding="utf-8") for file in files[1:] if file.exists())
            raise TimeoutError(f"{words} takes more than {PATIENCE:g} s:\n{said}") from error
        out, err = (file.read_text(encoding="utf-8") for file in files[1:])
        return Done(code=code, out=out, err=err)


def run_command(files: Sequence[Path], words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Run the command in the fork, with its own streams, environment and folder."""
    for number, file in enumerate(files):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(file, mode | os.O_NOCTTY), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8") for number, mode in enumerate("rww")
    )
    os.environ.clear()
    os.environ.update({"TALARIA_MODEL__FIND_LOCAL": "false", **variables})
    os.chdir(ROOT)
    sys.argv = [str(ROOT / "gateway" / "__main__.py"), *words]
    sys.exit(main())


async def talaria_beside(home: Path, *words: str, given: str = "", **variables: str) -> Done:
    """Run a command while this process serves its requests."""
    return await asyncio.to_thread(talaria, home, *words, given=given, **variables)


def run_fork(work: Callable[..., None], *arguments: object) -> int:
    """Run a function in a fork; return its exit code, negative for a signal.

    Raises `TimeoutError`.
    """
    process = FORKS.Process(target=work, args=arguments)
    process.start()
    process.join(PATIENCE)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(f"{work.__name__}{arguments} takes more than {PATIENCE:g} s")
    return process.exitcode


async def be_killed(
    work: Callable[..., Coroutine[object, object, None]], *arguments: object
) -> None:
    """Run what kills its own process in a fork. Raises `AssertionError` if it ends otherwise."""
    assert await asyncio.to_thread(run_fork, _run, work, *arguments) == -signal.SIGKILL


def _run(work: Callable[..., Coroutine[object, object, None]], *arguments: object) -> None:
    asyncio.run(work(*arguments))


class Fork:
    """A process forked from one that has imported everything; used like asyncio's own."""

    def __init__(
        self,
        files: Sequence[Path],
        words: Sequence[str],
        given: Mapping[str, str],
        run: Callable[[Sequence[Path], Sequence[str], Mapping[str, str]], None] = run_command,
    ) -> None:
        self._process = FORKS.Process(target=run, args=(files, words, given))
        self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    async def wait(self) -> int:
        return await asyncio.to_thread(self.join)

    def join(self) -> int:
        """Wait for its end as a thread that blocks; return its exit code."""
        self._process.join()
        assert self.returncode is not None
        return self.returncode


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that is ready. `banner` is its output so far."""

    process: Fork | asyncio.subprocess.Process
    banner: str
    port: int

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to exit; return its exit code."""
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def running(
    home: Path, *, is_forked: bool = True, **variables: str
) -> AsyncIterator[Running]:
    """Run `talaria run` until the block ends, and kill it if it still runs.

    A fork has the memory of another process, including the environment that the kernel shows.
    """
    port = free_port()
    given = environ(home, TALARIA_HTTP__PORT=str(port), **variables)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        for file in files:
            file.touch()
        process: Fork | asyncio.subprocess.Process
        if is_forked:
            process = await asyncio.to_thread(Fork, files, ("run",), given)
        else:
            command = (sys.executable, "-m", "gateway", "run")
            with files[1].open("wb") as out:
                process = await asyncio.create_subprocess_exec(
                    *command, stdout=out, cwd=ROOT, env=given
                )
        try:
            yield Running(process, await _read_banner(process, files[1]), port)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            sys.stderr.write(files[2].read_text(encoding="utf-8"))


async def _read_banner(process: Fork | asyncio.subprocess.Process, out: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while "\nReady" not in (banner := _read(out)):
            assert process.returncode is None, "it ended before it was ready"
            await asyncio.sleep(_POLL)
    return banner


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def free_port() -> int:
    """Return an unused port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder with its content."""
    return {str(path): path.read_bytes() for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def give_up_root() -> None:
    """Let the modes of files bind this process, even if it belongs to root."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def run_without_root(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that the modes of files bind."""
    return subprocess.run(
        [sys.executable, "-m", "gateway", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environ(home),
        timeout=PATIENCE,
        preexec_fn=give_up_root,
    )
