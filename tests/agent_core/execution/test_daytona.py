"""The daytona backend: its sandboxes over idle times, restarts and mishaps."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution import Command, HostedBackend, make_daytona, run_command
from tests.agent_core.execution.backends import LIMITS, MEGABYTE, daytona_settings, needs_python
from tests.emulators.daytona import DaytonaEmulator, Sandbox

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_python]
BEAT = "while :; do date +%N > beat; sleep 0.02; done"


@pytest.fixture
async def daytona(plain_user: None, tmp_path: Path) -> AsyncIterator[DaytonaEmulator]:
    async with DaytonaEmulator(tmp_path / "sandboxes") as emulator:
        yield emulator


@pytest.fixture
async def backend(daytona: DaytonaEmulator) -> AsyncIterator[HostedBackend]:
    backend = make_daytona(LIMITS, daytona_settings(daytona))
    yield backend
    await backend.close()


def shell(text: str) -> Command:
    return Command(workspace="anna", argv=("/bin/bash", "-c", text))


async def say(backend: HostedBackend, text: str) -> bytes:
    return (await run_command(backend, shell(text), seconds=45, most_bytes=MEGABYTE)).output


def the(daytona: DaytonaEmulator) -> Sandbox:
    (sandbox,) = daytona.sandboxes.values()
    return sandbox


async def appears(path: Path) -> None:
    async with asyncio.timeout(45):
        while not read(path):
            await asyncio.sleep(0.01)


def read(beat: Path) -> str:
    return beat.read_text() if beat.exists() else ""


async def beats(beat: Path) -> bool:
    before = read(beat)
    pause = await asyncio.create_subprocess_exec("sleep", "0.2")
    await pause.wait()
    return read(beat) != before


async def test_an_idle_sandbox_is_stopped_and_wakes_with_its_files(
    daytona: DaytonaEmulator,
) -> None:
    settings = replace(daytona_settings(daytona), idle_seconds=0)
    backend = make_daytona(LIMITS, settings)
    await say(backend, "echo kept > note")
    async with asyncio.timeout(45):
        while the(daytona).told["state"] != "stopped":
            await asyncio.sleep(0.01)
    assert await say(backend, "cat note") == b"kept\n"
    await backend.close()
    assert (daytona.starts, the(daytona).told["state"]) == (2, "stopped")


async def test_a_command_keeps_its_sandbox_awake(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    process = await backend.start(shell("sleep 600"))
    await backend.sleep("anna")
    assert the(daytona).told["state"] == "started"
    await process.kill()
    await backend.sleep("anna")
    assert the(daytona).told["state"] == "stopped"


async def test_a_sandbox_that_the_provider_stopped_wakes_again(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    await say(backend, "echo kept > note")
    await daytona.halt(the(daytona))
    assert await say(backend, "cat note") == b"kept\n"


async def test_what_a_killed_gateway_left_ends_at_the_next_start(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    other = make_daytona(LIMITS, replace(daytona_settings(daytona), gateway="two"))
    left, theirs = await backend.start(shell(BEAT)), await other.start(shell(BEAT))
    ours, second = (sandbox.folder / "workspace/beat" for sandbox in daytona.sandboxes.values())
    await appears(ours)
    await appears(second)
    fresh = make_daytona(LIMITS, daytona_settings(daytona))
    assert await fresh.end_abandoned() == 1
    assert await fresh.end_abandoned() == 0
    assert not await beats(ours)
    async with asyncio.timeout(45):
        while not await beats(second):
            pass
    await theirs.kill()
    await left.kill()
    for each in (fresh, other):
        await each.close()


async def test_a_broken_stream_is_a_loss_with_a_reason_and_its_command_ends(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    waiting = asyncio.create_task(say(backend, BEAT))
    beat = the(daytona).folder / "workspace/beat" if daytona.sandboxes else None
    async with asyncio.timeout(45):
        while beat is None or not beat.exists():
            await asyncio.sleep(0.01)
            beat = the(daytona).folder / "workspace/beat" if daytona.sandboxes else None
    await daytona.cut()
    with pytest.raises(BackendUnavailable, match="look before you repeat it"):
        await waiting
    await say(backend, "true")
    assert not await beats(beat)


async def test_a_command_ends_whose_gateway_says_nothing(
    daytona: DaytonaEmulator,
) -> None:
    backend = make_daytona(LIMITS, replace(daytona_settings(daytona), patience_seconds=1))
    done = await run_command(backend, shell("sleep 600"), seconds=45, most_bytes=MEGABYTE)
    assert (done.status, done.limit) == (137, "")
    await backend.close()


async def test_a_command_that_kills_its_supervisor_ends_with_the_sandbox(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    hide = f"setsid bash -c '{BEAT}' & sleep 0.1; kill -KILL $PPID $(ps -o ppid= $PPID)"
    done = await run_command(backend, shell(hide), seconds=2, most_bytes=MEGABYTE)
    assert (done.status, done.limit) == (137, "time")
    assert not await beats(the(daytona).folder / "workspace/beat")


async def test_the_network_follows_the_setting_also_of_an_old_sandbox(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    await say(backend, "true")
    assert the(daytona).told["networkBlockAll"] is True
    await backend.close()
    settings = replace(daytona_settings(daytona), has_network=True)
    other = make_daytona(LIMITS, settings)
    await say(other, "true")
    assert (the(daytona).told["networkBlockAll"], other.has_network("anna")) == (False, True)
    await other.close()


async def test_the_provider_learns_no_name(
    daytona: DaytonaEmulator, backend: HostedBackend
) -> None:
    await say(backend, "echo secret-word")
    sandbox = the(daytona)
    assert "anna" not in str(sandbox.told)
    assert not any("secret-word" in command.text for command in sandbox.commands)


async def test_a_wrong_key_and_a_provider_that_is_down_are_reasons(
    daytona: DaytonaEmulator,
) -> None:
    wrong = make_daytona(LIMITS, replace(daytona_settings(daytona), api_key="other"))
    with pytest.raises(BackendUnavailable, match="check DAYTONA_API_KEY"):
        await wrong.health()
    await wrong.close()
    daytona.is_down = True
    backend = make_daytona(LIMITS, daytona_settings(daytona))
    with pytest.raises(BackendUnavailable, match="no runner is available"):
        await say(backend, "true")
    with pytest.raises(BackendUnavailable, match="no runner is available"):
        await backend.end_abandoned()
    daytona.is_down = False
    assert await say(backend, "echo well") == b"well\n"
    await backend.close()


async def test_without_its_package_the_error_says_how_to_install_it(
    daytona: DaytonaEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "daytona", None)
    monkeypatch.delitem(sys.modules, "agent_core.execution.hosted.daytona", raising=False)
    backend = make_daytona(LIMITS, daytona_settings(daytona))
    with pytest.raises(BackendUnavailable, match=r"pip install 'talaria\[daytona\]'"):
        await backend.health()
    await backend.close()
