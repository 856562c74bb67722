"""The emulated Bot API and Slack, with the real SDKs connected to them."""

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Bot

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_cast import client
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN, FORUM, GROUP, SUPERGROUP


@pytest.fixture
async def api() -> AsyncIterator[TelegramEmulator]:
    async with TelegramEmulator() as emulator:
        emulator.user(ANNA, "Anna", username="anna_k")
        emulator.user(BEN, "Ben")
        emulator.group(GROUP, "Few")
        emulator.group(SUPERGROUP, "Many")
        emulator.group(FORUM, "Topics", is_forum=True)
        yield emulator


@pytest.fixture
async def bot(api: TelegramEmulator) -> AsyncIterator[Bot]:
    files = f"{api.base_url}/file/bot"
    async with Bot(api.token, base_url=f"{api.base_url}/bot", base_file_url=files) as real:
        yield real


@pytest.fixture
async def slack() -> AsyncIterator[SlackEmulator]:
    async with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
def web(slack: SlackEmulator) -> AsyncWebClient:
    return client(slack)
