"""Delivery during several faults: a failing store, ended turns, bugs in adapters."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from adapters.contract import Pace
from adapters.errors import ChatWaits, RateLimited, Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import DeliveryReport, OutboundMessage
from agent_core.chats import Chat
from agent_core.ids import TurnId
from agent_core.state.engine.database import Database
from agent_core.state.queues import outbox, unreachable_chats
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import begin_turn, finalize, live_of, queued_message_of
from tests.gateway.outbound.rig import CHAT, Delivery, MuteChat, delivering
from tests.patience import until

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


async def test_a_sent_message_that_could_not_be_recorded_is_not_sent_again(
    delivery: Delivery, caplog: pytest.LogCaptureFixture
) -> None:
    relent = await refuse(delivery.database, "NEW.state = 'sent'")
    row = await delivery.queue("hello")
    await until(lambda: "the record of outbox" in caplog.text)
    await relent()
    await delivery.until_sent(row)
    assert delivery.chat.texts == ["hello"]


@pytest.mark.parametrize("outages", [0, 2])
async def test_an_unrecorded_unknown_delivery_is_reconciled(
    delivery: Delivery, caplog: pytest.LogCaptureFixture, outages: int
) -> None:
    delivery.chat.plan(Unsure("no answer"), lost=True)
    for _ in range(outages):
        delivery.chat.plan(Unreachable("down"))
    relent = await refuse(delivery.database, "NEW.state = 'unsure'")
    row = await delivery.queue("hello")
    await until(lambda: "delivery waits for the store" in caplog.text)
    await relent()
    await delivery.until_sent(row)
    assert delivery.chat.texts == ["hello"]
    assert delivery.chat.looked == ["hello"] * (1 + outages)


async def test_a_found_message_is_not_sent_again_without_edits(database: Database) -> None:
    chat = MuteChat()
    chat.plan(Unsure("no answer"), lost=True)
    async with delivering(database, chat) as delivery:
        await delivery.send("hello")
    assert chat.texts == ["hello"]


async def test_a_live_message_of_an_ended_turn_is_not_sent(database: Database) -> None:
    chat = FakeChat(pace=replace(NO_PACE, chat_interval=0.1))
    turn_id = await begin_turn(database)
    async with delivering(database, chat) as delivery:
        await delivery.send("something before")
        delivery.dispatcher.show_live(live_of(turn_id, "The answer"))
        await delivery.finish(await finalize(database, turn_id, "The answer is 42."))
    assert [shown.texts for shown in chat.shown] == [["something before"], ["The answer is 42."]]


async def test_a_turn_has_one_live_message(delivery: Delivery) -> None:
    turn_id = await begin_turn(delivery.database)
    delivery.dispatcher.show_live(live_of(turn_id, "The answer"))
    await delivery.chat.sees_text("The answer")
    second = live_of(turn_id, "The same answer, by the turn taken up anew")
    delivery.dispatcher.show_live(second)
    await until(lambda: second.is_over)
    assert delivery.chat.texts == ["The answer"]


@pytest.mark.parametrize("error", [Unreachable("down"), RateLimited("slow", retry_after=0.01)])
async def test_a_live_message_refused_after_its_turn_is_sent_without_reconciling(
    delivery: Delivery, error: Unreachable | RateLimited
) -> None:
    delivery.chat.gate = asyncio.Event()
    delivery.chat.plan(error)
    turn_id = await begin_turn(delivery.database)
    live = live_of(turn_id, "Thinking")
    delivery.dispatcher.show_live(live)
    await until(lambda: live.row)
    row = await finalize(delivery.database, turn_id, "Done.")
    live.is_over = True
    delivery.dispatcher.enqueue([row])
    delivery.chat.gate.set()
    await delivery.until_sent(row)
    assert [shown.texts for shown in delivery.chat.shown] == [["Done."]]
    assert delivery.chat.looked == []


async def test_edits_do_not_pile_up_behind_a_slow_live_message(delivery: Delivery) -> None:
    delivery.chat.gate = asyncio.Event()
    turn_id = await begin_turn(delivery.database)
    live = live_of(turn_id, "word")
    delivery.dispatcher.show_live(live)
    await until(lambda: live.row)
    for _ in range(100):
        live.text += " word"
        delivery.dispatcher.show_live(live)
    assert len(delivery.dispatcher._workers.waiting(("fake", CHAT))) == 2
    delivery.chat.gate.set()
    await until(lambda: live.shown[0] == live.text)
    await delivery.finish(await finalize(delivery.database, turn_id, "Done."))
    assert len(delivery.chat.shown[0].texts) == 3, "the opening, all that came meanwhile, the end"


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
    async with delivering(database, chat) as delivery:
        row = await delivery.queue("hello")
        await chat.sees_text(general.describe_dead())
        await delivery.until_state(row, "dead")


async def test_messages_for_a_disabled_platform_stay_queued(delivery: Delivery) -> None:
    chat = Chat(platform="elsewhere", address=CHAT)
    elsewhere = replace(queued_message_of(TurnId(1), "hello"), chat=chat, turn_id=None)
    row = await delivery.database.write("owe", lambda c: outbox.enqueue(c, elsewhere, now=0))
    await delivery.dispatcher.start()
    delivery.dispatcher.enqueue([row])
    assert delivery.dispatcher.is_idle()
    assert (await delivery.until_state(row, "owed")).attempts == 0


async def test_a_closing_gateway_sends_only_outbox_messages(delivery: Delivery) -> None:
    turn_id = await begin_turn(delivery.database)
    row = await delivery.queue("owed")
    delivery.dispatcher.close()
    delivery.dispatcher.show_live(live_of(turn_id, "Thinking"))
    delivery.dispatcher.indicators.type(Chat(platform="fake", address=CHAT))
    await delivery.queue("for the next start")
    await delivery.until_sent(row)
    assert delivery.chat.texts == ["owed"]
    assert delivery.chat.typed == []


async def test_a_message_that_is_given_up_while_it_is_looked_for_stays_so(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"))
    async with delivering(database, chat) as delivery:
        row = await delivery.queue("hello")
        await delivery.until_state(row, "unsure")
        chat.gate = asyncio.Event()  # the look waits
        await until(lambda: chat.looked)
        report = DeliveryReport(
            address=Address(chat_id="1", is_direct=True),
            message_id=PlatformMessageId("m"),
            key=row.key,
            outcome="refused",
            reason="no such file",
        )
        await delivery.dispatcher.take_report("fake", report)
        chat.gate.set()
        await delivery.until_idle()
        assert (await delivery.state(row)).state == "dead"
        assert "hello" not in chat.texts


async def test_who_writes_while_a_message_is_refused_gets_it_without_writing_again(
    delivery: Delivery,
) -> None:
    delivery.chat.gate = asyncio.Event()
    delivery.chat.plan(ChatWaits())
    row = await delivery.queue("Water the plants")
    await delivery.until_state(row, "sending")
    await delivery.dispatcher.revive(Chat(platform="fake", address=CHAT))
    delivery.chat.gate.set()
    await delivery.until_sent(row)
    assert delivery.chat.texts == ["Water the plants"]
    assert await delivery.database.read(unreachable_chats.list_all) == {}
