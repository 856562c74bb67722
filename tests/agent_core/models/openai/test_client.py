"""The real SDK against the emulator: answers, quirks of servers, cuts, errors."""

import asyncio
import json

import pytest

from agent_core.errors import ModelRejected, ModelUnknown
from agent_core.models.openai import create
from agent_core.models.settings import OpenAISettings
from agent_core.transcript import user_message
from tests.agent_core.models.calls import ask, calls, complete, results, says
from tests.agent_core.models.rig import Rig
from tests.emulators.openai import OpenAIEmulator, complain
from tests.emulators.streaming import Answer, Fault

CALL = {"type": "tool_use", "name": "memory", "input": {"text": 'likes tea, "green"'}}
OTHER_CALL = {"type": "tool_use", "name": "recall", "input": {}}
TWO_CALLS = Answer(
    blocks=[
        {"type": "thinking", "thinking": "They told me something."},
        {"type": "text", "text": "I keep that."},
        CALL,
        OTHER_CALL,
    ],
    stop="tool_calls",
)


async def test_messages_in_a_row_are_joined(rig: Rig) -> None:
    text, _ = await rig.ask(user_message("hello", facts="<facts>Monday</facts>"), "you")
    assert text == "echo: hello | you"
    sent = rig.api.requests[0]["messages"]
    assert sent[0] == {"role": "system", "content": "You are Talaria."}
    assert sent[1]["content"] == "<facts>Monday</facts>\n\nhello\n\nyou"


async def test_a_refusal_in_words_is_told_and_marked(rig: Rig) -> None:
    rig.api.plan(Answer(blocks=[{"type": "refusal", "text": "I won't."}]))
    text, answer = await rig.ask("hello")
    assert (text, answer.stop, answer.message.text) == ("I won't.", "refusal", "I won't.")


@pytest.mark.parametrize("gives_index", [True, False])
@pytest.mark.parametrize("stop", ["tool_calls", "stop"])
async def test_tool_calls_come_whole_and_in_order(rig: Rig, gives_index: bool, stop: str) -> None:
    rig.api.deltas, rig.api.gives_index = 7, gives_index
    rig.api.plan(Answer(blocks=TWO_CALLS.blocks, stop=stop))
    text, answer = await rig.ask("I like tea")
    assert answer.stop == "tools"
    assert text == answer.message.text == "I keep that.", "reasoning is not part of the answer"
    first, second = answer.message.calls
    assert (first.name, json.loads(first.arguments)) == ("memory", CALL["input"])
    assert (second.name, json.loads(second.arguments)) == ("recall", {})
    assert first.call_id != second.call_id

    done = results((first.call_id, "ok"), (second.call_id, "none"))
    await rig.ask("I like tea", answer.message, done, "and hurry")
    roles = [message["role"] for message in rig.api.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]


@pytest.mark.parametrize("stop", ["length", "stop", "content_filter"])
async def test_a_half_call_is_left_out(rig: Rig, stop: str) -> None:
    half = {"type": "tool_use", "name": "memory", "input_json": '{"text": "likes'}
    rig.api.plan(Answer(blocks=[{"type": "text", "text": "I keep"}, CALL, half], stop=stop))
    _, answer = await rig.ask("I like tea")
    assert answer.stop != "tools"
    assert answer.message.calls == ()
    assert answer.message.text == "I keep"


async def test_usage_tells_what_was_read_from_the_cache(rig: Rig) -> None:
    system = "A rule that stands at the head of every call. " * 120
    await rig.ask("one", system=system)
    _, answer = await rig.ask("one", says("echo: one"), "two", system=system)
    reported, usage = rig.api.usages[-1], answer.usage
    assert usage.cache_read_tokens == reported["prompt_tokens_details"]["cached_tokens"] > 1000
    assert usage.input_tokens + usage.cache_read_tokens == reported["prompt_tokens"]
    assert usage.output_tokens == reported["completion_tokens"]


