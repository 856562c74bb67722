"""The Anthropic emulator is as strict as the API: the real SDK meets its refusals."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic import AsyncAnthropic

from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.streaming import Answer, text_answer
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[4]
MARK = {"type": "ephemeral"}
LONG = "word " * 1000
"""1,250 tokens, more than the least that is cached."""


@pytest.fixture
async def api() -> AsyncIterator[AnthropicEmulator]:
    async with AnthropicEmulator() as api:
        yield api


@pytest.fixture
async def sdk(api: AnthropicEmulator) -> AsyncIterator[AsyncAnthropic]:
    async with AsyncAnthropic(api_key="any", base_url=api.url, max_retries=0) as sdk:
        yield sdk


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def user(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks: dict[str, Any] | str) -> dict[str, Any]:
    return {**user(*blocks), "role": "assistant"}


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "messages": list(messages) or [user("hello")],
        **fields,
    }


USE = {"type": "tool_use", "id": "t1", "name": "memory", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
TOOL = {"name": "memory", "description": "d", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (request(temperature=0.5), "temperature"),
        (request(colour="red"), "colour: Extra inputs"),
        (request(max_tokens=0), "max_tokens"),
        (request(user(text("  "))), "non-empty"),
        (request({"role": "user", "content": []}), "non-empty content"),
        (request({"role": "system", "content": "x"}), "role"),
        (request(assistant("hi"), user("x")), 'first message must use the "user" role'),
        (request(user("x"), assistant("Sure, ")), "prefill"),
        (request(user("x"), assistant(USE), user("no result")), "without `tool_result`"),
        (request(user("x"), assistant(USE)), "without `tool_result`"),
        (request(user("x"), assistant(USE), user("first", RESULT)), "immediately after"),
        (request(user("x"), assistant("y"), user(RESULT)), "unexpected `tool_use_id`"),
        (request(user("x"), assistant(USE), user(RESULT, RESULT)), "single result"),
        (request(user("x"), assistant(USE, USE), user(RESULT)), "unique"),
        (
            request(user("x"), assistant({**USE, "input": "text"}), user(RESULT)),
            "valid dictionary",
        ),
        (
            request(
                user("x"),
                assistant({"type": "thinking", "thinking": "a", "signature": "b"}, "y"),
                user("z"),
            ),
            "Invalid `signature`",
        ),
        (request(tools=[TOOL, TOOL]), "unique"),
        (request(tools=[{**TOOL, "name": "a b"}]), "pattern"),
        (request(tools=[{**TOOL, "input_schema": {}}]), "input_schema"),
        (request(user(*(text(f"{n}", cache_control=MARK) for n in range(5)))), "maximum of 4"),
        (request(user(text("x", cache_control={**MARK, "ttl": "9m"}))), "ttl"),
        (
            request(
                user(text("x", cache_control=MARK)),
                user(text("y", cache_control={**MARK, "ttl": "1h"})),
            ),
            "must not come after",
        ),
    ],
)
async def test_what_the_api_refuses_is_refused(
    sdk: AsyncAnthropic, body: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        await sdk.post("/v1/messages", cast_to=object, body=body)


async def test_what_the_api_takes_is_taken(sdk: AsyncAnthropic, api: AnthropicEmulator) -> None:
    body = request(user("x"), assistant("y", USE), user(RESULT, "and"), user("go on"), tools=[TOOL])
    answer = await sdk.messages.create(**body)
    block = answer.content[0]
    assert block.type == "text"
    assert block.text == "echo: ok | and | go on"
    assert answer.stop_reason == "end_turn"


async def test_the_sdk_reads_a_stream_and_a_whole_answer_alike(
    sdk: AsyncAnthropic, api: AnthropicEmulator
) -> None:
    said = Answer(blocks=[text("I keep that."), USE], stop="tool_use", deltas=5)
    api.plan(said, said)
    whole = await sdk.messages.create(**request(tools=[TOOL]))
    async with sdk.messages.stream(**request(tools=[TOOL])) as stream:
        streamed = await stream.get_final_message()
    blocks = [[block.to_dict() for block in answer.content] for answer in (whole, streamed)]
    assert blocks[0] == blocks[1]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"


async def test_an_echo_longer_than_the_limit_is_cut(sdk: AsyncAnthropic) -> None:
    answer = await sdk.messages.create(**request(user(LONG)))
    assert answer.stop_reason == "max_tokens"
    assert answer.usage.output_tokens == 100


async def test_prefixes_are_cached_from_1024_tokens_on(sdk: AsyncAnthropic) -> None:
    for words, is_cached in (("word " * 700, False), (LONG, True)):
        body = request(user(text(words, cache_control=MARK), "tail"))
        first = (await sdk.messages.create(**body)).usage
        second = (await sdk.messages.create(**body)).usage
        assert bool(first.cache_creation_input_tokens) is is_cached
        assert second.cache_read_input_tokens == first.cache_creation_input_tokens
        assert second.cache_creation_input_tokens == 0
        assert second.input_tokens == first.input_tokens > 0
        assert first.cache_creation is not None
        assert first.cache_creation.ephemeral_5m_input_tokens == first.cache_creation_input_tokens


@pytest.mark.parametrize(("between", "is_found"), [(19, True), (20, False)])
async def test_a_breakpoint_looks_back_over_twenty_blocks(
    sdk: AsyncAnthropic, between: int, is_found: bool
) -> None:
    await sdk.messages.create(**request(user(text(LONG, cache_control=MARK))))
    blocks = [text(f"block {number}") for number in range(between)]
    blocks[-1]["cache_control"] = MARK
    usage = (await sdk.messages.create(**request(user(LONG, *blocks)))).usage
    assert bool(usage.cache_read_input_tokens) is is_found


async def test_another_model_and_other_tools_have_prefixes_of_their_own(
    sdk: AsyncAnthropic,
) -> None:
    body = request(user(text(LONG, cache_control=MARK)))
    await sdk.messages.create(**body)
    for changed in ({**body, "model": "claude-opus-5-5"}, {**body, "tools": [TOOL]}):
        usage = (await sdk.messages.create(**changed)).usage
        assert usage.cache_read_input_tokens == 0


async def test_a_read_keeps_a_prefix_warm(sdk: AsyncAnthropic, api: AnthropicEmulator) -> None:
    body = request(user(text(LONG, cache_control=MARK)))
    reads = []
    for _ in range(3):
        reads.append((await sdk.messages.create(**body)).usage.cache_read_input_tokens)
        api.move(200)
    api.move(101)
    reads.append((await sdk.messages.create(**body)).usage.cache_read_input_tokens)
    assert [bool(read) for read in reads] == [False, True, True, False]


async def test_tokens_are_counted_without_an_answer(
    sdk: AsyncAnthropic, api: AnthropicEmulator
) -> None:
    body = request(user("hello"))
    counted = await sdk.messages.count_tokens(model=body["model"], messages=body["messages"])
    usage = (await sdk.messages.create(**body)).usage
    assert counted.input_tokens == usage.input_tokens
    assert api.calls["POST /v1/messages"] == 1


async def test_models_are_listed_and_described(sdk: AsyncAnthropic) -> None:
    names = [model.id async for model in sdk.models.list()]
    assert "claude-haiku-5-5" in names
    assert (await sdk.models.retrieve("claude-haiku-5-5")).max_tokens == 128_000
    with pytest.raises(anthropic.NotFoundError):
        await sdk.models.retrieve("claude-none")


async def test_hooks_are_awaited_around_an_answer(
    sdk: AsyncAnthropic, api: AnthropicEmulator
) -> None:
    order = []

    def hook(name: str) -> Any:
        async def note(body: dict[str, Any]) -> None:
            order.append((name, body["messages"][0]["content"]))

        return note

    api.before, api.during, api.after = hook("before"), hook("during"), hook("after")
    api.answer = lambda body: text_answer("mine")
    messages = [{"role": "user", "content": "hello"}]
    async with sdk.messages.stream(**request(*messages)) as stream:
        assert await stream.get_final_text() == "mine"
    assert order == [("before", "hello"), ("during", "hello"), ("after", "hello")]


async def test_only_as_many_requests_are_kept_as_asked_for() -> None:
    async with AnthropicEmulator(keep=2) as api:
        async with AsyncAnthropic(api_key="any", base_url=api.url) as sdk:
            for number in range(4):
                await sdk.messages.create(**request(user(f"{number}")))
        kept = [body["messages"][0]["content"][0]["text"] for body in api.requests]
        assert kept == ["2", "3"]
        assert api.calls["POST /v1/messages"] == 4


@pytest.mark.process
@pytest.mark.parametrize("name", ["anthropic", "openai"])
async def test_it_stands_alone_and_ends_when_told(name: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", f"tests.emulators.{name}", "--latency", "0"),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    assert line.startswith(b"listening on http://127.0.0.1:")
    process.terminate()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
