"""Events on their way to a receiver that accepts, fails, hangs, redirects, waits or is gone."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import Declined, Mistaken
from gateway.texts.webhooks import DEAD_WEBHOOK
from tests.emulators.receiver import Plan, Receiver
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import Harness
from tests.integration.webhooks.support import (
    ENDS,
    NEVER_AGAIN,
    QUICK,
    add,
    answers,
    find_webhook,
    hooked,
    list_deliveries,
    perform,
    talk,
)
from tests.patience import PATIENCE

PUBLIC = "https://example.org/hook"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as one:
        yield one


async def until_state(harness: Harness, state: str) -> None:
    """Wait for the state of the only webhook."""
    async with asyncio.timeout(PATIENCE):
        while (await find_webhook(harness)).state != state:
            await asyncio.sleep(0.01)


async def until_sent(harness: Harness, count: int) -> None:
    """Wait until so many deliveries are noted as sent."""
    async with asyncio.timeout(PATIENCE):
        while [one.state for one in await list_deliveries(harness)].count("sent") < count:
            await asyncio.sleep(0.01)


async def test_every_kind_of_event_arrives_signed(tmp_path: Path, receiver: Receiver) -> None:
    model = answers(1)
    async with hooked(tmp_path, model) as harness:
        await talk(harness)
        made = await add(harness, receiver)
        note = json.dumps({"action": "add", "target": "memory", "text": "Likes tea"})
        model.plays += [ask(call("memory", note)), say("Noted.")]
        await talk(harness, "remember that I like tea")
        await receiver.wait_for(lambda: "turn.ended" in receiver.kinds)
        await until_sent(harness, 3)
        for one in receiver.received:
            one.verify(made["secret"])
        told = {one.kind: one.told["data"] for one in receiver.received}
        assert set(told) == {"turn.started", "turn.ended", "memory.changed"}
        assert told["turn.ended"] == {"turn": told["turn.started"]["turn"], "state": "answered"}
        assert all(one.told["timestamp"].endswith("Z") for one in receiver.received)
        assert len({one.id for one in receiver.received}) == 3


async def test_only_the_wanted_kinds_and_only_what_is_new(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with hooked(tmp_path, answers(3)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        await talk(harness)
        await talk(harness)
        await receiver.gets(2)
        await until_sent(harness, 2)
        assert receiver.kinds == ["turn.ended", "turn.ended"]


async def test_a_failed_attempt_is_repeated_with_the_same_id_and_body(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.answer(Plan(500), Plan(404), Plan(hangs=True), Plan(200, body=b"x" * 5_000_000))
    async with hooked(tmp_path, answers(2)) as harness:
        await talk(harness)
        made = await add(harness, receiver, ENDS)
        await talk(harness)
        await receiver.gets(4)
        await until_sent(harness, 1)
        assert len({(one.id, one.body) for one in receiver.received}) == 1
        receiver.received[-1].verify(made["secret"])
        (delivery,) = await list_deliveries(harness)
        assert (delivery.attempts, delivery.status) == (4, 200)
        assert (await find_webhook(harness)).failures == 0


async def test_a_redirect_is_not_followed(tmp_path: Path, receiver: Receiver) -> None:
    async with Receiver() as other:
        receiver.answer(Plan(307, {"Location": other.url}), Plan(204))
        async with hooked(tmp_path, answers(2)) as harness:
            await talk(harness)
            await add(harness, receiver, ENDS)
            await talk(harness)
            await receiver.gets(2)
            await until_sent(harness, 1)
        assert other.received == []


async def test_an_attempt_that_is_asked_to_wait_waits(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answer(Plan(429, {"Retry-After": "3600"}), Plan(204))
    async with hooked(tmp_path, answers(2)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        before = harness.gateway.now()
        await talk(harness)
        await receiver.gets(1)
        async with asyncio.timeout(PATIENCE):
            while not (await find_webhook(harness)).failures:
                await asyncio.sleep(0.01)
        (delivery,) = await list_deliveries(harness)
        webhook = await find_webhook(harness)
        assert min(delivery.due_at, webhook.due_at) >= before + 3_600_000
        assert len(receiver.received) == 1


async def test_a_receiver_that_is_gone_ends_the_webhook_and_its_person_is_told_once(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.answer(Plan(410))
    chat = FakeChat()
    async with hooked(tmp_path, answers(3), chat=chat) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        await talk(harness)
        await until_state(harness, "dead")
        reason = (await find_webhook(harness)).reason
        words = DEAD_WEBHOOK(number=1, name="**hook**", reason=reason)
        await chat.sees_text(words.split("**")[0].strip())
        await talk(harness)
        assert len(receiver.received) == 1
        assert (
            len([one for one in chat.shown if "stopped sending events to your webhook" in one.text])
            == 1
        )
        receiver.answer(Plan(204))
        await perform(harness, "resume", number=1)
        await until_sent(harness, 2)
        assert [one.id for one in receiver.received].count(receiver.received[0].id) == 2


async def test_a_receiver_that_never_accepts_ends_the_webhook(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.answer(Plan(503))
    async with hooked(tmp_path, answers(2)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        await talk(harness)
        await until_state(harness, "dead")
        assert len(receiver.received) == 8
        (delivery,) = await list_deliveries(harness)
        assert (delivery.state, delivery.reason) == ("waiting", "it answers with status 503")
        await harness.chat.sees_text("stopped sending events to your webhook")


async def test_one_event_that_is_refused_does_not_hold_up_the_others(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with hooked(tmp_path, answers(12)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        receiver.answer(Plan(400))
        await talk(harness)
        await receiver.gets(1)
        poison = receiver.received[0].id
        receiver.refused = {poison}
        receiver.answer(Plan(204))
        for _ in range(10):
            await talk(harness)
        async with asyncio.timeout(PATIENCE):
            while "failed" not in [one.state for one in await list_deliveries(harness)]:
                await asyncio.sleep(0.01)
        await until_sent(harness, 10)
        assert (await find_webhook(harness)).state == "active"
        receiver.refused = set()
        again = next(one for one in await list_deliveries(harness) if one.state == "failed")
        await perform(harness, "redeliver", number=1, delivery=again.id)
        await until_sent(harness, 11)
        assert receiver.received[-1].id == poison


async def test_events_wait_while_a_webhook_is_paused(tmp_path: Path, receiver: Receiver) -> None:
    async with hooked(tmp_path, answers(5)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        await talk(harness)
        await until_sent(harness, 1)
        await perform(harness, "pause", number=1)
        await talk(harness)
        await talk(harness)
        await perform(harness, "resume", number=1)
        await until_sent(harness, 3)
        await perform(harness, "pause", number=1)
        await talk(harness)
        await perform(harness, "resume", number=1, skip=True)
        await perform(harness, "test", number=1)
        await until_sent(harness, 4)
        assert receiver.kinds == [*("turn.ended",) * 3, "webhook.test"]


async def test_what_happens_while_the_gateway_is_off_is_sent_at_its_next_start(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.answer(Plan(500))
    async with hooked(tmp_path, answers(2), timings=NEVER_AGAIN) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
        await talk(harness)
        await receiver.gets(1)
    receiver.answer(Plan(204))
    async with hooked(tmp_path, answers(1), now=lambda: 2**42) as harness:
        await until_sent(harness, 1)
        first, *_, last = receiver.received
        assert first.id == last.id


async def test_a_private_address_is_refused_by_its_resolved_name(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with hooked(tmp_path, answers(1), allow="nas.lan", timings=NEVER_AGAIN) as harness:
        await talk(harness)
        for url in (receiver.url, "http://localhost/", f"https://127.0.0.1:{receiver.port}/"):
            with pytest.raises(Mistaken, match="The address can't be used"):
                await add(harness, receiver, url=url)
        await add(harness, receiver, url=f"https://localhost:{receiver.port}/")
        await perform(harness, "test", number=1)
        async with asyncio.timeout(PATIENCE):
            while not (found := await list_deliveries(harness)) or not found[0].reason:
                await asyncio.sleep(0.01)
        assert "is not a public address" in found[0].reason
        assert receiver.received == []


async def test_someone_who_may_not_talk_any_more_gets_nothing(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with hooked(tmp_path, answers(1)) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)
    more = {"TALARIA_ACCESS__ALLOW": "fake:nobody"}
    async with hooked(tmp_path, answers(1), **more) as harness:
        await perform(harness, "test", number=1)
        await talk(harness, user="nobody", chat="2", name="Nobody", id=50)
        await add(harness, receiver, ENDS, person="nobody")
        await perform(harness, "test", number=2)
        await receiver.gets(1)
        states = [one.state for one in await list_deliveries(harness)]
        assert states[0] == "waiting"
        assert json.loads((await list_deliveries(harness))[0].payload)["type"] == "webhook.test"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kinds": ("turn.end",)}, "no events turn.end. These exist: turn.started, turn.ended,"),
        ({"name": "-"}, "The name of a webhook"),
        ({"url": "ftp://example.org/"}, "only http and https"),
    ],
    ids=["kind", "name", "url"],
)
async def test_a_mistake_adds_nothing(
    tmp_path: Path, receiver: Receiver, fields: dict[str, object], why: str
) -> None:
    async with hooked(tmp_path, answers(1)) as harness:
        await talk(harness)
        with pytest.raises(Mistaken) as caught:
            await add(harness, receiver, **fields)  # type: ignore[arg-type]
        assert why in str(caught.value)
        assert await perform(harness, "list") == {"webhooks": []}


async def test_a_person_has_a_limited_number(tmp_path: Path, receiver: Receiver) -> None:
    more = {"TALARIA_WEBHOOKS__PER_PERSON": "1"}
    async with hooked(tmp_path, answers(1), **more) as harness:
        await talk(harness)
        first = await add(harness, receiver, key="one")
        assert await add(harness, receiver, key="one") == first
        with pytest.raises(Declined, match="no more are allowed"):
            await add(harness, receiver, key="two")


async def test_nothing_rests_in_a_gateway_without_webhooks(
    tmp_path: Path, receiver: Receiver
) -> None:
    timings = replace(QUICK, look=3600.0)
    async with hooked(tmp_path, FakeModel(say("one"), say("two")), timings=timings) as harness:
        await talk(harness)
        await add(harness, receiver, ENDS)  # wakes it: the next look is an hour away
        await perform(harness, "test", number=1)
        await receiver.gets(1)
