"""Hooks of the emulated Telegram."""

import asyncio
from typing import Any

import pytest
from telegram import Bot

from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA


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
