"""Model outages: fallback models answer, turns wait, and nobody has to ask again."""

import asyncio
import re
import sqlite3
from dataclasses import replace

import pytest

from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.errors import SettingsError
from gateway.turns.presenter import PresenterTimings
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Answer, Fault, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.processes import running
from tests.journeys.identities import claim
from tests.journeys.stage import PATIENCE, Stage, call, calls, heard, is_turn

OVERLOADED = Fault(status=529, error="overloaded_error", message="Overloaded")
WRONG_KEY = Fault(status=401, error="authentication_error", message="invalid x-api-key")
PACE = 0.02
"""Test seconds per second of an outage."""
QUICK = Timings(alerts=0.05, outage_pace=PACE, display=PresenterTimings(first_outage=20 * PACE))
NOTE = re.compile(r"The model is overloaded\. I'll keep trying until .*\d:\d\d\.")
NINE = range(7001, 7010)


class Provider:
    """Anthropic's emulator, which answers turns with `fault` if set."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.fault: Reply | None = OVERLOADED
        self.usual = stage.model.answer
        stage.model.answer = self.answer

    def answer(self, body: Json) -> Reply:
        assert self.usual
        if self.fault and is_turn(body):
            return self.fault
        return self.usual(body)


def note_of(stage: Stage, user: int) -> str:
    """Return the visible line about an outage, or an empty text."""
    return next((text for text in stage.telegram.texts(user) if NOTE.fullmatch(text)), "")


async def test_an_outage_of_sixty_seconds_costs_nobody_an_answer(stage: Stage) -> None:
    for user in NINE:
        stage.telegram.user(user, f"Number {user}")
    provider = Provider(stage)
    async with stage.open(timings=QUICK) as harness:
        for user in NINE:
            await stage.telegram.says(user, f"I am {user}")
        await harness.until(lambda: all(note_of(stage, user) for user in NINE))
        await asyncio.sleep(60 * PACE)
        assert not any("echo" in text for user in NINE for text in stage.telegram.texts(user))
        provider.fault = None
        await harness.at_rest()
    for user in NINE:
        assert stage.telegram.texts(user) == [f"echo: I am {user}"], "the line is gone"


async def test_a_short_outage_shows_no_line(stage: Stage) -> None:
    stage.plan(OVERLOADED, OVERLOADED, "There you go.")
    async with stage.open(timings=QUICK) as harness:
        (message,) = await harness.messages_to(ANNA, "hello")
    assert message.text == "There you go."
    assert message.history == ["There you go."]


async def test_a_waiting_turn_can_be_stopped_and_blocks_no_command(stage: Stage) -> None:
    Provider(stage)
    anna = stage.account("telegram", ANNA)
    async with stage.open(timings=QUICK) as harness:
        await stage.telegram.says(ANNA, "hello")
        await harness.asks(anna, "Stop")
        await stage.telegram.says(ANNA, "/whoami")
        await harness.sees(ANNA, "You are Anna")
        await harness.press(anna, "Stop")
        assert stage.telegram.texts(ANNA)[-1] == "(Stopped.)"
        assert await harness.count("turns", "state = 'stopped' AND waiting_since IS NULL") == 1


async def test_the_end_of_a_wait_is_shown(stage: Stage) -> None:
    Provider(stage)
    async with stage.open(timings=QUICK, TALARIA_MODEL__PATIENCE="1") as harness:
        reported = await harness.ask(ANNA, "hello")
    assert "stayed overloaded" in reported
    assert "/retry" in reported


async def test_messages_during_a_wait_get_the_same_answer(stage: Stage) -> None:
    provider = Provider(stage)
    async with stage.open(timings=QUICK) as harness:
        await stage.telegram.says(ANNA, "what is the capital of France?")
        await harness.sees(ANNA, "overloaded")
        await harness.notes(stage.telegram.says(ANNA, "and of Spain?"))
        provider.fault = None
        await harness.at_rest()
        assert await harness.count("turns", "1 = 1") == 1
    assert heard(stage.turns[-1]) == ["what is the capital of France?", "and of Spain?"]


async def test_a_wait_continues_after_a_kill(stage: Stage) -> None:
    provider = Provider(stage)
    provider.fault = None
    seen: list[bool] = []

    def answer(body: Json) -> Reply:
        if not is_turn(body):
            return text_answer("A talk")
        has_result = body["messages"][-1]["content"][0]["type"] == "tool_result"
        seen.append(has_result)
        if not has_result:
            return calls(call("recall", query="boat"))
        return provider.fault or text_answer("No boat anywhere.")

    stage.model.answer = answer
    settings = stage.environ()
    del settings["TALARIA_HOME"]
    provider.fault = OVERLOADED
    async with running(stage.home, **settings) as process:
        await stage.telegram.says(ANNA, "where is my boat?")
        since = await waiting_since(stage)
        process.process.kill()
        await process.process.wait()
    async with running(stage.home, **settings):
        tries = len(seen)
        await stage.telegram.wait_for(lambda: len(seen) > tries, PATIENCE)
        assert await waiting_since(stage) == since, "the restart does not renew the patience"
        provider.fault = None
        await stage.telegram.wait_for(
            lambda: stage.telegram.texts(ANNA) == ["No boat anywhere."], PATIENCE
        )
    assert seen.count(False) == 1, "a finished call is not paid for again"


async def waiting_since(stage: Stage) -> int:
    """Return the start of the outage that a turn waits for, once it is stored."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with sqlite3.connect(f"file:{stage.home / 'state.db'}?mode=ro", uri=True) as database:
                row = database.execute("SELECT MAX(waiting_since) FROM turns").fetchone()
            if row[0] is not None:
                return int(row[0])
            await asyncio.sleep(0.01)


