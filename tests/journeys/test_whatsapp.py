"""WhatsApp through the whole gateway: its own HTTP server, Meta's webhooks, the 24 hours."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest

from agent_core.chats import Chat
from agent_core.state.people import people
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.texts import people as people_texts
from tests.emulators import whatsapp as emulated
from tests.emulators.telegram_cast import ANNA as TELEGRAM_ANNA
from tests.emulators.telegram_cast import BEN
from tests.emulators.whatsapp import DAY, WhatsAppEmulator, sign
from tests.integration.clock import Clock
from tests.journeys.stage import Harness, Stage, call, calls, facts
from tests.patience import PATIENCE

ANNA = "16505551234"
GROUP = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD"
CHAT = json.dumps([ANNA, None, True], separators=(",", ":"))


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path / "home", ("telegram", "whatsapp")) as made:
        yield made


@pytest.fixture
def meta(deployment: Stage) -> WhatsAppEmulator:
    return deployment.whatsapp


def texts(meta: WhatsAppEmulator) -> list[str]:
    return [one.text for one in meta.sent if one.to == ANNA]


async def sees(harness: Harness, meta: WhatsAppEmulator, *wanted: str) -> None:
    """Return once Anna has seen exactly these messages."""
    await harness.until(lambda: len(texts(meta)) >= len(wanted))
    await harness.at_rest()
    assert texts(meta) == [*wanted]


async def remind(harness: Harness, body: str) -> None:
    """Queue a message of Talaria's own to Anna, as a reminder does."""
    database = harness.gateway.database
    account = await database.read(people.find_by_account, platform="whatsapp", user_id=ANNA)
    assert account is not None
    outgoing = NewOutboxMessage(
        chat=Chat(platform="whatsapp", address=CHAT), body=body, person_id=account.id
    )
    row = await database.write("owe", outbox.enqueue, outgoing, now=1)
    harness.gateway.dispatcher.enqueue([row])


