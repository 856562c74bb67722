"""Faults, hooks and outages of the emulated Telegram, also in its own process."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from telegram import Bot
from telegram.error import (
    Forbidden,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN, only_message

ROOT = Path(__file__).parents[2]


async def test_a_fault_happens_as_often_as_planned(
    api: TelegramEmulator, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "PTB_TIMEDELTA", "1"
    )  # the SDK's old type warns, and warnings are errors here
    api.fail("sendMessage", 2, kind=faults.retry_after(7))
    for _ in range(2):
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(ANNA, "hello")
        assert caught.value.retry_after == timedelta(seconds=7)
    await bot.send_message(ANNA, "hello")
    assert api.texts(ANNA) == ["hello"]
    assert api.calls["sendMessage"] == 3


async def test_a_fault_can_be_limited_to_a_chat_and_cleared(
    api: TelegramEmulator, bot: Bot
) -> None:
    api.fail("sendMessage", 2, kind=faults.blocked(), chat_id=ANNA)
    await bot.send_message(BEN, "hello")
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(ANNA, "hello")
    api.clear_faults()
    await bot.send_message(ANNA, "hello")


@pytest.mark.parametrize(
    "fault", [faults.http(502), faults.internal(), faults.garbage(), faults.refused("Bad Request")]
)
async def test_an_answered_fault_applies_nothing(
    api: TelegramEmulator, bot: Bot, fault: faults.Fault
) -> None:
    api.fail("sendMessage", kind=fault)
    with pytest.raises(TelegramError):
        await bot.send_message(ANNA, "hello")
    assert api.texts(ANNA) == []


@pytest.mark.parametrize(("fault", "shown"), [(faults.DROP, []), (faults.LOSE, ["hello"])])
async def test_a_broken_connection_may_have_applied_the_call(
    api: TelegramEmulator, bot: Bot, fault: faults.Fault, shown: list[str]
) -> None:
    api.fail("sendMessage", kind=fault)
    with pytest.raises(NetworkError):
        await bot.send_message(ANNA, "hello")
    assert api.texts(ANNA) == shown


async def test_a_call_that_hangs_gets_no_answer(api: TelegramEmulator, bot: Bot) -> None:
    api.fail("sendMessage", kind=faults.HANG)
    with pytest.raises(TimedOut):
        await bot.send_message(ANNA, "hello", read_timeout=0.1)
    assert api.texts(ANNA) == []


async def test_hooks_run_before_a_call_and_before_its_response(
    api: TelegramEmulator, bot: Bot
) -> None:
    seen: list[tuple[str, str, list[str]]] = []
    released = asyncio.Event()

    async def before(method: str, parameters: dict[str, Any]) -> None:
        seen.append(("before", method, api.texts(ANNA)))

    async def after(method: str, parameters: dict[str, Any]) -> None:
        seen.append(("after", method, api.texts(ANNA)))
        await released.wait()

    api.before, api.after = before, after
    sending = asyncio.create_task(bot.send_message(ANNA, "hello"))
    await api.wait_for(lambda: api.texts(ANNA))
    await api.wait_for(lambda: len(seen) == 2)
    assert not sending.done()
    released.set()
    await sending
    assert seen == [("before", "sendMessage", []), ("after", "sendMessage", ["hello"])]


async def test_wait_for_times_out(api: TelegramEmulator) -> None:
    with pytest.raises(TimeoutError):
        await api.wait_for(lambda: api.texts(ANNA), timeout=0.01)


async def test_updates_and_messages_survive_an_outage(api: TelegramEmulator, bot: Bot) -> None:
    await bot.send_message(ANNA, "before")
    await api.says(ANNA, "hello?")
    await api.stop()
    with pytest.raises(NetworkError):
        await bot.send_message(ANNA, "lost")
    await api.start()
    assert (await only_message(bot)).text == "hello?"
    assert api.texts(ANNA) == ["before"]
