"""One story with every kind of model: Anthropic, an OpenAI-compatible server, the stand-in."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Answer, Json, Reply, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Stage, call, heard, is_turn, results, system_of

TEA = "I like green tea"


def think(said: str, found: list[str], system: str, *, stop: str) -> Reply:
    """Decide as a model that knows the tools, alike for each provider."""
    if found:
        return text_answer(f"Done: {found[-1]}")
    if said.startswith("remember that "):
        kept = call("memory", action="add", target="user", text=said.removeprefix("remember that "))
        return Answer(blocks=[kept], stop=stop)
    if said.startswith("what did I say about "):
        query = said.removeprefix("what did I say about ").rstrip("?")
        return Answer(blocks=[call("recall", query=query)], stop=stop)
    known = [line for line in system.splitlines() if TEA in line]
    return text_answer(f"I know: {known}")


def think_as_anthropic(body: Json) -> Reply:
    if not is_turn(body):
        return text_answer("Tea")
    return think(heard(body)[-1], results(body), system_of(body), stop="tool_use")


def think_as_openai(body: Json) -> Reply:
    if not is_turn(body):
        return text_answer("Tea")
    system, *dialogue = body["messages"]
    found = [m["content"] for m in dialogue[-1:] if m["role"] == "tool"]
    said = [m["content"].rpartition("</facts>")[2].strip() for m in dialogue if m["role"] == "user"]
    notes = dialogue[0]["content"].partition("</facts>")[0]  # memory stands behind the tools
    return think(said[-1], found, f"{system['content']}\n{notes}", stop="tool_calls")


@pytest.fixture
async def openai() -> AsyncIterator[OpenAIEmulator]:
    async with OpenAIEmulator() as server:
        server.answer = think_as_openai
        yield server


@pytest.fixture(params=["anthropic", "openai", "scripted"])
def settings(request: pytest.FixtureRequest, stage: Stage, openai: OpenAIEmulator) -> Json:
    stage.model.answer = think_as_anthropic
    match request.param:
        case "anthropic":
            return {"TALARIA_MODEL__PROVIDER": "anthropic"}
        case "openai":
            return {
                "TALARIA_MODEL__PROVIDER": "openai",
                "TALARIA_MODEL__NAME": "llama3:latest",
                "OPENAI_BASE_URL": openai.base_url,
            }
    return {"TALARIA_MODEL__PROVIDER": "scripted"}


def written_of_anna(home: Path) -> str:
    memory = home / "memories" / "people" / "anna"
    return "".join(path.read_text() for path in sorted(memory.glob("*.md")))


async def test_facts_are_remembered_and_found_again(stage: Stage, settings: Json) -> None:
    async with stage.open(**settings) as harness:
        assert await harness.ask(ANNA, f"remember that {TEA}")
    assert TEA in written_of_anna(stage.home)
    async with stage.open(**settings) as harness:
        await harness.ask(ANNA, "/new")
        assert TEA in await harness.ask(ANNA, "what do you know about me?")
        assert TEA in await harness.ask(ANNA, "what did I say about tea?")
        assert await harness.count("turns", "state = 'answered'") == 3
        model = settings["TALARIA_MODEL__PROVIDER"]
        assert f"Model: {model}: " in await harness.ask(ANNA, "/status")


async def test_the_stand_in_says_what_it_is(stage: Stage) -> None:
    async with stage.open(TALARIA_MODEL__PROVIDER="scripted") as harness:
        reported = await harness.ask(ANNA, "write me a poem")
    assert "no language model is connected" in reported
    assert stage.turns == []


async def test_an_openai_server_gets_calls_and_results_in_its_format(
    stage: Stage, openai: OpenAIEmulator
) -> None:
    both = [call("recall", query="tea"), call("recall", query="coffee")]
    openai.answer = None
    openai.plan(
        Answer(blocks=[{"type": "text", "text": "I'll look."}, *both], stop="tool_calls"),
        text_answer("Neither."),
    )
    async with stage.open(
        TALARIA_MODEL__PROVIDER="openai", OPENAI_BASE_URL=openai.base_url
    ) as harness:
        assert await harness.ask(ANNA, "tea or coffee?") == "Neither."
    *_, asked, first, second = openai.requests[-1]["messages"]
    assert [json.loads(c["function"]["arguments"]) for c in asked["tool_calls"]] == [
        {"query": "tea"},
        {"query": "coffee"},
    ]
    assert [m["tool_call_id"] for m in (first, second)] == [c["id"] for c in asked["tool_calls"]]
    assert "tea" in first["content"]
    assert "coffee" in second["content"]
