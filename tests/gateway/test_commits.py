"""A turn on a quiet chat takes four commits: its answer is on its way from the one that ends it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adapters.errors import RateLimited
from agent_core.state import outbox
from agent_core.state.database import Connection
from gateway import app
from gateway.app import Extensions, Gateway
from gateway.settings import load
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.gateway.running import House, running


@dataclass
class Commits:
    """The works of each commit, in order."""

    groups: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, moment: Literal["begin", "committed"], names: tuple[str, ...]) -> None:
        if moment == "committed":
            self.groups.append(names)


async def test_an_answer_that_can_leave_at_once_needs_no_commit_of_its_own(tmp_path: Path) -> None:
    chat, commits = FakeChat(), Commits()
    settings = load({"TALARIA_HOME": str(tmp_path), "TALARIA_ACCESS__ALLOW": "*"})
    stop, opened = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def watch(gateway: Gateway) -> None:
        opened.set_result(gateway)

    extensions = Extensions(
        adapters={"fake": chat}, model=FakeModel(say("one"), say("two")), observe=commits
    )
    serving = asyncio.create_task(
        app.run(settings, stop=stop, companions=(watch,), extensions=extensions)
    )
    house = House(gateway=await opened, chat=chat, model=FakeModel())
    await house.until(lambda: chat.inlet is not None)
    await chat.says("first")
    await house.at_rest()
    commits.groups.clear()
    await chat.says("second")
    await house.at_rest()
    stop.set()
    await serving
    works = [name for group in commits.groups for name in group]
    assert works == ["inbox.store", "turns.begin", "turns.settle", "outbox.sent"]


async def test_an_answer_that_was_on_its_way_and_may_not_leave_is_owed_again(
    tmp_path: Path,
) -> None:
    chat = FakeChat()
    chat.plan(RateLimited("slow down", retry_after=0.05))
    async with running(tmp_path, FakeModel(say("Yes.")), chat=chat) as house:
        await chat.says("hello")
        assert await chat.sees(1) == ["Yes."]
        await house.at_rest()

        def count(connection: Connection) -> int:
            return outbox.count(connection, state="sent")

        assert await house.read(count) == 1
