"""Jobs of people who are merged while they run."""

from pathlib import Path

from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount
from tests.integration.harness import running
from tests.integration.jobs_support import ana, give_job


async def test_what_a_script_says_reaches_the_person_that_its_owner_was_merged_into(
    tmp_path: Path,
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    script = f"touch {begun}; while ! test -e {go}; do sleep 0.01; done; echo finished"
    async with running(tmp_path, FakeModel(say("One."), say("Two."))) as harness:
        kept, mine = ChatAccount(harness, "2", "Ben"), ChatAccount(harness, "1", "Ana")
        await kept.says("hi")
        await mine.says("hi")
        job = await give_job(harness, script, "every 60", kind="script")
        before = await harness.read(ana)
        await harness.chat.says(f"/jobs run {job.id}")
        await harness.until(begun.exists)
        await kept.joins(mine)
        assert await harness.read(ana) != before
        go.touch()
        await harness.chat.sees_text("finished")
