"""Outages of Telegram and the provider: who is delayed, who is told, and what arrives."""

import time

from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN
from tests.fakes.chat import FakeChat
from tests.journeys.stage import PATIENCE, Harness, Stage, heard


def detail(harness: Harness) -> str:
    return harness.gateway.platforms.health()["telegram"].detail


async def test_a_rate_limit_of_telegram_delays_one_chat_only(stage: Stage) -> None:
    stage.telegram.fail("sendMessage", kind=faults.retry_after(600), chat_id=ANNA)
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "one") == ""
        # Nothing is sent to Anna's chat before the pause ends.
        assert await harness.ask(ANNA, "two") == ""
        assert await harness.ask(ANNA, "/status") == ""
        for number in range(3):
            assert await harness.ask(BEN, f"hello {number}") == f"echo: hello {number}"
        assert stage.telegram.calls["sendMessage"] == 4
        assert stage.telegram.texts(ANNA) == []


async def test_after_a_rate_limit_messages_keep_their_order(stage: Stage) -> None:
    stage.telegram.fail("sendMessage", kind=faults.retry_after(1), chat_id=ANNA)
    async with stage.open() as harness:
        started = time.monotonic()
        for words in ("one", "two", "three"):
            await stage.telegram.says(ANNA, words)
            await harness.at_rest()
        await harness.sees(ANNA, "echo: three")
        assert time.monotonic() - started >= 1
        assert stage.telegram.texts(ANNA) == ["echo: one", "echo: two", "echo: three"]


async def test_a_person_who_blocks_the_bot_gets_the_answer_on_asking_again(stage: Stage) -> None:
    stage.telegram.fail("sendMessage", kind=faults.blocked(), chat_id=ANNA)
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "hello") == ""
        assert stage.telegram.calls["sendMessage"] == 1, "neither a retry nor a complaint"
        assert await harness.count("outbox", "state = 'dead'") == 1
        assert await harness.ask(BEN, "hello") == "echo: hello"
        # They unblock the bot and ask for the missed answer.
        assert "1 message wasn't delivered" in await harness.ask(ANNA, "/status")
        assert await harness.ask(ANNA, "/retry") == "echo: hello"
        assert len(stage.turns) == 2
        assert await harness.count("outbox", "state = 'dead'") == 0


async def test_a_message_refused_by_telegram_is_reported_and_kept(stage: Stage) -> None:
    refused = faults.refused("Bad Request: can't parse entities")
    stage.telegram.fail("sendMessage", kind=refused, chat_id=ANNA)
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "hello")
        assert "I couldn't deliver an answer here." in reported
        assert await harness.ask(ANNA, "/retry") == "echo: hello"


async def test_answers_with_unknown_delivery_are_each_seen_once(stage: Stage) -> None:
    mishaps = {
        4001: faults.DROP,
        4002: faults.LOSE,
        4003: faults.internal(502),
        4004: faults.garbage(),
    }
    async with stage.open() as harness:
        for user in mishaps:
            assert await harness.ask(user, "one") == "echo: one"
        for user, fault in mishaps.items():
            stage.telegram.fail("sendMessage", kind=fault, chat_id=user)
            await stage.telegram.says(user, "two")
        await harness.until(lambda: stage.telegram.calls["sendMessage"] == 8)
        await harness.at_rest()
        for user in mishaps:
            await stage.telegram.says(user, "three")
        for user in mishaps:
            await harness.sees(user, "echo: three")
        await harness.at_rest()
        for user in mishaps:
            assert stage.telegram.texts(user) == ["echo: one", "echo: two", "echo: three"]


async def test_a_second_program_with_the_token_is_reported_and_the_console_works(
    stage: Stage,
) -> None:
    conflict = faults.refused(
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance"
        " is running",
        status=409,
    )
    stage.telegram.fail("getUpdates", 1000, kind=conflict)
    async with stage.open(awaited=("console",)) as harness, harness.terminal() as terminal:
        await harness.until(lambda: harness.state_of("telegram") == "disconnected")
        assert "Another program is receiving messages" in detail(harness)
        assert "TELEGRAM_BOT_TOKEN" in detail(harness)
        assert await terminal.ask("hello") == "echo: hello"
        # The other program stops: everything continues by itself.
        stage.telegram.clear_faults()
        await harness.until(lambda: harness.state_of("telegram") == "connected")
        assert await harness.ask(ANNA, "hello") == "echo: hello"


async def test_a_foreign_webhook_is_removed(stage: Stage) -> None:
    stage.telegram.webhook = "https://elsewhere.example"
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "hello") == "echo: hello"


