"""Delivery during several faults: a failing store, ended turns, bugs in adapters."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from adapters.contract import Pace
from adapters.errors import RateLimited, Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.ids import TurnId
from agent_core.state.engine.database import Database
from agent_core.state.queues import outbox
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import (
    CHAT,
    begin_turn,
    finalize,
    live_of,
    queued_message_of,
)
from tests.gateway.outbound.test_dispatcher import (
    MuteChat,
    delivering,
    enqueue,
    until_sent,
    until_state,
)

NO_PACE = Pace(chat_interval=0, edit_interval=0, per_second=0)


async def refuse(database: Database, condition: str) -> Callable[[], Awaitable[None]]:
    """Make the store fail for some changes of the outbox, like a full disk."""
    trigger = (
        f"CREATE TRIGGER no BEFORE UPDATE ON outbox WHEN {condition}"
        " BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    await database.write("test", lambda c: c.execute(trigger))

    async def relent() -> None:
        await database.write("test", lambda c: c.execute("DROP TRIGGER no"))

    return relent


async def until_logged(caplog: pytest.LogCaptureFixture, words: str) -> None:
    async with asyncio.timeout(45):
        while words not in caplog.text:
            await asyncio.sleep(0.002)


async def test_a_sent_message_that_could_not_be_recorded_is_not_sent_again(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    chat = FakeChat()
    relent = await refuse(database, "NEW.state = 'sent'")
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_logged(caplog, "the record of outbox")
        await relent()
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]


async def test_an_unrecorded_unknown_delivery_is_reconciled(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    relent = await refuse(database, "NEW.state = 'unsure'")
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_logged(caplog, "delivery waits for the store")
        await relent()
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]
    assert chat.looked == ["hello"]


async def test_an_unrecorded_unknown_delivery_survives_an_outage(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    chat.plan(Unreachable("down"))
    chat.plan(Unreachable("still down"))
    relent = await refuse(database, "NEW.state = 'unsure'")
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_logged(caplog, "delivery waits for the store")
        await relent()
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]


async def test_a_found_message_is_not_sent_again_without_edits(
    database: Database,
) -> None:
    chat = MuteChat()
    chat.plan(Unsure("no answer"), lost=True)
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]


async def test_a_live_message_of_an_ended_turn_is_not_sent(
    database: Database,
) -> None:
    chat = FakeChat(pace=replace(NO_PACE, chat_interval=0.1))
    turn_id = await begin_turn(database)
    async with delivering(database, chat) as dispatcher:
        first = await enqueue(database, "something before")
        dispatcher.enqueue([first])
        await until_sent(database, first)
        dispatcher.show_live(live_of(turn_id, "The answer"))
        row = await finalize(database, turn_id, "The answer is 42.")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.texts for shown in chat.shown] == [["something before"], ["The answer is 42."]]


async def test_a_turn_has_one_live_message(database: Database) -> None:
    chat = FakeChat()
    turn_id = await begin_turn(database)
    async with delivering(database, chat) as dispatcher:
        dispatcher.show_live(live_of(turn_id, "The answer"))
        await chat.sees_text("The answer")
        second = live_of(turn_id, "The same answer, by the turn taken up anew")
        dispatcher.show_live(second)
        async with asyncio.timeout(45):
            while not second.is_over:
                await asyncio.sleep(0.002)
    assert [shown.text for shown in chat.shown] == ["The answer"]


@pytest.mark.parametrize("error", [Unreachable("down"), RateLimited("slow", retry_after=0.01)])
async def test_a_live_message_refused_after_its_turn_is_sent_without_reconciling(
    database: Database, error: Unreachable | RateLimited
) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    chat.plan(error)
    turn_id = await begin_turn(database)
    live = live_of(turn_id, "Thinking")
    async with delivering(database, chat) as dispatcher:
        dispatcher.show_live(live)
        async with asyncio.timeout(45):
            while live.row is None:
                await asyncio.sleep(0.002)
        row = await finalize(database, turn_id, "Done.")
        live.is_over = True
        dispatcher.enqueue([row])
        chat.gate.set()
        await until_sent(database, row)
    assert [shown.texts for shown in chat.shown] == [["Done."]]
    assert chat.looked == []


async def test_edits_do_not_pile_up_behind_a_slow_live_message(database: Database) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    turn_id = await begin_turn(database)
    live = live_of(turn_id, "word")
    async with delivering(database, chat) as dispatcher:
        dispatcher.show_live(live)
        async with asyncio.timeout(45):
            while live.row is None:
                await asyncio.sleep(0.002)
        for _ in range(100):
            live.text += " word"
            dispatcher.show_live(live)
        assert len(dispatcher._workers.waiting(("fake", CHAT))) == 2
        chat.gate.set()
        async with asyncio.timeout(45):
            while live.shown[0] != live.text:
                await asyncio.sleep(0.002)
        row = await finalize(database, turn_id, "Done.")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert len(chat.shown[0].texts) == 3, "the opening, all that came meanwhile, the end"


@dataclass
class BrokenChat(FakeChat):
    """A platform whose adapter has a bug."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if "/retry" not in message.text:
            raise KeyError("planned")
        return await super().send(message)


async def test_a_message_that_breaks_its_adapter_is_set_aside_and_reported(
    database: Database,
) -> None:
    chat = BrokenChat()
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await chat.sees_text(general.describe_dead())
        await until_state(database, row, "dead")


async def test_messages_for_a_disabled_platform_stay_queued(database: Database) -> None:
    chat = FakeChat()
    elsewhere = replace(queued_message_of(TurnId(1), "hello"), platform="elsewhere", turn_id=None)
    row = await database.write("owe", lambda c: outbox.enqueue(c, elsewhere, now=0))
    async with delivering(database, chat) as dispatcher:
        await dispatcher.start()
        dispatcher.enqueue([row])
        assert dispatcher.is_idle()
    assert (await until_state(database, row, "owed")).attempts == 0


async def test_a_closing_gateway_sends_only_outbox_messages(database: Database) -> None:
    chat = FakeChat()
    turn_id = await begin_turn(database)
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "owed")
        dispatcher.enqueue([row])
        dispatcher.close()
        dispatcher.show_live(live_of(turn_id, "Thinking"))
        dispatcher.indicators.type("fake", CHAT)
        late = await enqueue(database, "for the next start")
        dispatcher.enqueue([late])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["owed"]
    assert chat.typed == []