async def test_without_counts_from_the_server_they_are_estimated(rig: Rig) -> None:
    rig.api.sends_usage = False
    _, answer = await rig.ask("hello " * 100)
    assert answer.usage.input_tokens > 150
    assert answer.usage.output_tokens > 100


async def test_a_refused_option_is_left_out_from_then_on(rig: Rig) -> None:
    rig.api.unknown_fields = {"stream_options", "max_tokens"}
    for _ in range(3):
        text, _ = await rig.ask("hello")
        assert text == "echo: hello"
    assert len(rig.api.requests) == 5, "each of the two was learned once"
    last = rig.api.requests[-1]
    assert last["max_completion_tokens"] == 800
    assert not {"stream_options", "max_tokens"} & set(last)


async def test_a_server_that_knows_neither_name_of_the_limit_is_not_asked_for_ever(
    rig: Rig,
) -> None:
    rig.api.unknown_fields = {"max_tokens", "max_completion_tokens"}
    with pytest.raises(ModelRejected):
        await rig.ask("hello")
    assert len(rig.api.requests) == 2


async def test_a_limit_that_is_too_high_is_not_taken_for_an_unknown_one(rig: Rig) -> None:
    rig.api.plan(Fault(status=400, message="max_tokens is too large: 800. At most 96 fit."))
    await rig.ask("hello")
    assert [one["max_tokens"] for one in rig.api.requests] == [800, 96]


async def test_a_limit_that_is_too_high_for_no_named_reason_is_not_asked_again(rig: Rig) -> None:
    rig.api.plan(Fault(status=400, message="max_tokens is too large."))
    with pytest.raises(ModelRejected, match="too large"):
        await rig.ask("hello")
    assert len(rig.api.requests) == 1


@pytest.mark.parametrize(
    ("routes", "known", "finds_missing"),
    [
        ({"retrieve", "list"}, "openai/gpt-5-mini", True),
        ({"list"}, "llama3", True),
        ({"retrieve"}, "gpt-5-mini", False),
        (set(), "gpt-5-mini", False),
    ],
)
async def test_check_makes_do_with_the_routes_there_are(
    rig: Rig, routes: set[str], known: str, finds_missing: bool
) -> None:
    rig.api.routes = routes
    await rig.model.check(known)
    if finds_missing:
        with pytest.raises(ModelUnknown, match="none-such"):
            await rig.model.check("none-such")
    else:
        await rig.model.check("none-such")


async def test_what_only_another_provider_understands_is_left_out(rig: Rig) -> None:
    asked = calls(("toolu_1", "memory", {"text": "x"}), text="Moment.")
    broken = calls(("toolu_2", "memory", ["no object"]))
    await rig.ask(
        says("Your digest."),
        "hi",
        asked,
        results(("toolu_1", "no such entry"), is_error=True),
        broken,
        results(("toolu_2", "bad arguments")),
        says(""),
        "  ",
    )
    body = rig.api.requests[0]
    assert complain(body) is None
    assert body["messages"][4]["content"] == "Error: no such entry"
    assert body["messages"][-1]["content"] == "(a message without words)"
    assert not any(message.get("content") == "" for message in body["messages"])


async def test_a_server_without_keys_needs_none() -> None:
    async with OpenAIEmulator() as api:
        model = create(OpenAISettings(base_url=api.base_url))
        text, _ = await complete(model, ask("hello", model="gpt-5-mini"))
        await model.close()
    assert text == "echo: hello"


_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Keep-Alive: timeout=5, max=100\r\n\r\n"
)
_CHUNKS = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)


async def test_a_server_that_closes_what_it_promised_to_keep_is_asked_again() -> None:
    """llama.cpp does so after each stream; the next request must not meet the closed connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if b"content-length" in line)
        await reader.readexactly(int(length.partition(b":")[2]))
        pieces = (b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*_CHUNKS, b""))
        writer.write(_STREAM + b"".join(pieces))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        model = create(OpenAISettings(base_url=f"http://127.0.0.1:{port}/v1"))
        for _ in range(5):
            text, _ = await complete(model, ask("hello", model="small"))
            assert text == "Hi."
        await model.close()
