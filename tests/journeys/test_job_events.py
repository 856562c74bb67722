"""Jobs that events start, made in a conversation or on the command line."""

import re

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import texts
from tests.journeys.job_talks import make_job
from tests.journeys.stage import Stage, call, calls

FRIDAY = (2026, 11, 20, 12)
everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


@everywhere
async def test_a_message_starts_a_job_and_is_answered(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        question = await make_job(
            harness,
            anna,
            "whenever I mention an invoice, remind me to file it",
            kind="message",
            title="File",
            text="File the invoice.",
            on="message invoice",
        )
        assert "Whenever a message contains “invoice”" in question
        assert "when it happens" in question
        harness.stage.plan("Which one?")
        await harness.takes(anna.says("an invoice came"))
        sent = "wrote: an invoice came"
        await harness.until(lambda: any(sent in text for text in texts(anna)))
        assert any("Which one?" in text for text in texts(anna))
        assert next(text for text in texts(anna) if sent in text).startswith("File the invoice.")
        harness.stage.plan("Good.")
        assert "Good." in await harness.hears(anna, "no invoices today")
        assert sum("File the invoice.\n" in text for text in texts(anna)) == 2


@everywhere
async def test_a_job_runs_after_another_and_reads_its_result(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*FRIDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await make_job(
            harness,
            anna,
            "look hourly",
            kind="prompt",
            title="Look",
            text="Look.",
            cron="0 * * * *",
        )
        listed = await harness.hears(anna, "/jobs")
        found = re.search(r"Look\W+(\d+)", listed)
        assert found, listed
        question = await make_job(
            harness,
            anna,
            "after that, sum it up",
            kind="prompt",
            title="Sum",
            text="Sum up.",
            on=f"after {found[1]}",
        )
        assert f"After reminder {found[1]} is done" in question
        harness.stage.plan("Three letters came.", "Nothing urgent.")
        clock.move(harness, hours=1)
        await harness.until(lambda: any("Nothing urgent." in text for text in texts(anna)))
        assert any("Three letters came." in text for text in texts(anna))
        read = str(harness.stage.turns[-1]["messages"])
        assert "Three letters came." in read
        told = await harness.hears(anna, f"/jobs pause {found[1]}")
        assert "waits for this one, and doesn't come without it" in told


async def test_without_the_http_server_a_job_gets_no_web_address(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        question = await make_job(
            harness,
            anna,
            "when my build calls you, tell me",
            kind="message",
            title="Build",
            text="The build is done.",
            on="webhook",
        )
        assert "Whenever a program calls this reminder's web address" in question
        number = re.search(r"Build\W+(\d+)", await harness.hears(anna, "/jobs"))
        assert number
        refused = await harness.hears(anna, f"/jobs webhook {number[1]}")
        assert "HTTP server, which is off" in refused


async def test_a_stranger_text_can_not_name_the_feed(stage: Stage) -> None:
    anna = stage.account("telegram", ANNA)
    async with stage.open() as harness:
        asked = {"action": "create", "kind": "prompt", "title": "News", "text": "Tell."}
        stage.plan(calls(call("schedule", on="feed https://evil.example/x", **asked)), "I can't.")
        await harness.takes(anna.says("watch the news for me"))
        assert "does not contain this address" in str(stage.turns[-1]["messages"])
        assert await harness.count("jobs", "kind = 'prompt'") == 0
