"""Backends of providers: their sandboxes over idle times, restarts and mishaps."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.hosted.backend import HostedBackend
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.accounts import (
    PROVIDERS,
    Account,
    DaytonaAccount,
    open_account,
)
from tests.agent_core.execution.backends import MEGABYTE, needs_python
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.thorough, needs_python]
BEAT = "while :; do date +%N > beat; sleep 0.02; done"


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def account(plain_user: None, provider: str, tmp_path: Path) -> AsyncIterator[Account]:
    async with open_account(provider, tmp_path / "sandboxes") as account:
        yield account


@pytest.fixture
async def backend(account: Account) -> AsyncIterator[HostedBackend]:
    backend = account.make()
    yield backend
    await backend.close()


def shell(text: str) -> Command:
    return Command(workspace="anna", argv=("/bin/bash", "-c", text))


async def say(backend: HostedBackend, text: str) -> bytes:
    return (await run_command(backend, shell(text), seconds=45, most_bytes=MEGABYTE)).output


async def appears(account: Account, number: int = 0) -> Path:
    """Return the file `beat` of a sandbox once it is there."""
    async with asyncio.timeout(PATIENCE):
        while len(account.list_workspaces()) <= number:
            await asyncio.sleep(0.01)
        beat = account.list_workspaces()[number] / "beat"
        while not read(beat):
            await asyncio.sleep(0.01)
    return beat


def read(beat: Path) -> str:
    return beat.read_text() if beat.exists() else ""


async def beats(beat: Path) -> bool:
    before = read(beat)
    pause = await asyncio.create_subprocess_exec("sleep", "0.2")
    await pause.wait()
    return read(beat) != before


async def test_an_idle_sandbox_costs_nothing_and_wakes_with_its_files(account: Account) -> None:
    backend = account.make(idle_seconds=0)
    await say(backend, "echo kept > note")
    async with asyncio.timeout(PATIENCE):
        while account.list_awake():
            await asyncio.sleep(0.01)
    assert await say(backend, "cat note") == b"kept\n"
    await backend.close()
    assert account.list_awake() == []


async def test_a_command_keeps_its_sandbox_awake(account: Account, backend: HostedBackend) -> None:
    process = await backend.start(shell("sleep 600"))
    await backend.sleep("anna")
    assert len(account.list_awake()) == 1
    await process.kill()
    await backend.sleep("anna")
    assert account.list_awake() == []


async def test_closing_leaves_no_timer(account: Account) -> None:
    backend = account.make()
    await backend.start(shell(BEAT))
    await appears(account)
    await backend.close()
    timer = backend._places["anna"].timer
    assert timer
    assert timer.cancelled()


async def test_a_sandbox_that_the_provider_stopped_wakes_again(
    account: Account, backend: HostedBackend
) -> None:
    await say(backend, "echo kept > note")
    await account.halt()
    assert await say(backend, "cat note") == b"kept\n"


async def test_what_a_killed_gateway_left_ends_at_the_next_start(
    account: Account, backend: HostedBackend
) -> None:
    other = account.make(gateway="two")
    left, theirs = await backend.start(shell(BEAT)), await other.start(shell(BEAT))
    ours, second = await appears(account), await appears(account, 1)
    fresh = account.make()
    assert await fresh.end_abandoned() == 1
    assert await fresh.end_abandoned() == 0
    assert not await beats(ours)
    async with asyncio.timeout(PATIENCE):
        while not await beats(second):
            pass
    await theirs.kill()
    await left.kill()
    for each in (fresh, other):
        await each.close()


async def test_a_lost_command_is_an_error_with_a_reason_and_it_ends(
    account: Account, backend: HostedBackend
) -> None:
    await say(backend, "echo kept > note")
    waiting = asyncio.create_task(say(backend, BEAT))
    beat = await appears(account)
    await account.lose()
    with pytest.raises(BackendUnavailable, match="look before you repeat it"):
        await waiting
    assert await say(backend, "cat note") == b"kept\n"
    assert not await beats(beat)


async def test_a_command_ends_whose_gateway_says_nothing(account: Account) -> None:
    backend = account.make(patience_seconds=1)
    done = await run_command(backend, shell("sleep 600"), seconds=45, most_bytes=MEGABYTE)
    # On a busy machine, its supervisor is ended (143) before it can begin the command.
    assert done.status in (137, 143)
    assert done.limit == ""
    await backend.close()


async def test_a_command_that_kills_its_supervisor_ends_with_the_sandbox(
    account: Account, backend: HostedBackend
) -> None:
    hide = f"setsid bash -c '{BEAT}' & sleep 0.1; kill -KILL $PPID $(ps -o ppid= $PPID)"
    done = await run_command(backend, shell(hide), seconds=2, most_bytes=MEGABYTE)
    assert (done.status, done.limit) == (137, "time")
    assert not await beats(account.list_workspaces()[0] / "beat")


async def test_the_network_follows_the_setting_also_of_an_old_sandbox(
    account: Account, backend: HostedBackend
) -> None:
    await say(backend, "echo kept > note")
    assert not account.has_network()
    other = account.make(has_network=True)
    assert await say(other, "cat note") == b"kept\n"
    assert (account.has_network(), other.has_network("anna")) == (True, True)
    await other.close()


async def test_the_provider_learns_no_name(account: Account, backend: HostedBackend) -> None:
    await say(backend, "echo secret-word")
    known = account.list_known()
    assert "supervisor" in known
    assert "anna" not in known
    assert "secret-word" not in known


async def test_a_wrong_key_and_a_provider_that_is_down_are_reasons(account: Account) -> None:
    wrong = account.make(**account.rejected)
    with pytest.raises(BackendUnavailable, match=account.advice):
        await wrong.health()
    await wrong.close()
    account.is_down = True
    backend = account.make()
    with pytest.raises(BackendUnavailable, match="no runner is available"):
        await say(backend, "true")
    with pytest.raises(BackendUnavailable, match="no runner is available"):
        await backend.end_abandoned()
    account.is_down = False
    assert await say(backend, "echo well") == b"well\n"
    await backend.close()


async def test_without_its_package_the_error_says_how_to_install_it(
    account: Account, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, provider, None)
    monkeypatch.delitem(sys.modules, f"agent_core.execution.hosted.{provider}", raising=False)
    backend = account.make()
    with pytest.raises(BackendUnavailable, match=rf"pip install.* 'talaria\[{provider}\]'"):
        await backend.health()
    await backend.close()


async def test_a_sandbox_at_daytona_has_the_size_of_its_backend(
    plain_user: None, tmp_path: Path
) -> None:
    async with open_account("daytona", tmp_path / "sandboxes") as account:
        assert isinstance(account, DaytonaAccount)
        backend = account.make(image="debian:13", cpus=4, gpus=1, memory=7_900_000_000)
        assert await say(backend, "echo here") == b"here\n"
        (sandbox,) = account.emulator.sandboxes.values()
        assert [sandbox.told[name] for name in ("cpu", "gpu", "memory")] == [4, 1, 8]
        assert "FROM debian:13" in sandbox.told["buildInfo"]["dockerfileContent"]
        await backend.close()
