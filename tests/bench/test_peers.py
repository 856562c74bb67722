"""Every compared bot stands behind one contract, and one model answers all of them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bench.peers import trials
from bench.peers.__main__ import render
from bench.peers.bots import BareBot, list_bots
from bench.peers.contract import Launch, Place, Running
from bench.peers.model import ScriptedModel, make_code, make_fact
from bench.peers.trials import Result

Json = dict[str, Any]

QUESTION = {"role": "user", "content": "What is the code of robin?"}


@pytest.fixture(name="model")
async def fixture_model() -> AsyncIterator[ScriptedModel]:
    async with ScriptedModel() as one:
        yield one


async def complete(model: ScriptedModel, messages: list[Json], *tools: Json) -> Json:
    """Ask the model as an adapter does; return its message."""
    body = {
        "model": "gpt-5-mini",
        "messages": messages,
        "tools": [{"type": "function", "function": one} for one in tools],
    }
    url = f"{model.url}/v1/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        message: Json = (await answer.json())["choices"][0]["message"]
        return message


def tool(name: str, *properties: str, required: tuple[str, ...] = ()) -> Json:
    """Describe a tool."""
    schema = {"properties": {key: {} for key in properties}, "required": list(required)}
    return {"name": name, "parameters": schema}


async def test_all_words_since_the_last_answer_are_heard_once(model: ScriptedModel) -> None:
    context = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nPerson: say one."
    answer = await complete(
        model,
        [
            {"role": "user", "content": "say one."},
            {"role": "assistant", "content": "heard one."},
            {"role": "user", "content": "say two. say two."},
            {"role": "user", "content": [{"type": "text", "text": "say three."}]},
            {"role": "user", "content": context},
        ],
    )
    assert answer["content"] == "heard two. heard three."
    assert model.counts.requests == 1
    assert model.counts.largest == model.counts.tokens > 0


@pytest.mark.parametrize(
    ("offered", "name", "arguments"),
    [
        (tool("recall", "query", required=("query",)), "recall", {"query": "code robin"}),
        (tool("session_search", "query", "limit"), "session_search", {"query": "code robin"}),
        (tool("tool_call", "id", "args"), "tool_call", {"id": "sessions_search"}),
    ],
)
async def test_the_model_searches_with_what_a_bot_offers(
    model: ScriptedModel, offered: Json, name: str, arguments: Json
) -> None:
    listed = "Available tools:\n- browser (core): Look.\n- sessions_search (core): Search."
    system = {"role": "system", "content": listed}
    answer = await complete(model, [system, QUESTION], tool("web_search", "query"), offered)
    called = answer["tool_calls"][0]["function"]
    assert called["name"] == name
    assert json.loads(called["arguments"]).items() >= arguments.items()

    found = {"role": "tool", "tool_call_id": "call_1", "content": make_fact("robin")}
    answer = await complete(model, [system, QUESTION, answer, found], offered)
    assert answer["content"] == f"The code of robin is {make_code('robin')}."


async def test_without_a_search_the_model_does_not_know(model: ScriptedModel) -> None:
    answer = await complete(model, [QUESTION], tool("web_search", "query"))
    assert answer["content"] == "I don't know the code of robin."


def test_a_missing_peer_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_HERMES", raising=False)
    monkeypatch.delenv("BENCH_OPENCLAW", raising=False)
    faults = {one.name: one.find_fault() for one in list_bots()}
    assert faults["Talaria"] == faults["bare bot"] == ""
    assert "BENCH_HERMES" in faults["Hermes Agent"]
    assert "BENCH_OPENCLAW" in faults["OpenClaw"]


def test_the_table_has_a_column_for_each_bot() -> None:
    found = {
        "one": [
            Result(name="took", unit="ms", value=1234.5),
            Result(name="lost", unit="", value=0),
        ],
        "two": [Result(name="took", unit="ms", value=None), Result(name="lost", unit="", value=2)],
    }
    assert render(found).splitlines() == [
        "| | one | two |",
        "|---|---|---|",
        "| took, ms | 1,234 | ? |",
        "| lost | 0 | 2 |",
    ]


class Family:
    """A program whose child has left its process group."""

    name = "family"

    def find_fault(self) -> str:
        return ""

    def prepare(self, place: Place) -> Launch:
        script = f"setsid sleep 1000 & echo $! > {place.home}/child; wait"
        return Launch(argv=("/bin/sh", "-c", script), environ={})


@pytest.mark.process
@pytest.mark.parametrize("way", ["kill", "stop"])
async def test_no_child_outlives_a_bot(tmp_path: Path, way: str) -> None:
    running = Running(Family(), Place(home=tmp_path, telegram="", token="", model=""))
    await running.start()
    child = tmp_path / "child"
    async with asyncio.timeout(20):
        while not (child.exists() and child.read_text()):
            await asyncio.sleep(0)
        process = Path("/proc") / child.read_text().strip()
        assert process.exists()
        assert running.resident_bytes() > 0
        await (running.kill() if way == "kill" else running.stop())
        while process.exists() and "Z" not in (process / "stat").read_text().split()[2]:
            await asyncio.sleep(0)


@pytest.mark.process
@pytest.mark.thorough
async def test_the_bare_bot_goes_through_the_trials() -> None:
    async with trials.open_stage(BareBot()) as stage:
        found = await trials.measure_overhead(stage, 2)
        found += await trials.measure_doubles(stage, 1)
        found += await trials.measure_crowd(stage, 2)
        found += await trials.measure_downtime(stage, 2)
    values = {one.name: one.value for one in found}
    assert values["answered twice, of 1 repeated updates"] == 1
    assert values["lost, of 2 people at once"] == 0
    assert values["lost, of 2 messages while it was down"] == 0
    assert all(one is not None for one in values.values())