async def test_a_message_is_answered_and_marked_as_read(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open() as harness:
        released = deployment.hold()
        said = meta.says(ANNA, "hello")
        await harness.until(lambda: meta.marks)
        released.set()
        await sees(harness, meta, "echo: hello")
        await harness.until(lambda: meta.commands)  # the menu is told beside the messages
    assert meta.marks[0]["message_id"] == said
    names = {one["command_name"] for one in meta.commands}
    assert {"help", "new", "stop"} <= names


async def test_metas_signature_is_the_only_key_to_the_path(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open() as harness, aiohttp.ClientSession() as session:
        head = {"Host": "talaria.example.org", "Origin": "https://evil.example"}
        query = {
            "hub.mode": "subscribe",
            "hub.verify_token": emulated.VERIFY,
            "hub.challenge": "1158201444",
        }
        async with session.get(meta.callback, params=query, headers=head) as answer:
            assert (answer.status, await answer.text()) == (200, "1158201444")
        body = json.dumps(meta.wrap()).encode()
        async with session.post(meta.callback, data=body, headers=head) as answer:
            assert answer.status == 401
        signed = head | {"X-Hub-Signature-256": sign(body)}
        async with session.post(meta.callback, data=body, headers=signed) as answer:
            assert answer.status == 200
        other = meta.callback.replace("whatsapp", "telegram")
        async with session.post(other, data=body, headers=signed) as answer:
            assert answer.status == 404
        async with session.post(
            meta.callback, data=BytesIO(b"x" * 5_000_000), headers=head
        ) as answer:
            assert answer.status == 413
        assert await harness.count("inbox", "platform = 'whatsapp'") == 0


async def test_a_group_shows_nothing_that_was_said_alone(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    anna, ben = (deployment.account("whatsapp", one) for one in (TELEGRAM_ANNA, BEN))
    meta.groups[GROUP] = 3
    async with deployment.open() as harness:
        nuts = call("memory", action="add", target="user", text="Is allergic to nuts")
        deployment.plan(calls(nuts), "Got it.")
        await harness.hears(anna, "Remember that I am allergic to nuts")
        assert await harness.hears(anna, "lunch at one", room=GROUP, mentions=False) == ""
        assert await harness.hears(anna, "what to cook?", room=GROUP) == "echo: what to cook?"
        shown = deployment.turns[-1]
        assert "nuts" not in json.dumps(shown)
        assert "others can read along" in facts(shown)
        assert await harness.hears(ben, "and I?", room=GROUP) == "echo: and I?"
        await harness.hears(anna, "what to cook?")
        assert "allergic to nuts" in json.dumps(deployment.turns[-1])


async def test_what_is_due_after_a_day_waits_and_comes_first(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open() as harness:
        long_ago = {"type": "text", "text": {"body": "hello"}}
        meta.sends(ANNA, long_ago, at=time.time() - DAY + 180)
        await sees(harness, meta, "echo: hello")
        meta.sent.clear()
        meta.last_heard[ANNA] = 0
        await remind(harness, "Water the plants")
        await remind(harness, "Call Bob")
        await harness.at_rest()
        await harness.until(harness.gateway.dispatcher.is_idle)
        assert texts(meta) == []
    async with deployment.open() as harness:
        meta.says(ANNA, "good morning")
        waited = (
            "WhatsApp lets me write only for a day after your last message, so these 2 messages"
            " waited for you:"
        )
        await sees(harness, meta, waited, "Water the plants", "Call Bob", "echo: good morning")
        assert await harness.count("outbox", "state <> 'sent'") == 0


async def test_a_reminder_after_a_day_of_silence_waits_for_the_person(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    deployment.now = clock = Clock(2026, 11, 22, 18, 0)
    anna = deployment.account("whatsapp", TELEGRAM_ANNA)
    async with deployment.open() as harness:
        plants = call("remind", text="Water the plants", when="2026-11-24T09:00")
        deployment.plan(calls(plants), "I'll remind you on Tuesday.")
        assert "on Tuesday" in await harness.hears(anna, "Remind me on Tuesday at 9 of the plants")
        meta.sent.clear()
        meta.last_heard[anna.user_id] = 0  # Meta's day is over
        clock.move(harness, hours=40)
        await rests(harness)
        assert anna.seen() == []
        await anna.says("good morning")
        await harness.until(lambda: len(anna.seen()) == 3)
        waited, reminder, answer = (one.text for one in anna.seen())
        assert "only for a day after your last message" in waited
        assert "Water the plants" in reminder
        assert answer == "echo: good morning"


async def rests(harness: Harness) -> None:
    """Return once a message waits for its person."""
    async with asyncio.timeout(PATIENCE):
        while not await harness.count("outbox", "state = 'dead'"):
            await asyncio.sleep(0.005)


async def test_a_template_is_sent_after_a_day(deployment: Stage, meta: WhatsAppEmulator) -> None:
    template = {"TALARIA_WHATSAPP__TEMPLATE": "talaria_reminder"}
    async with deployment.open(**template) as harness:
        meta.says(ANNA, "hello")
        await sees(harness, meta, "echo: hello")
        meta.last_heard[ANNA] = 0
        await remind(harness, "Water the plants")
        await sees(harness, meta, "echo: hello", "Water the plants")
        assert meta.sent[-1].request["type"] == "template"


async def test_a_message_that_fails_for_now_comes_later(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open() as harness:
        meta.status_errors.append({"code": 131000, "title": "Something went wrong"})
        meta.says(ANNA, "hello")
        await sees(harness, meta, "echo: hello")


async def test_a_message_that_meta_gives_up_is_said_and_kept(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open() as harness:
        meta.status_errors.append({"code": 131053, "title": "Media upload error"})
        meta.says(ANNA, "hello")
        await harness.until(lambda: texts(meta))
        assert "/retry" in texts(meta)[0]
        assert await harness.count("outbox", "state = 'dead'") == 1


async def test_a_stranger_gets_a_code_and_nothing_else(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    async with deployment.open(f"telegram:{TELEGRAM_ANNA}") as harness:
        meta.says(ANNA, "hello")
        await harness.until(lambda: texts(meta))
        assert "code" in texts(meta)[0]
        assert deployment.turns == []


async def link_whatsapp(harness: Harness, number: str) -> None:
    """Link a WhatsApp account to Anna's on Telegram."""
    stage = harness.stage
    told = await harness.ask(TELEGRAM_ANNA, "/link whatsapp")
    code = next(word for word in told.replace("`", " ").split() if word.count("-") == 1)
    stage.whatsapp.says(number, f"/link {code}")
    await harness.until(lambda: any(one.to == number for one in stage.whatsapp.sent))
    await harness.press(stage.account("telegram", TELEGRAM_ANNA), people_texts.YES())


async def test_one_person_links_whatsapp_to_their_other_app(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    allowed = f"telegram:{TELEGRAM_ANNA},whatsapp:{ANNA}"
    async with deployment.open(allowed) as harness:
        await link_whatsapp(harness, ANNA)
        database = harness.gateway.database
        known = {"telegram": str(TELEGRAM_ANNA), "whatsapp": ANNA}
        both = [
            await database.read(people.find_by_account, platform=name, user_id=user_id)
            for name, user_id in known.items()
        ]
        assert len({one.id for one in both if one is not None}) == 1


async def test_what_whatsapp_has_to_keep_back_goes_to_the_persons_other_app(
    deployment: Stage, meta: WhatsAppEmulator
) -> None:
    deployment.now = clock = Clock(2026, 11, 22, 18, 0)
    whatsapp, telegram = (
        deployment.account(name, TELEGRAM_ANNA) for name in ("whatsapp", "telegram")
    )
    async with deployment.open() as harness:
        await link_whatsapp(harness, whatsapp.user_id)
        plants = call("remind", text="Water the plants", when="2026-11-24T09:00")
        deployment.plan(calls(plants), "I'll remind you on Tuesday.")
        await harness.hears(whatsapp, "Remind me here on Tuesday at 9 of the plants")
        meta.sent.clear()
        meta.last_heard[whatsapp.user_id] = 0  # Meta's day is over
        seen = len(telegram.seen())
        clock.move(harness, hours=40)
        await harness.until(lambda: len(telegram.seen()) > seen)
        await harness.at_rest()
        (reminder,) = (one.text for one in telegram.seen()[seen:])
        assert "Water the plants" in reminder
        assert await harness.hears(whatsapp, "good morning") == "echo: good morning"
        assert [one.text for one in whatsapp.seen()] == ["echo: good morning"]
