"""A server of this machine: its prefix stays warm, and two people never read each other's answers.

The server is `tests/emulators/slots.py`; how it behaves is written there.
"""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from gateway.interfaces.contexts import open_context
from gateway.operations.registry import find_operation
from tests.emulators.slots import SlotServer
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.stage import TIMINGS, Stage

QUIET = replace(TIMINGS, quiet=0.05, task_poll=0.05)
PAIRS = 500
SMALL = "qwen2.5-1.5b"
"""A name whose size makes it guided."""
LOADING = 10
"""Seconds after which a first answer takes long."""
TOLD = "The model is loading"
ONLY_TURNS = {
    "TALARIA_COST__PERSON_DAY_TOKENS": "0",
    "TALARIA_COST__HOUSE_DAY_TOKENS": "0",
    "TALARIA_LEARNING__TURNS": "0",
    "TALARIA_LEARNING__STEPS": "0",
}


def local(server: SlotServer, **more: str) -> dict[str, str]:
    return {
        "TALARIA_MODEL__PROVIDER": "openai",
        "TALARIA_MODEL__NAME": "llama3:latest",
        "OPENAI_BASE_URL": server.base_url,
        **more,
    }


def is_of_turn(body: Json) -> bool:
    return "# Rules" in body["messages"][0]["content"] and body["max_tokens"] > 1


def list_shares(server: SlotServer) -> list[float]:
    """Return the cached share of each request of a turn, oldest first."""
    pairs = zip(server.requests, server.usages, strict=True)
    return [
        usage["prompt_tokens_details"]["cached_tokens"] / usage["prompt_tokens"]
        for body, usage in pairs
        if is_of_turn(body)
    ]


async def test_twenty_messages_with_reviews_find_their_beginning_read(stage: Stage) -> None:
    """In the middle, a new conversation begins; it finds rules and tools read."""
    async with (
        SlotServer() as server,
        stage.open(timings=QUIET, **local(server, TALARIA_LEARNING__TURNS="1")) as harness,
    ):
        trust = find_operation("fitness.trust")
        assert trust
        await trust(open_context(harness.gateway), {"name": "llama3:latest"})
        for number in range(20):
            if number == 10:
                await harness.ask(ANNA, "/new")
            await harness.ask(ANNA, f"message {number}")
            # A review comes after each message, and then the conversation is read again.
            await harness.until(partial(count_chores, server, number + 1))
            await harness.until(lambda: server.requests[-1]["max_tokens"] == 1)
        shares = list_shares(server)
    assert len(shares) == 20
    assert min(shares[1:]) > 0.9


def count_chores(server: SlotServer, least: int) -> bool:
    done = [body for body in server.requests if body["max_tokens"] > 1 and not is_of_turn(body)]
    return len(done) >= least


async def test_a_start_lets_the_server_read_before_anybody_writes(stage: Stage) -> None:
    async with SlotServer() as server:
        async with stage.open(timings=QUIET, **local(server)) as harness:
            await harness.ask(ANNA, "hello")
        server.slots[0].held = ""  # it was restarted, too
        count = len(server.requests)
        async with stage.open(timings=QUIET, **local(server)) as harness:
            await harness.until(lambda: len(server.usages) > count)
            await harness.ask(ANNA, "/new")
            await harness.ask(ANNA, "hello again")
        assert server.requests[count]["max_tokens"] == 1
        assert list_shares(server)[-1] > 0.9


async def test_the_first_message_of_a_home_finds_its_beginning_read(stage: Stage) -> None:
    """Until 2026-11-30, a guided model read its examples behind no identity, and then again."""
    async with SlotServer(models=(SMALL,)) as server:
        given = local(server, TALARIA_MODEL__NAME=SMALL)
        async with stage.open(timings=QUIET, **given) as harness:
            await harness.until(lambda: bool(server.usages))
            await harness.ask(ANNA, "Hi! Who are you?")
        warmed, first = server.requests[0], server.requests[1]
        used = server.usages[1]
    assert warmed["max_tokens"] == 1
    assert first["max_tokens"] > 1
    assert used["prompt_tokens_details"]["cached_tokens"] > 0.9 * used["prompt_tokens"]


@pytest.mark.thorough
async def test_a_first_answer_that_takes_long_says_that_the_model_loads(stage: Stage) -> None:
    async with (
        SlotServer(takes=LOADING + 2) as server,
        stage.open(timings=QUIET, **local(server)) as harness,
    ):
        asking = asyncio.create_task(harness.ask(ANNA, "hello"))
        await harness.until(lambda: any(TOLD in one.text for one in stage.telegram.messages(ANNA)))
        assert "echo: hello" in await asking
        server.takes = 0
        assert TOLD not in await harness.ask(ANNA, "and now?")


@pytest.mark.parametrize(
    "pairs", [25, pytest.param(PAIRS, marks=[pytest.mark.thorough, pytest.mark.long])]
)
async def test_two_people_at_once_never_read_each_others_words(stage: Stage, pairs: int) -> None:
    foreign = 0
    async with (
        SlotServer(slots=2, takes=0.002, keep=10) as server,
        stage.open(timings=QUIET, **local(server, **ONLY_TURNS)) as harness,
    ):
        for number in range(pairs):
            canaries = {ANNA: f"anna-{number}-canary", BEN: f"ben-{number}-canary"}
            answers = await asyncio.gather(
                *(harness.ask(one, canary) for one, canary in canaries.items())
            )
            foreign += sum(
                other in answer or own not in answer
                for answer, own, other in zip(
                    answers, canaries.values(), reversed(canaries.values()), strict=True
                )
            )
        assert server.most == 1
    assert foreign == 0


async def test_the_server_would_mix_them_up_if_it_got_two_at_once(stage: Stage) -> None:
    foreign = 0
    settings = {"TALARIA_MODEL__LOCAL_AT_ONCE": "2"}
    async with (
        SlotServer(slots=2, takes=0.3, keep=10) as server,
        stage.open(timings=QUIET, **local(server, **settings)) as harness,
    ):
        for number in range(5):
            words = [f"anna-{number}-canary", f"ben-{number}-canary"]
            answers = await asyncio.gather(harness.ask(ANNA, words[0]), harness.ask(BEN, words[1]))
            foreign += sum(own not in said for own, said in zip(words, answers, strict=True))
        assert server.most == 2
    assert foreign
