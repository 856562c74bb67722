"""Owners hear of everybody who waits to be let in: once, and never in a flood."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.accounts import ChatAccount, code_in, count, make_owner
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running

START = (2026, 11, 20, 12, 0)


@asynccontextmanager
async def opened(
    home: Path, clock: Clock, chat: FakeChat | None = None
) -> AsyncIterator[tuple[Harness, ChatAccount]]:
    """A gateway with Zebrana as its owner."""
    async with running(
        home, FakeModel(), chat=chat, now=clock, TALARIA_ACCESS__ALLOW="fake:1"
    ) as harness:
        owner = ChatAccount(harness, "1", "Zebrana")
        await owner.says("/help")
        await make_owner(harness)
        harness.gateway.forget_known()
        yield harness, owner


def told(harness: Harness) -> list[str]:
    """The notices to the owner about people who wait."""
    return [
        one.text for one in harness.chat.shown if one.chat_id == "1" and "to be let in" in one.text
    ]


async def write(harness: Harness, names: Sequence[str]) -> None:
    for name in names:
        await ChatAccount(harness, f"9{name}", name).says("hello?")


async def pass_hours(harness: Harness, clock: Clock, hours: int) -> None:
    """Let time pass; return once every background task that is due is done."""
    clock.pass_unseen(hours=hours)
    harness.gateway.tasks_due.set()

    async def is_done() -> bool:
        return not await count(harness, "tasks", f"state != 'done' AND due_at <= {clock()}")

    while not await is_done():
        await harness.until(harness.gateway.dispatcher.is_idle)
    await harness.at_rest()


async def test_everybody_who_waits_is_named_to_the_owners_exactly_once(tmp_path: Path) -> None:
    clock = Clock(*START)
    names = [f"Guest{number:02}" for number in range(1, 13)]
    async with opened(tmp_path, clock) as (harness, _):
        await write(harness, names[:9])
        assert [text.split()[0].strip("“”") for text in told(harness)] == names[:5]
        await pass_hours(harness, clock, 6)
        assert len(told(harness)) == 6
        assert all(name in told(harness)[-1] for name in names[5:9])
        # Who was named is not named again, whether they write the same day or another.
        await write(harness, names[:9])
        await pass_hours(harness, clock, 30)
        await write(harness, names[:9])
        await pass_hours(harness, clock, 6)
        assert len(told(harness)) == 6
        await write(harness, names[9:])
        for name in names:
            assert sum(name in text for text in told(harness)) == 1


async def test_whoever_is_let_in_meanwhile_is_not_announced_later(tmp_path: Path) -> None:
    clock = Clock(*START)
    names = [f"Guest{number:02}" for number in range(1, 8)]
    async with opened(tmp_path, clock) as (harness, owner):
        await write(harness, names[:-1])
        code = code_in(await ChatAccount(harness, "99", names[-1]).says("hello?"))
        assert "can now talk" in await owner.says(f"/approve {code}")
        await pass_hours(harness, clock, 6)
        assert names[-2] in told(harness)[-1]
        assert names[-1] not in told(harness)[-1]


async def test_a_crowd_of_strangers_makes_one_message_more_that_stays_short(
    tmp_path: Path,
) -> None:
    clock, chat = Clock(*START), FakeChat()
    async with opened(tmp_path, clock, chat) as (harness, _):
        await write(harness, [f"Guest{number:02}" for number in range(20)])
        assert len(told(harness)) == 5
    # What waits to be told survives a restart.
    async with opened(tmp_path, clock, chat) as (harness, _):
        await pass_hours(harness, clock, 6)
        assert len(told(harness)) == 6
        assert "15 more people" in told(harness)[-1]
        assert len(told(harness)[-1]) < 600
