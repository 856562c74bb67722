"""A line that says how far long work is: shown late, edited, and gone before the answer."""

from dataclasses import dataclass

import pytest

from adapters.errors import Unsure
from agent_core.chats import Chat
from agent_core.localization import use_language
from agent_core.privacy.progress import Progress
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.outbound.live_message import LiveMessage
from gateway.outbound.progress_lines import ProgressLines
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.rig import CHAT, Delivery, MuteChat, delivering
from tests.patience import until

PLACE = NewOutboxMessage(chat=Chat(platform="fake", address=CHAT), body="")
SEARCH = Progress(stage="search", done=40, total=100)
PACK = Progress(stage="pack", done=12_000, total=48_000)


@dataclass(frozen=True)
class Work:
    """Somebody's long work in the chat of a delivery."""

    delivery: Delivery

    @property
    def chat(self) -> FakeChat:
        return self.delivery.chat

    def lines(self, first: float = 0) -> ProgressLines:
        return ProgressLines(self.delivery.dispatcher, self.delivery.database, first=first)

    async def answer(self) -> None:
        await self.delivery.send("Done.")


@pytest.fixture
async def work(delivery: Delivery) -> Work:
    return Work(delivery)


async def test_a_line_grows_and_is_gone_before_the_answer(work: Work) -> None:
    async with work.lines().show(PLACE) as report:
        report(SEARCH)
        line = await work.chat.sees_text("Searching: 40%")
        report(PACK)
        await work.chat.sees_text("Messages packed: 12,000 of 48,000")
    await work.answer()
    assert work.chat.texts == ["Done."]
    assert work.chat.deleted == [line]
    assert line.is_silent


async def test_a_line_appears_before_anything_is_reported(work: Work) -> None:
    async with work.lines().show(PLACE):
        await work.chat.sees_text("I'm working on it.")
    await work.answer()
    assert work.chat.texts == ["Done."]


async def test_a_line_has_the_language_of_the_reader(work: Work) -> None:
    with use_language("de"):
        async with work.lines().show(PLACE) as report:
            report(PACK)
            await work.chat.sees_text("Gepackte Nachrichten: 12.000 von 48.000")


async def test_quick_work_and_work_of_nobody_show_no_line(work: Work) -> None:
    async with work.lines(first=45).show(PLACE) as report:
        report(SEARCH)
    async with work.lines().show(None) as report:
        report(SEARCH)
        await work.answer()
    assert work.chat.texts == ["Done."]
    assert work.chat.deleted == []


async def test_no_line_appears_where_nothing_can_be_edited(database: Database) -> None:
    async with delivering(database, MuteChat()) as delivery:
        work = Work(delivery)
        async with work.lines().show(PLACE) as report:
            report(SEARCH)
            await work.answer()
        assert work.chat.texts == ["Done."]


async def test_work_that_fails_leaves_no_line(work: Work) -> None:
    async def fail() -> None:
        async with work.lines().show(PLACE):
            await work.chat.sees(1)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await fail()
    await work.answer()
    assert work.chat.texts == ["Done."]


async def test_a_line_whose_outcome_is_unknown_is_found_and_deleted(work: Work) -> None:
    work.chat.plan(Unsure("no answer"), lost=True)
    async with work.lines().show(PLACE):
        await work.chat.sees(1)
    await work.answer()
    assert work.chat.texts == ["Done."]


async def test_the_next_start_deletes_the_line_that_a_crash_left(work: Work) -> None:
    live = LiveMessage(outbox_line())
    live.text = "Searching: 40%"
    work.delivery.dispatcher.show_live(live)
    await work.chat.sees(1)
    await until(lambda: live.row is not None and live.row.message_id is not None)
    async with delivering(work.delivery.database, work.chat) as later:
        await later.dispatcher.start()
        await later.send("Done.")
    assert work.chat.texts == ["Done."]


def outbox_line() -> NewOutboxMessage:
    return NewOutboxMessage(chat=Chat(platform="fake", address=CHAT), body="", kind="status")