async def test_a_wrong_token_is_reported_and_harms_no_other_platform(stage: Stage) -> None:
    other = FakeChat()
    async with (
        stage.open(
            adapters={"fake": other},
            awaited=("console",),
            TELEGRAM_BOT_TOKEN="123456789:AAwrong-token-of-some-35-characters",
        ) as harness,
        harness.terminal() as terminal,
    ):
        await harness.until(lambda: harness.state_of("telegram") == "stopped")
        assert "does not know the token in TELEGRAM_BOT_TOKEN" in detail(harness)
        assert await terminal.ask("hello") == "echo: hello"
        await other.says("and here?")
        assert await other.sees(1) == ["echo: and here?"]
        await harness.at_rest()


async def test_an_outage_of_telegram_loses_no_message(stage: Stage) -> None:
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "one") == "echo: one"
        release = stage.hold()
        await stage.telegram.says(ANNA, "two")
        await harness.until(lambda: len(stage.turns) == 2 and not stage.telegram.pending)
        await stage.telegram.stop()
        release.set()
        await harness.until(lambda: harness.state_of("telegram") == "disconnected")
        await stage.telegram.says(ANNA, "three")
        await stage.telegram.says(BEN, "me too")
        await stage.telegram.start()
        await harness.sees(ANNA, "echo: three")
        await harness.sees(BEN, "echo: me too")
        await harness.at_rest()
        assert stage.telegram.texts(ANNA) == ["echo: one", "echo: two", "echo: three"]
        assert stage.telegram.texts(BEN) == ["echo: me too"]


async def test_a_provider_outage_is_reported_and_retry_works_afterwards(stage: Stage) -> None:
    async with stage.open(TALARIA_MODEL__PATIENCE="0") as harness:
        assert await harness.ask(ANNA, "one") == "echo: one"
        port = stage.model.port
        await stage.model.stop()
        reported = await harness.ask(ANNA, "two")
        assert "I couldn't reach the model" in reported
        assert "I still have your message: /retry" in reported
        # Polling continues, and everything without a model works.
        assert "Model: anthropic" in await harness.ask(BEN, "/status")
        assert harness.state_of("telegram") == "connected"
        await stage.model.start(port)
        assert await harness.ask(ANNA, "/retry") == "echo: two"
        assert heard(stage.turns[-1])[0] == "one"
        assert "There's nothing to retry" in await harness.ask(BEN, "/retry")


async def test_a_gateway_starts_during_a_provider_outage_and_answers_afterwards(
    stage: Stage,
) -> None:
    port = stage.model.port
    await stage.model.stop()
    async with stage.open() as harness:
        await stage.telegram.says(ANNA, "hello")
        await harness.until(lambda: not stage.telegram.pending and harness.gateway.router.is_idle())
        await stage.model.start(port)
        await harness.sees(ANNA, "echo: hello")
        await harness.at_rest()
        assert stage.telegram.texts(ANNA) == ["echo: hello"]


async def test_a_flood_delays_only_its_person(stage: Stage) -> None:
    rooms = [stage.telegram.group(-1_001_000_000_100 - n, f"Room {n}") for n in range(5)]
    async with stage.open(TALARIA_TURNS__AT_ONCE="3", TALARIA_TURNS__PER_PERSON="2") as harness:
        release = stage.hold()
        for room in rooms:
            await stage.telegram.says(ANNA, "@talaria_bot hello", chat=room)
        await harness.until(lambda: len(stage.turns) == 2)
        await harness.until(lambda: not stage.telegram.pending and harness.gateway.router.is_idle())
        await stage.telegram.says(BEN, "just one thing")
        await harness.until(lambda: len(stage.turns) == 3)
        assert heard(stage.turns[-1]) == ["just one thing"]
        release.set()
        await harness.at_rest()
        assert [stage.telegram.texts(room) for room in rooms] == [["echo: hello"]] * 5


async def test_a_hundred_people_are_each_answered_once_in_their_own_chat(
    stage: Stage,
) -> None:
    people = range(5001, 5101)
    async with stage.open() as harness:
        release = stage.hold()
        for user in people:
            await stage.telegram.says(user, f"I am {user}")
        await harness.until(lambda: len(stage.turns) == len(people))
        release.set()
        await harness.at_rest()
    assert {user: stage.telegram.texts(user) for user in people} == {
        user: [f"echo: I am {user}"] for user in people
    }


async def test_a_new_bot_with_the_old_ones_message_numbers_is_heard(stage: Stage) -> None:
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "hello") == "echo: hello"
    async with TelegramEmulator(token="987654321:AAanother-token-of-35-characters-x") as second:
        second.user(ANNA, "Anna")
        async with stage.open(
            TELEGRAM_BOT_TOKEN=second.token, TELEGRAM_API_BASE_URL=second.base_url
        ):
            await second.says(ANNA, "hello to the new bot")
            await second.wait_for(lambda: second.texts(ANNA), PATIENCE)
        assert second.texts(ANNA) == ["echo: hello to the new bot"]
