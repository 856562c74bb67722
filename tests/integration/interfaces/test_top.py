"""`talaria top`: what runs, once for a pipe and live in a terminal."""

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.state.conversations import turns
from gateway.interfaces.http.control import serving_control
from tests.architecture.source import ROOT
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.harness import Harness, running
from tests.integration.processes import PATIENCE, environ, talaria, talaria_beside

PERSON = "Ana\x1b[2J"


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h")


@asynccontextmanager
async def busy(home: Path) -> AsyncIterator[Harness]:
    """A gateway with a turn that runs until the block ends."""
    gate = Gate()
    model = FakeModel(ask(call("recall", '{"query": "tea"}')), [gate.hold, *say("Done.")])
    async with running(home, model) as harness, serving_control(harness.gateway):
        await harness.chat.says("hello", name=PERSON)
        await gate.reached.wait()
        try:
            yield harness
        finally:
            gate.open.set()  # else a failure in the block would wait for the turn
        await harness.chat.sees_text("Done.")
        await harness.at_rest()


def test_without_a_gateway_a_sentence_says_so(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "top")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"No gateway is running for {tmp_path / 'home'}. `talaria run` starts one.\n"
    )


async def test_a_pipe_gets_platforms_and_running_turns_once(home: Path) -> None:
    async with busy(home) as harness:
        turn = (await harness.read(lambda c: turns.list_recent(c, limit=1)))[0]
        done = await talaria_beside(home, "top")
        assert (done.code, done.err) == (0, "")
        words = [line.split() for line in done.out.splitlines()]
        assert ["fake", "connected"] in [one[:2] for one in words]
        row = next(one for one in words if one[:1] == [str(turn.id)])
        assert row[-2:] == ["fake", "Ana[2J"], "a name sends no control characters"
    async with running(home, FakeModel()) as harness, serving_control(harness.gateway):
        done = await talaria_beside(home, "top", "--once")
        assert "No turn is running." in done.out


async def test_a_terminal_gets_a_live_picture_that_ends_with_an_interrupt(home: Path) -> None:
    own, other = pty.openpty()
    seen = b""

    def read_until(text: bytes) -> None:
        nonlocal seen
        until = time.monotonic() + PATIENCE
        while text not in seen:
            ready, _, _ = select.select([own], [], [], max(0.0, until - time.monotonic()))
            assert ready, seen[-2000:]
            seen += os.read(own, 65536)
        seen = seen.partition(text)[2]

    async with busy(home):
        process = subprocess.Popen(  # noqa: ASYNC220 - the test reads its terminal
            [sys.executable, "-m", "gateway", "top"],
            stdin=other,
            stdout=other,
            cwd=ROOT,
            env=environ(home),
        )
        try:
            await asyncio.to_thread(read_until, b"Ana[2J")
            await asyncio.to_thread(read_until, b"Ana[2J")
        except BaseException:
            process.kill()
            raise
    try:
        await asyncio.to_thread(read_until, b"No gateway is running")
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(read_until, b"\x1b[?1049l")
        assert await asyncio.to_thread(process.wait, PATIENCE) == 130
    finally:
        process.kill()
        process.wait()
        os.close(own)
        os.close(other)
