"""Answers are sent at each platform's rate: a burst first, then its average."""

import time
from typing import Any

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.emulators.telegram_faults import ChatLimit
from tests.journeys.stage import Stage

PARTS = 7
ANSWER = "\n\n".join(f"part {number} " + "word " * 790 for number in range(PARTS))
"""Each part fills a Telegram message."""


async def sends(deployment: Stage, limit: ChatLimit) -> tuple[list[float], list[str]]:
    """Have the bot send a long answer; return when each message was accepted, and their texts."""
    moments: list[float] = []

    async def note(method: str, _: Any) -> None:
        if method == "sendMessage":
            moments.append(time.monotonic())

    deployment.telegram.chat_limit, deployment.telegram.after = limit, note
    deployment.plan(ANSWER)
    async with deployment.open(TALARIA_TELEGRAM__MESSAGES_PER_SECOND="30") as harness:
        await deployment.telegram.says(ANNA, "tell me all")
        await harness.until(lambda: len(deployment.telegram.texts(ANNA)) == PARTS)
        await harness.at_rest()
    return [moment - moments[0] for moment in moments], deployment.telegram.texts(ANNA)


async def test_a_quiet_chat_takes_five_messages_at_once(deployment: Stage) -> None:
    limit = ChatLimit(burst=5)
    moments, texts = await sends(deployment, limit)
    assert [text.split()[1] for text in texts] == [str(number) for number in range(PARTS)]
    assert moments[4] < 4, "one a second would take longer"
    assert moments[6] >= 1.5, "two of them wait a second each; the first may arrive late"
    assert limit.refused == 0


@pytest.mark.parametrize("burst", [1, 3])
async def test_a_stricter_limit_of_telegram_is_obeyed(deployment: Stage, burst: int) -> None:
    limit = ChatLimit(burst=burst)
    moments, texts = await sends(deployment, limit)
    assert [text.split()[1] for text in texts] == [str(number) for number in range(PARTS)]
    assert moments[PARTS - 1] >= PARTS - burst - 0.1
    assert 1 <= limit.refused <= 3, "after the pause, the chat gets no burst"
