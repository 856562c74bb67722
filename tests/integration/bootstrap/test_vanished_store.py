"""A database that vanishes under a running gateway is noticed, told and saved."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.errors import Unreachable
from adapters.ids import EventId
from adapters.messages import RawEvent
from gateway.interfaces.health import examine
from tests.integration.accounts import make_owner
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, greet, greeted
from tests.integration.processes import talaria_beside

DEEDS: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "replaced": lambda path: path.with_name("config.toml").rename(path),
    "emptied": lambda path: os.truncate(path, 0),
}


async def know_owner(harness: Harness) -> None:
    await greet(harness)
    await make_owner(harness)


@pytest.mark.parametrize("name", DEEDS)
async def test_the_owner_and_health_tell_it_and_no_event_is_acknowledged(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "state.db"
    path.with_name("config.toml").write_text("[http]\n")
    async with running(tmp_path, greeted(), TALARIA_ALERTS__ENABLED="true") as harness:
        await know_owner(harness)
        chat = harness.chat
        if name == "emptied":  # nothing can be read then, so the alarm must have looked before
            reads = chat.health_reads
            await harness.until(lambda: chat.health_reads > reads + 5)
        DEEDS[name](path)
        shown = await chat.sees_text("My database is gone")
        assert f"state.db was {name}" in shown.text
        assert "talaria restore" in shown.text
        assert not shown.is_silent
        is_well, report = await examine(harness.gateway)
        assert not is_well
        assert any(f"was {name}" in problem for problem in report["problems"])
        event = RawEvent(event_id=EventId("e9"), payload=json.dumps({"id": "9", "text": "Hi"}))
        assert chat.inlet
        with pytest.raises(Unreachable):
            await chat.inlet.take([event])
        assert sum("My database is gone" in one.text for one in chat.shown) == 1


async def test_what_was_said_before_comes_back_with_the_copy(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with running(home, greeted(), TALARIA_ALERTS__ENABLED="true") as harness:
        await know_owner(harness)
        home.joinpath("state.db").unlink()
        shown = await harness.chat.sees_text("My database is gone")
    (copy,) = home.joinpath("backups").glob("state-rescued-*.db")
    assert f"talaria restore {copy}" in shown.text
    refused = await talaria_beside(home, "people", "list")
    assert refused.code != 0
    assert "is missing, but this home was used" in refused.err
    done = await talaria_beside(home, "restore", str(copy))
    assert done.code == 0, done
    async with running(home, greeted()) as harness:
        assert await harness.read(ana)
