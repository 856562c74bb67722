"""A conversation goes on after `/forget` took words out of what its messages report."""

from pathlib import Path

from agent_core.models.scripted.stand_in import StandInModel
from gateway.texts import privacy
from tests.integration.accounts import ChatAccount
from tests.integration.harness import running
from tests.integration.privacy.deletions import settled


async def test_a_note_that_was_taken_back_and_forgotten_blocks_no_later_message(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, StandInModel()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("remember that I play chess")
        await ana.says("/undo")
        await ana.says("hello")
        await ana.says("/forget chess")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert "couldn't" not in await ana.says("hello")
