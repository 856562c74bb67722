"""A starting gateway notices edits of memory files made while it was down."""

import logging
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection, now
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people import people
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount
from tests.integration.harness import Harness, running


async def rows(harness: Harness) -> list[LedgerEntry]:
    def look(connection: Connection) -> list[LedgerEntry]:
        ann = people.find_by_account(connection, platform="fake", user_id="ann")
        assert ann
        return ledger.find_entries(connection, person_id=ann.id, target="memory")

    return await harness.read(look)


async def test_an_edit_during_downtime_is_a_ledger_row_before_any_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, FakeModel(say("Hello."))) as harness:
        await ChatAccount(harness, "ann", "ann").says("hello")
    path = tmp_path / "memories" / "people" / "ann" / "MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("- by hand\n")
    before = now()
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="agent_core.memory.sync"):
        async with running(tmp_path, FakeModel()) as harness:
            await harness.until(lambda: "memory owners compared" in caplog.text)
            (row,) = await rows(harness)
            assert row.origin.actor == "hand"
            assert row.origin.now >= before
    assert f"{path} was edited by hand: added 1 new row to the ledger" in caplog.text
