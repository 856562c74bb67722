"""A digest's message: its own first line, and its chart as a picture with a caption."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.integration.processes import talaria
from tests.journeys.accounts import Account
from tests.journeys.stage import Harness, Stage, call, calls

FRIDAY = (2026, 11, 20, 12)
CHART = call(
    "chart", kind="bar", title="Messages per day", labels=["Mon", "Tue"], values=[3, 5], unit=""
)
REVIEWS = call("chart", kind="bar", title="Reviews", labels=["Ada"], values=[3], unit="")
ANSWER = "3 reviews wait, team call at 10:00\n\nThe chart shows the week."

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


async def make_digest(harness: Harness, anna: Account) -> None:
    asked = {"action": "create", "kind": "prompt", "title": "Morning", "text": "Write my digest."}
    harness.stage.plan(calls(call("schedule", cron="0 8 * * *", **asked)), "Made.")
    await harness.notes(anna.says("every day at 8, a digest"))
    await harness.asks(anna, "Yes, do that")
    await harness.press(anna, "Yes, do that")


@everywhere
async def test_a_digest_has_its_own_first_line_and_a_chart_with_a_caption(
    deployment: Stage, platform: str
) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*FRIDAY)
    deployment.now = clock
    async with deployment.open() as harness:
        await make_digest(harness, anna)
        before = len(anna.seen())
        deployment.plan(calls(CHART), ANSWER)
        clock.move(harness, hours=20)
        await harness.until(lambda: any(one.file for one in anna.seen()))
        await harness.at_rest()
        text, picture = anna.seen()[before:]
        assert text.text.startswith("3 reviews wait, team call at 10:00\n")
        assert "Morning" in text.text
        assert picture.text == "Messages per day"
        assert picture.file
        assert picture.file[0] == "Messages-per-day.png"
    if platform == "telegram":
        assert deployment.telegram.calls["sendPhoto"] == 1


async def test_a_digest_preview_has_all_its_files(
    stage: Stage,
) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with stage.open() as harness:
        await make_digest(harness, anna)
    shown = talaria(stage.home, "jobs", "preview", "4", **stage.environ())
    assert shown.code == 0, shown.err
    assert "It hasn't run yet" in shown.out
    assert "> Write my digest." in shown.out
    async with stage.open() as harness:
        stage.plan(calls(CHART, REVIEWS), ANSWER)
        clock.move(harness, hours=20)
        await harness.until(lambda: sum(one.file is not None for one in anna.seen()) == 2)
    shown = talaria(stage.home, "jobs", "preview", "4", **stage.environ())
    assert "3 reviews wait, team call at 10:00" in shown.out
    assert "file Messages-per-day.png (image/png, " in shown.out
    assert "file Reviews.png (image/png, " in shown.out