async def test_another_provider_answers_in_the_middle_of_a_conversation(stage: Stage) -> None:
    thought = {"type": "thinking", "thinking": "Paris, surely"}
    stage.plan(Answer(blocks=[thought, {"type": "text", "text": "Paris."}]))
    async with OpenAIEmulator() as openai:
        openai.answer = None
        openai.plan(text_answer("Madrid.", stop="stop"))
        async with stage.open(
            timings=QUICK,
            TALARIA_MODEL__FALLBACKS="openai:gpt-5-mini",
            OPENAI_API_KEY="key",
            OPENAI_BASE_URL=openai.base_url,
        ) as harness:
            assert await harness.ask(ANNA, "the capital of France?") == "Paris."
            stage.plan(OVERLOADED)
            assert await harness.ask(ANNA, "and of Spain?") == "Madrid."
            assert await harness.ask(ANNA, "and of Italy?") == "echo: and of Italy?"
            models = await harness.gateway.database.read(
                lambda c: [row[0] for row in c.execute("SELECT asked_model FROM usage ORDER BY id")]
            )
    (asked,) = openai.requests
    assert asked["model"] == "gpt-5-mini"
    assert [m["content"] for m in asked["messages"] if m["role"] == "assistant"] == ["Paris."]
    assert "surely" not in str(asked)
    said = [m["content"] for m in stage.turns[-1]["messages"] if m["role"] == "assistant"]
    assert [block["type"] for block in said[0]] == ["thinking", "text"]
    assert [block["text"] for block in said[1]] == ["Madrid."]
    assert models == ["claude-sonnet-5-5", "openai:gpt-5-mini", "claude-sonnet-5-5"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (WRONG_KEY, "rejects the key"),
        (replace(WRONG_KEY, status=404, error="not_found_error"), "doesn't have it"),
    ],
)
async def test_a_fault_is_reported_to_the_owner_only_and_the_answer_follows(
    stage: Stage, fault: Fault, words: str
) -> None:
    provider = Provider(stage)
    provider.fault = None
    async with stage.open(timings=QUICK) as harness:
        await claim(harness)
        await harness.ask(ANNA, "hi")
        provider.fault = fault
        await stage.telegram.says(BEN, "hello")
        await harness.sees(ANNA, words)
        await harness.sees(BEN, "The owner knows why")
        assert "x-api-key" in "\n".join(stage.telegram.texts(ANNA))
        assert "x-api-key" not in "\n".join(stage.telegram.texts(BEN))
        provider.fault = None
        await harness.at_rest()
        assert stage.telegram.texts(BEN)[-1] == "echo: hello"
    assert sum(words in text for text in stage.telegram.texts(ANNA)) == 1


async def test_an_owner_who_only_claimed_gets_notices_of_faults(stage: Stage) -> None:
    provider = Provider(stage)
    provider.fault = WRONG_KEY
    async with stage.open(timings=QUICK) as harness:
        await claim(harness)
        await stage.telegram.says(BEN, "hello")
        await harness.sees(ANNA, "rejects the key")
        provider.fault = None
        await harness.at_rest()


async def test_without_a_direct_chat_faults_are_in_the_console_and_the_log(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Provider(stage)
    provider.fault = WRONG_KEY
    async with stage.open(timings=QUICK) as harness, harness.terminal() as terminal:
        assert "only see it in the console and with `talaria logs`" in await terminal.ask("/status")
        await stage.telegram.says(BEN, "hello")
        await harness.until(lambda: "rejects the key" in "".join(terminal.shown.values()))
        assert "rejects the key" in caplog.text
        provider.fault = None
        await harness.at_rest()
        assert "rejects the key" not in "".join(stage.telegram.texts(BEN))
        await claim(harness)
        assert "only see it in the console" not in await terminal.ask("/status")


def test_a_model_without_its_providers_key_prevents_the_start(stage: Stage) -> None:
    with pytest.raises(
        SettingsError, match="openai:gpt-5-mini is configured as a model, but neither"
    ):
        load(stage.environ(TALARIA_MODEL__FALLBACKS="openai:gpt-5-mini"))
