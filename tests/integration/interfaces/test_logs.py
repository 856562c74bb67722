"""`talaria logs`: the newest lines, those of a turn, and more as they arrive."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from gateway.app.logging import LogEntry
from gateway.home import KEPT_LOGS, LOG
from tests.architecture.source import ROOT
from tests.integration.processes import PATIENCE, environ, talaria

TRACEBACK = "Traceback (most recent call last):\n  File x, line 1\nValueError: no"


def write_as_text(number: int, turn: int | None = None, traceback: str = "") -> str:
    return make(number, turn, traceback).as_text()


def write_as_json(number: int, turn: int | None = None, traceback: str = "") -> str:
    return make(number, turn, traceback).as_json()


def make(number: int, turn: int | None, traceback: str) -> LogEntry:
    return LogEntry(
        moment=1_800_000_000.0 + number,
        level="INFO",
        logger="gateway.test",
        turn=turn,
        message=f"number {number}.",
        traceback=traceback,
    )


def put(home: Path, *entries: str) -> None:
    home.joinpath(LOG).parent.mkdir(parents=True, exist_ok=True)
    home.joinpath(LOG).write_text("".join(f"{one}\n" for one in entries))


@contextmanager
def rotating(home: Path) -> Iterator[logging.Handler]:
    """A log like the gateway's, whose files hold some twenty entries each."""
    home.joinpath(LOG).parent.mkdir(parents=True)
    handler = RotatingFileHandler(
        home / LOG, maxBytes=2_000, backupCount=KEPT_LOGS, encoding="utf-8", delay=True
    )
    try:
        yield handler
    finally:
        handler.close()


def emit(handler: logging.Handler, *entries: str) -> None:
    for one in entries:
        handler.emit(logging.makeLogRecord({"msg": one}))


@asynccontextmanager
async def following(home: Path, *words: str) -> AsyncIterator[asyncio.StreamReader]:
    """Run `talaria logs --follow` until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "logs", "--follow", *words),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=environ(home),
    )
    assert process.stdout
    try:
        yield process.stdout
    finally:
        process.terminate()
        await process.wait()


async def read_lines(output: asyncio.StreamReader, count: int) -> list[str]:
    async with asyncio.timeout(PATIENCE):
        return [(await output.readline()).decode().rstrip("\n") for _ in range(count)]


def test_without_a_log_a_sentence_says_how_to_get_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = talaria(home, "logs")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"There is no log at {home / LOG} yet: `talaria run` writes it, unless `log.file` is"
        " false.\n"
    )
    assert not home.exists()


@pytest.mark.parametrize("words", [("-n", "-1"), ("-n", "many"), ("--turn", "x")])
def test_a_wrong_number_is_a_usage_error(tmp_path: Path, words: tuple[str, str]) -> None:
    put(tmp_path, write_as_text(1))
    done = talaria(tmp_path, "logs", *words)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


def test_the_newest_entries_are_shown_as_they_are(tmp_path: Path) -> None:
    entries = [
        write_as_text(1),
        write_as_json(2, traceback=TRACEBACK),
        write_as_text(3, turn=7, traceback=TRACEBACK),
    ]
    put(tmp_path, *entries)
    assert talaria(tmp_path, "logs").out.splitlines() == "\n".join(entries).splitlines()
    assert talaria(tmp_path, "logs", "-n", "1").out == f"{entries[2]}\n"
    assert talaria(tmp_path, "logs", "-n", "2").out == f"{entries[1]}\n{entries[2]}\n"
    assert talaria(tmp_path, "logs", "-n", "0").out == ""


def test_a_turn_is_found_in_both_formats_with_its_tracebacks(tmp_path: Path) -> None:
    wanted = [
        write_as_text(2, turn=7, traceback=TRACEBACK),
        write_as_json(5, turn=7, traceback=TRACEBACK),
    ]
    others = [
        write_as_text(1, traceback=TRACEBACK),
        write_as_text(3, turn=77),
        write_as_json(4, turn=70, traceback=TRACEBACK),
        '{"time": "2027-01-15T08:00:00.000Z", "turn": 7, "mess',
    ]
    put(tmp_path, others[0], wanted[0], *others[1:], wanted[1])
    assert talaria(tmp_path, "logs", "--turn", "7").out == "".join(f"{one}\n" for one in wanted)
    done = talaria(tmp_path, "logs", "--turn", "8")
    assert (done.code, done.out, done.err) == (0, "", "No line of the log names turn 8.\n")


def test_rotated_files_hold_what_the_newest_lacks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    entries = [write_as_text(number, turn=number % 3) for number in range(90)]
    with rotating(home) as handler:
        emit(handler, *entries)
    assert home.joinpath(f"{LOG}.2").exists()
    assert talaria(home, "logs").out.splitlines() == entries
    assert talaria(home, "logs", "-n", "50").out.splitlines() == entries[40:]
    assert talaria(home, "logs", "--turn", "1").out.splitlines() == entries[1::3]


async def test_it_follows_across_rotations(tmp_path: Path) -> None:
    home = tmp_path / "home"
    entries = [write_as_text(number) for number in range(211)]
    with rotating(home) as handler:
        emit(handler, entries[0])
        async with following(home, "-n", "1") as output:
            assert await read_lines(output, 1) == entries[:1]
            for start in (1, 71, 141):  # each passes two rotations
                emit(handler, *entries[start : start + 70])
                assert await read_lines(output, 70) == entries[start : start + 70]


async def test_it_follows_a_turn_with_its_tracebacks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with rotating(home) as handler:
        emit(handler, write_as_text(1, turn=7), write_as_text(2))
        async with following(home, "--turn", "7") as output:
            assert await read_lines(output, 1) == [write_as_text(1, turn=7)]
            wanted = [write_as_text(4, turn=7, traceback=TRACEBACK), write_as_json(6, turn=7)]
            emit(handler, write_as_json(3, turn=8), wanted[0])
            emit(handler, write_as_text(5, traceback=TRACEBACK), wanted[1])
            assert await read_lines(output, 5) == "\n".join(wanted).splitlines()


async def test_it_follows_a_log_that_was_emptied_or_deleted(tmp_path: Path) -> None:
    put(tmp_path, write_as_text(1), write_as_text(2))
    async with following(tmp_path, "-n", "1") as output:
        assert await read_lines(output, 1) == [write_as_text(2)]
        put(tmp_path, write_as_text(3))
        assert await read_lines(output, 1) == [write_as_text(3)]
        tmp_path.joinpath(LOG).unlink()
        put(tmp_path, write_as_text(4))
        assert await read_lines(output, 1) == [write_as_text(4)]
