"""A finished message on Slack has the whole answer, however often the gateway dies."""

import html
import json
import random
import sqlite3
from contextlib import closing

import pytest

from tests.emulators import slack_faults as faults
from tests.emulators.slack_shapes import SlackMessage
from tests.faults.deployment import Deployment
from tests.faults.driver_slack import SlackDriver
from tests.faults.population import chats_of, lose_power, meet
from tests.faults.report import take_seed

FALLBACK = 4000
"""Bytes of the fallback text of an edited message."""
CALLS = ("chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream")
MISHAPS = (faults.LOSE, faults.LOSE, faults.DROP, faults.LIMIT, faults.UNWELL)


def count_incomplete(deployment: Deployment, driver: SlackDriver) -> tuple[int, int]:
    """Compare every sent message of the outbox with Slack's copy."""
    with closing(sqlite3.connect(deployment.home / "state.db")) as connection:
        rows = connection.execute(
            "SELECT chat, message_id, body FROM outbox"
            " WHERE platform = 'slack' AND state = 'sent' AND kind <> 'status'"
        ).fetchall()
    shown = {
        (channel, message.ts): message
        for channel in {json.loads(chat)[0] for chat, *_ in rows}
        for message in driver.api.messages(channel)
    }
    bad = [
        (body, message)
        for chat, ts, body in rows
        if not is_whole(message := shown[json.loads(chat)[0], ts], body)
    ]
    for body, message in bad:
        print(f"incomplete: {message.shown!r} of {body!r}, stream {message.is_streaming}")
    return len(rows), len(bad)


def is_whole(message: SlackMessage, body: str) -> bool:
    """Return whether a finished message shows a whole text, and its fallback what fits."""
    text = html.unescape(message.text)
    has_fallback = not message.blocks or text == body or len(message.text.encode()) > FALLBACK - 4
    return not message.is_streaming and message.shown.strip() == body.strip() and has_fallback


async def run_random_kills(
    deployment: Deployment, *, kills: int, messages: int, people: int
) -> None:
    driver = next(one for one in deployment.drivers if isinstance(one, SlackDriver))
    seed = take_seed()
    chance = random.Random(seed)
    print(f"\nseed {seed}, home {deployment.home}")
    chats = chats_of(deployment, people)
    await meet(deployment, chats)
    await lose_power(deployment)
    deployment.stream_slowly()
    chats = [chat for chat in chats if deployment.driver_of(chat) is driver]
    for _ in range(kills):
        process = await deployment.open_process()
        await process.ready()
        for _ in range(messages // kills):
            await deployment.says(chance.choice(chats), chance.choice(("slow", "slow", "long")))
        for _ in range(6):
            driver.api.fail(chance.choice(CALLS), kind=chance.choice(MISHAPS))
        driver.api.fail("chat.stopStream", kind=chance.choice(MISHAPS))
        try:
            await process.died(within=chance.expovariate(1 / 1.5))
        except TimeoutError:
            await lose_power(deployment)
    deployment.clear_faults()
    await deployment.open_process()
    findings = await deployment.stop_and_inspect()
    findings.assert_flawless()
    count, bad = count_incomplete(deployment, driver)
    print(f"{count} messages on Slack, {bad} incomplete, {kills} kills")
    assert (count > messages / 2, bad) == (True, 0)


async def test_every_finished_message_holds_the_whole_answer(full_deployment: Deployment) -> None:
    await run_random_kills(full_deployment, kills=3, messages=15, people=1)


@pytest.mark.long
async def test_a_thousand_finished_messages_hold_their_whole_answers(
    full_deployment: Deployment,
) -> None:
    await run_random_kills(full_deployment, kills=60, messages=600, people=6)
