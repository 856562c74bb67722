"""Kills between sends to two chats of Signal that one person reads: each answer arrives once."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.deployment import Deployment
from tests.faults.driver_signal import SignalDriver
from tests.faults.findings import list_open
from tests.patience import until


@pytest.fixture
async def signal_deployment(tmp_path: Path, spawner: Path) -> AsyncIterator[Deployment]:
    """A deployment with Signal, where only the person who writes has a phone that is on."""
    driver = SignalDriver()
    for one in driver.daemon.world.people.values():
        one.is_online = False
    async with Deployment(tmp_path / "home", spawner, drivers=(driver,)) as deployment:
        yield deployment


async def _open_both(deployment: Deployment, driver: SignalDriver) -> tuple[int, int]:
    """Let a person write alone and in a group; return the numbers of both chats."""
    direct, group = driver.first_chat, driver.first_chat + 200
    await deployment.open_process()
    await deployment.all_seen([await deployment.says(direct), await deployment.says(group)])
    return direct, group


async def _hold(deployment: Deployment, driver: SignalDriver, chat: int) -> None:
    """Let a person write in a chat whose answer signal-cli never takes."""
    calls = driver.daemon.calls
    before = len(calls)
    driver.daemon.fail("send", "hang")
    await deployment.says(chat)
    await until(lambda: any(name == "send" for name, _ in calls[before:]))


async def _kill(deployment: Deployment) -> None:
    assert deployment.process
    deployment.process.kill()
    await deployment.process.died()


@pytest.mark.parametrize("held", ["direct", "group"])
async def test_a_message_to_one_chat_is_not_taken_for_that_to_another(
    signal_deployment: Deployment, held: str
) -> None:
    deployment = signal_deployment
    driver = deployment.drivers[1]
    assert isinstance(driver, SignalDriver)
    direct, group = await _open_both(deployment, driver)
    chat, other = (direct, group) if held == "direct" else (group, direct)
    await _hold(deployment, driver, chat)
    await deployment.all_seen([await deployment.says(other)])
    await until(lambda: len([one for one in list_open(deployment.home) if "outbox" in one]) == 1)
    await _kill(deployment)
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


@pytest.mark.parametrize("held", ["direct", "group"])
async def test_what_may_belong_to_either_chat_is_shown_once(
    signal_deployment: Deployment, held: str
) -> None:
    """Of two sends under way at a kill, one arrived, and one phone confirms it."""
    deployment = signal_deployment
    driver = deployment.drivers[1]
    assert isinstance(driver, SignalDriver)
    direct, group = await _open_both(deployment, driver)
    chat, other = (direct, group) if held == "direct" else (group, direct)
    await _hold(deployment, driver, chat)

    def stop(method: str) -> None:
        if method == "send" and deployment.process:
            os.kill(deployment.process.pid, signal.SIGSTOP)  # it gets no answer any more

    driver.daemon.after = stop
    await deployment.all_seen([await deployment.says(other)])
    await _kill(deployment)
    driver.daemon.after = lambda _: None
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()


async def test_a_look_that_a_kill_cut_off_is_not_taken_for_the_message(
    signal_deployment: Deployment,
) -> None:
    """signal-cli never took the answer; a look arrives, and the process never learns its time."""
    deployment = signal_deployment
    driver = deployment.drivers[1]
    assert isinstance(driver, SignalDriver)
    direct, _ = await _open_both(deployment, driver)
    await _hold(deployment, driver, direct)
    await _kill(deployment)
    looked = asyncio.Event()

    def kill(method: str) -> None:
        is_look = method == "sendReaction" and driver.daemon.calls[-1][1]["remove"]
        if is_look and deployment.process:
            deployment.process.kill()
            looked.set()

    driver.daemon.after = kill
    await deployment.open_process()
    await looked.wait()
    driver.daemon.after = lambda _: None
    await deployment.process.died()
    await deployment.open_process()
    (await deployment.stop_and_inspect()).assert_flawless()
