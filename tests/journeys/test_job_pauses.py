"""A failing job is paused after its limit of failures, with buttons below the notice."""

import shutil

import pytest

from agent_core.ids import JobId
from agent_core.state.jobs import jobs
from tests.emulators.telegram_cast import ANNA
from tests.integration.clock import Clock
from tests.journeys.accounts import Account, asked, texts
from tests.journeys.stage import Harness, Stage, call, calls

SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\n# Tidy\nSort it.\n"
FRIDAY = (2026, 11, 20, 12)

everywhere = pytest.mark.parametrize("platform", ["telegram", "discord", "slack"])


async def make_failing_job(harness: Harness, anna: Account, **options: object) -> None:
    """Have Anna make a job whose skill is deleted before its first run."""
    skill = harness.stage.home / "skills" / "tidy"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    given = {"action": "create", "kind": "prompt", "title": "Tidy", "text": "Tidy up."}
    wanted = call("schedule", cron="0 * * * *", skills=["tidy"], **given, **options)
    harness.stage.plan(calls(wanted), "Made.")
    await harness.notes(anna.says("tidy up every hour"))
    await harness.asks(anna, "Yes, do that")
    await harness.press(anna, "Yes, do that")
    shutil.rmtree(skill)


async def failed(harness: Harness, count: int) -> None:
    """Return once the job has failed `count` times."""
    job = None
    while job is None or job.failures < count:
        job = await harness.gateway.database.read(lambda c: jobs.find(c, job_id=JobId(4)))


@everywhere
async def test_the_notice_of_a_pause_has_buttons(deployment: Stage, platform: str) -> None:
    anna, clock = deployment.account(platform, ANNA), Clock(*FRIDAY)
    deployment.now = clock
    async with deployment.open(TALARIA_JOBS__PAUSE_AFTER="1") as harness:
        await make_failing_job(harness, anna)
        clock.move(harness, hours=1)
        await harness.asks(anna, "Resume")
        assert "I've paused Tidy" in texts(anna)[-1].replace("*", "")
        assert asked(anna).labels == ("Resume", "Run now", "Delete")
        await harness.press(anna, "Resume")
        assert "is active again" in texts(anna)[-1]


async def test_a_deferred_notice_keeps_its_buttons(stage: Stage) -> None:
    anna, clock = stage.account("telegram", ANNA), Clock(*FRIDAY)
    stage.now = clock
    async with stage.open() as harness:
        await make_failing_job(harness, anna, pause_after=2, urgent=False)
        await harness.hears(anna, "/settings quiet_hours 12:30-18:00")
        for count in (1, 2):
            clock.move(harness, hours=1)
            await failed(harness, count)
        clock.move(harness, hours=5)
        await harness.asks(anna, "Resume")
        assert "it failed 2 times in a row" in texts(anna)[-1]
