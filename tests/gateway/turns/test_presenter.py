"""The presenter: when signs and words are shown, and that nothing is shown afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.contract import Pace
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.chats import Chat
from agent_core.events import TextGrew, TextReset, ToolStarted
from agent_core.ids import CallId
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.turns.presenter import Presenter, PresenterTimings, choose_sign_pause
from tests.databases import open_database
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.rig import CHAT, delivering
from tests.patience import PATIENCE, until


@dataclass
class TimedChat(FakeChat):
    """Notes when each text was shown, by the loop's clock."""

    times: list[float] = field(default_factory=list)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        self.times.append(asyncio.get_running_loop().time())
        return await super().send(message)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        self.times.append(asyncio.get_running_loop().time())
        await super().edit(message, message_id)


@dataclass
class PlainChat(FakeChat):
    """A platform that can neither edit nor show that somebody types."""

    edit = None  # type: ignore[assignment]
    type = None  # type: ignore[assignment]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    await opened.write(
        "person", lambda c: people.insert(c, slug="ana", name="Ana", role="member", now=0)
    )
    yield opened
    await opened.close()


@asynccontextmanager
async def presenting(
    database: Database, chat: FakeChat, *, first_length: int = 0, **timings: float
) -> AsyncIterator[Presenter]:
    async with delivering(database, chat) as delivery:
        presenter = present(delivery.dispatcher, chat, first_length=first_length, **timings)
        try:
            yield presenter
        finally:
            presenter.close()


def present(
    dispatcher: OutboxDispatcher, chat: FakeChat, *, first_length: int = 0, **timings: float
) -> Presenter:
    outgoing = NewOutboxMessage(chat=Chat(platform="fake", address=CHAT), body="")
    shown = PresenterTimings(first_length=first_length, **timings)
    return Presenter(dispatcher, chat, outgoing, timings=shown)


async def test_typing_shows_first_and_words_a_little_later(
    database: Database,
) -> None:
    chat = TimedChat()
    started = asyncio.get_running_loop().time()
    async with presenting(database, chat, first_indicator=0.02, first_words=0.06) as presenter:
        presenter.show(TextGrew(delta="The answer"))
        await chat.types()
        assert chat.shown == []
        await chat.sees_text("The answer")
    assert chat.times[0] - started >= 0.06


async def test_an_instant_answer_shows_neither_sign_nor_words(
    database: Database,
) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as delivery:
        closed, later = (
            present(delivery.dispatcher, chat, first_indicator=0.02, first_words=0.02),
            present(delivery.dispatcher, chat, first_indicator=0.02, first_words=0.02),
        )
        closed.show(TextGrew(delta="never shown"))
        closed.close()
        later.show(TextGrew(delta="shown"))
        await chat.sees_text("shown")
        await chat.types()
        later.close()
        assert chat.texts == ["shown"]
        assert len(chat.typed) == 1


async def test_the_sign_is_shown_again_before_it_fades(
    database: Database,
) -> None:
    chat = FakeChat(typing_lasts=2.0)
    async with presenting(database, chat, first_indicator=0.01):
        await until(lambda: len(chat.typed) >= 2)
    assert all(1.0 <= choose_sign_pause(lasts) < lasts for lasts in (2.0, 5.0, 10.0))


async def test_half_a_sentence_and_a_short_text_are_not_shown(database: Database) -> None:
    chat = FakeChat()
    start = "This is one long sentence, which goes on and on, and has no end yet, nor will it soon"
    async with presenting(database, chat, first_length=80, first_words=0.0) as presenter:
        presenter.show(TextGrew(delta="A sentence."))
        presenter.show(TextReset())
        presenter.show(TextGrew(delta=start))
        await chat.types()
        assert chat.shown == []
        presenter.show(TextGrew(delta=". And"))
        await chat.sees_text("soon. And")
        assert [shown.texts for shown in chat.shown] == [[f"{start}. And"]]


async def test_words_are_edited_no_faster_than_the_platform_wants(
    database: Database,
) -> None:
    chat = TimedChat(pace=Pace(chat_interval=0, edit_interval=0.05, per_second=0))
    began = asyncio.get_running_loop().time()
    async with presenting(database, chat, first_words=0.0) as presenter:
        async with asyncio.timeout(PATIENCE):
            while len(chat.times) < 4:
                presenter.show(TextGrew(delta="word "))
                await asyncio.sleep(0.001)
    assert chat.times[3] - began > 0.12, "a noisy clock is forgiven, a storm of edits is not"


async def test_words_that_were_taken_back_are_not_shown(
    database: Database,
) -> None:
    chat = FakeChat()
    async with presenting(database, chat, first_words=0.03) as presenter:
        presenter.show(TextGrew(delta="A first try"))
        presenter.show(TextReset())
        presenter.show(TextGrew(delta="A second one"))
        await chat.sees_text("A second one")
        assert chat.shown[0].texts == ["A second one"]
        assert presenter.text == "A second one"


async def test_tools_are_kept_in_the_order_they_were_called(database: Database) -> None:
    async with presenting(database, FakeChat()) as presenter:
        for name in ("recall", "memory", "recall"):
            presenter.show(ToolStarted(call_id=CallId(name), name=name))
        assert presenter.tools == ["recall", "memory", "recall"]


async def test_a_platform_that_can_not_edit_or_type_is_shown_nothing_in_between(
    database: Database,
) -> None:
    plain, other = PlainChat(), FakeChat()
    async with delivering(database, plain) as delivery, delivering(database, other) as beside:
        quiet, loud = (
            present(delivery.dispatcher, plain, first_indicator=0.0, first_words=0.0),
            present(beside.dispatcher, other, first_indicator=0.0, first_words=0.0),
        )
        for one in (quiet, loud):
            one.show(TextGrew(delta="word"))
        await other.sees_text("word")
        await other.types()
        quiet.close()
        loud.close()
        assert plain.shown == []
        assert delivery.dispatcher.is_idle()
