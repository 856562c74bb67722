"""The modal backend: what only Modal's sandboxes, volumes and streams do."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.hosted.backend import HostedBackend
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.accounts import ModalAccount, open_account
from tests.agent_core.execution.backends import MEGABYTE, needs_python
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.thorough, needs_python]


@pytest.fixture
async def account(plain_user: None, tmp_path: Path) -> AsyncIterator[ModalAccount]:
    async with open_account("modal", tmp_path / "sandboxes") as account:
        assert isinstance(account, ModalAccount)
        yield account


@pytest.fixture
async def backend(account: ModalAccount) -> AsyncIterator[HostedBackend]:
    backend = account.make()
    yield backend
    await backend.close()


def shell(text: str, *, has_input: bool = False) -> Command:
    return Command(workspace="anna", argv=("/bin/bash", "-c", text), has_input=has_input)


async def say(backend: HostedBackend, text: str) -> bytes:
    return (await run_command(backend, shell(text), seconds=45, most_bytes=MEGABYTE)).output


async def test_a_sandbox_is_made_as_the_settings_say(account: ModalAccount) -> None:
    backend = account.make(image="registry.example/tools:1", region="eu")
    await say(backend, "true")
    (sandbox,) = account.emulator.list_running()
    made = sandbox.definition
    assert made.image_id == "im-registry.example/tools:1"
    assert list(made.scheduler_placement.regions) == ["eu"]
    assert (made.timeout_secs, made.idle_timeout_secs) == (24 * 3600, 900)
    await backend.close()


async def test_a_sandbox_has_the_size_and_the_secrets_that_the_settings_say(
    account: ModalAccount,
) -> None:
    backend = account.make(cpus=4.0, memory=8 * 2**30, gpu="T4:2", secrets=("huggingface",))
    await say(backend, "true")
    (sandbox,) = account.emulator.list_running()
    size = sandbox.definition.resources
    assert (size.milli_cpu, size.memory_mb) == (4000, 8192)
    assert (size.gpu_config.gpu_type, size.gpu_config.count) == ("T4", 2)
    assert list(sandbox.definition.secret_ids) == ["st-huggingface"]
    await backend.close()


async def test_a_card_that_modal_does_not_know_is_a_reason(account: ModalAccount) -> None:
    backend = account.make(gpu="T4:many")
    with pytest.raises(BackendUnavailable, match="Invalid GPU count: many"):
        await say(backend, "true")
    await backend.close()


async def test_backends_of_two_names_share_no_sandbox_and_no_files(account: ModalAccount) -> None:
    one, two = account.make(gateway="one"), account.make(gateway="two", gpu="L4")
    await say(one, "echo one > note")
    assert (
        await say(two, "cat note || echo none") == b"cat: note: No such file or directory\nnone\n"
    )
    assert len(account.emulator.list_running()) == 2
    assert await two.end_abandoned() == 1
    assert await say(one, "cat note") == b"one\n"
    await one.close()
    await two.close()


async def test_a_broken_stream_goes_on_where_it_was(
    account: ModalAccount, backend: HostedBackend
) -> None:
    process = await backend.start(shell("echo one; read -r; echo two", has_input=True))
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.read() == b"one\n"
            await account.emulator.cut()
            await process.write(b"\n")
            assert await process.read() == b"two\n"
            assert (await process.wait()).status == 0
    finally:
        await process.kill()


async def test_a_silent_worker_never_holds_a_turn(
    account: ModalAccount, backend: HostedBackend
) -> None:
    await say(backend, "echo kept > note")
    process = await backend.start(shell("echo here; sleep 600"))
    async with asyncio.timeout(PATIENCE):
        assert await process.read() == b"here\n"
        account.emulator.is_silent = True
        await process.kill()
        assert (await process.wait()).status == 137
    assert account.list_awake() == []
    account.emulator.is_silent = False
    assert await say(backend, "cat note") == b"kept\n"
