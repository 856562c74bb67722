"""The real SDK against the emulator: answers, quirks of servers, cuts, errors."""

import json
from typing import Any

import pytest

from agent_core.errors import ModelRejected, ModelUnknown
from agent_core.models.contract import Model
from agent_core.models.openai import create
from agent_core.transcript import Message, user_message
from tests.agent_core.models import calls as short
from tests.agent_core.models.calls import calls, complete, results, says
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


def ask(*messages: Message | str, **options: Any) -> Any:
    return short.ask(*messages, **{"model": "gpt-5-mini", **options})


async def test_messages_in_a_row_are_joined(model: Model, api: OpenAIEmulator) -> None:
    text, _ = await complete(
        model, ask(user_message("hello", facts="<facts>Monday</facts>"), "you")
    )
    assert text == "echo: hello | you"
    sent = api.requests[0]["messages"]
    assert sent[0] == {"role": "system", "content": "You are Talaria."}
    assert sent[1]["content"] == "<facts>Monday</facts>\n\nhello\n\nyou"


async def test_a_refusal_in_words_is_told_and_marked(model: Model, api: OpenAIEmulator) -> None:
    api.plan(Answer(blocks=[{"type": "refusal", "text": "I won't."}]))
    text, answer = await complete(model, ask("hello"))
    assert (text, answer.stop, answer.message.text) == ("I won't.", "refusal", "I won't.")


@pytest.mark.parametrize("gives_index", [True, False])
@pytest.mark.parametrize("stop", ["tool_calls", "stop"])
async def test_tool_calls_come_whole_and_in_order(
    model: Model, api: OpenAIEmulator, gives_index: bool, stop: str
) -> None:
    api.deltas, api.gives_index = 7, gives_index
    api.plan(Answer(blocks=TWO_CALLS.blocks, stop=stop))
    text, answer = await complete(model, ask("I like tea"))
    assert answer.stop == "tools"
    assert text == answer.message.text == "I keep that.", "reasoning is not part of the answer"
    first, second = answer.message.calls
    assert (first.name, json.loads(first.arguments)) == ("memory", CALL["input"])
    assert (second.name, json.loads(second.arguments)) == ("recall", {})
    assert first.call_id != second.call_id

    done = results((first.call_id, "ok"), (second.call_id, "none"))
    await complete(model, ask("I like tea", answer.message, done, "and hurry"))
    roles = [message["role"] for message in api.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]


@pytest.mark.parametrize("stop", ["length", "stop", "content_filter"])
async def test_a_half_call_is_left_out(model: Model, api: OpenAIEmulator, stop: str) -> None:
    half = {"type": "tool_use", "name": "memory", "input_json": '{"text": "likes'}
    api.plan(Answer(blocks=[{"type": "text", "text": "I keep"}, CALL, half], stop=stop))
    _, answer = await complete(model, ask("I like tea"))
    assert answer.stop != "tools"
    assert answer.message.calls == ()
    assert answer.message.text == "I keep"


async def test_usage_tells_what_was_read_from_the_cache(model: Model, api: OpenAIEmulator) -> None:
    system = "A rule that stands at the head of every call. " * 120
    await complete(model, ask("one", system=system))
    _, answer = await complete(model, ask("one", says("echo: one"), "two", system=system))
    reported, usage = api.usages[-1], answer.usage
    assert usage.cache_read_tokens == reported["prompt_tokens_details"]["cached_tokens"] > 1000
    assert usage.input_tokens + usage.cache_read_tokens == reported["prompt_tokens"]
    assert usage.output_tokens == reported["completion_tokens"]


async def test_without_counts_from_the_server_they_are_estimated(
    model: Model, api: OpenAIEmulator
) -> None:
    api.sends_usage = False
    _, answer = await complete(model, ask("hello " * 100))
    assert answer.usage.input_tokens > 150
    assert answer.usage.output_tokens > 100


async def test_a_refused_option_is_left_out_from_then_on(model: Model, api: OpenAIEmulator) -> None:
    api.unknown_fields = {"stream_options", "max_tokens"}
    for _ in range(3):
        text, _ = await complete(model, ask("hello"))
        assert text == "echo: hello"
    assert len(api.requests) == 5, "each of the two was learned once"
    last = api.requests[-1]
    assert last["max_completion_tokens"] == 800
    assert not {"stream_options", "max_tokens"} & set(last)


async def test_a_server_that_knows_neither_name_of_the_limit_is_not_asked_for_ever(
    model: Model, api: OpenAIEmulator
) -> None:
    api.unknown_fields = {"max_tokens", "max_completion_tokens"}
    with pytest.raises(ModelRejected):
        await complete(model, ask("hello"))
    assert len(api.requests) == 2


async def test_a_limit_that_is_too_high_is_not_taken_for_an_unknown_one(
    model: Model, api: OpenAIEmulator
) -> None:
    api.plan(Fault(status=400, message="max_tokens is too large: 8000. At most 4096 fit."))
    with pytest.raises(ModelRejected, match="too large"):
        await complete(model, ask("hello"))
    assert len(api.requests) == 1


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
    model: Model, api: OpenAIEmulator, routes: set[str], known: str, finds_missing: bool
) -> None:
    api.routes = routes
    await model.check(known)
    if finds_missing:
        with pytest.raises(ModelUnknown, match="none-such"):
            await model.check("none-such")
    else:
        await model.check("none-such")


async def test_what_only_another_provider_understands_is_left_out(
    model: Model, api: OpenAIEmulator
) -> None:
    asked = calls(("toolu_1", "memory", {"text": "x"}), text="Moment.")
    broken = calls(("toolu_2", "memory", ["no object"]))
    await complete(
        model,
        ask(
            says("Your digest."),
            "hi",
            asked,
            results(("toolu_1", "no such entry"), is_error=True),
            broken,
            results(("toolu_2", "bad arguments")),
            says(""),
            "  ",
        ),
    )
    body = api.requests[0]
    assert complain(body) is None
    assert body["messages"][4]["content"] == "Error: no such entry"
    assert body["messages"][-1]["content"] == "(a message without words)"
    assert not any(message.get("content") == "" for message in body["messages"])


async def test_effort_is_sent_when_it_is_set(api: OpenAIEmulator) -> None:
    model = create({"base_url": api.base_url, "effort": "low"})
    await complete(model, ask("hello"))
    assert api.requests[0]["reasoning_effort"] == "low"
    await model.close()
