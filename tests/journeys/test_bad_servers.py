"""Model servers that do what none should: one sentence, and the next message of the chat works."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.emulators.dialects import NEXT, DialectServer, Wire, chat, messages, tool, use_block
from tests.emulators.raw_answers import RawAnswer, make_head
from tests.emulators.telegram_cast import ANNA
from tests.journeys.dialect_rows.faults import error, page
from tests.journeys.odd_servers import QUICK, make_settings, measure_memory, open_world
from tests.journeys.stage import Stage

APIS = pytest.mark.parametrize("api", ["openai", "anthropic"])
MEGABYTE = 1_000_000
HUNDRED = 100
HEAD = make_head("200 OK", "text/event-stream", None)
WORDS = {
    "openai": b'data: {"choices":[{"delta":{"content":"and so on and on, "}}]}\n\n',
    "anthropic": b'data: {"type":"content_block_delta","index":0,"delta":'
    b'{"type":"text_delta","text":"and so on and on, "}}\n\n',
}
ENDLESS = 200_000


@pytest.fixture
async def server() -> AsyncIterator[DialectServer]:
    async with DialectServer() as server:
        yield server


@APIS
async def test_a_server_that_never_ends_is_cut(tmp_path: Path, api: str) -> None:
    async with open_world(tmp_path, api) as world:
        said = await world.check(RawAnswer(pieces=[HEAD, WORDS[api]], repeats=ENDLESS))
    assert said.startswith("and so on")
    assert len(said) < 120_000


@pytest.mark.thorough
@pytest.mark.parametrize("piece", [b"x", b'{"a":1,' * 9])
@APIS
async def test_a_hundred_megabytes_are_no_answer(tmp_path: Path, api: str, piece: bytes) -> None:
    block = piece * (MEGABYTE // len(piece))
    async with open_world(tmp_path, api) as world:
        before = measure_memory()
        await world.check(RawAnswer(pieces=[HEAD, block], repeats=HUNDRED))
        assert measure_memory() - before < 500 * MEGABYTE


@APIS
async def test_a_server_that_trickles_is_left_in_time(tmp_path: Path, api: str) -> None:
    async with open_world(tmp_path, api) as world:
        answer = RawAnswer(pieces=[HEAD, *(bytes([one]) for one in WORDS[api])], pause=0.001)
        await world.check(answer)
        await world.check(RawAnswer(pieces=[HEAD, b"data: "], end="hang"))


@APIS
async def test_a_window_that_is_a_lie_ends_in_a_sentence(
    stage: Stage, server: DialectServer, api: str
) -> None:
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        assert await harness.ask(ANNA, "hello") == NEXT
        server.trouble = error(400, "This model's maximum context length is 10 tokens.")
        said = await harness.ask(ANNA, "what about tea?")
        server.trouble = None
        assert "too long" in said
        assert len(server.requests) < 20
        assert await harness.ask(ANNA, "and then?") == NEXT
    assert "hello" in json.dumps(server.requests[-1])


@APIS
async def test_a_tool_called_fifty_times_with_nonsense_ends(
    stage: Stage, server: DialectServer, api: str
) -> None:
    def call(number: int) -> Wire:
        nonsense = json.dumps({"quary": "tea" * number, "limit": "no"})
        if api == "openai":
            return chat(tool("recall", nonsense, f"call_{number}"), finish="tool_calls")
        return messages(*use_block(0, "recall", nonsense, f"toolu_{number}"), stop="tool_use")

    server.script.extend(call(number) for number in range(50))
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        said = await harness.ask(ANNA, "what about tea?")
        server.script.clear()
        assert said
        assert "Something went wrong" not in said
        assert await harness.ask(ANNA, "and then?") == NEXT
    assert len(server.requests) < 60
    assert server.complaints == []


@APIS
async def test_two_servers_on_one_port_cost_no_answer(
    stage: Stage, server: DialectServer, api: str
) -> None:
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        for number in range(3):
            server.script.append(page(404, "Not Found"))
            assert await harness.ask(ANNA, f"hello {number}") == NEXT


@APIS
async def test_an_error_behind_the_end_costs_no_answer(
    stage: Stage, server: DialectServer, api: str
) -> None:
    broken = 'event: error\ndata: {"error":{"message":"late","type":"api_error"}}\n\n'
    end = chat("It is tea.", done=False) if api == "openai" else None
    good = end or messages(*words("It is tea."), end=False)
    server.script.append(Wire(body=good.body + broken))
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        assert await harness.ask(ANNA, "what about tea?") == "It is tea."
        assert await harness.ask(ANNA, "and then?") == NEXT


def words(text: str) -> list[dict[str, object]]:
    return [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": text},
        },
        {"type": "content_block_stop", "index": 0},
    ]


@APIS
async def test_an_answer_in_another_language_is_an_answer(
    stage: Stage, server: DialectServer, api: str
) -> None:
    said = "Das ist Tee. 这是茶。"
    server.script.append(chat(said) if api == "openai" else messages(*words(said)))
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        assert await harness.ask(ANNA, "what about tea?") == said
        assert await harness.ask(ANNA, "and then?") == NEXT
