"""The real SDK against the emulator: answers, quirks of servers, cuts, errors."""

import asyncio
import json
from typing import Any

import pytest

from agent_core.errors import (
    ModelBusy,
    ModelInterrupted,
    ModelDenied,
    ModelError,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.models.contract import Model, StopReason, TextDelta
from agent_core.models.openai import create
from agent_core.transcript import Message, user_message
from tests.agent_core.models import calls as short
from tests.agent_core.models.calls import calls, complete, results, says
from tests.emulators.openai import OpenAIEmulator, complain
from tests.emulators.streaming import Answer, Fault, text_answer

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


def chunks(answer: Answer) -> list[bytes]:
    """An answer as the emulator sends it, in three deltas a block."""
    body = {"model": "gpt-5-mini", "stream_options": {"include_usage": True}}
    return OpenAIEmulator(deltas=3).render(body, answer, {})


async def test_an_answer_streams_and_ends_whole(model: Model, api: OpenAIEmulator) -> None:
    api.deltas = 3
    text, answer = await complete(
        model, ask(user_message("hello", facts="<facts>Monday</facts>"), "you")
    )
    assert text == answer.message.text == "echo: hello | you"
    assert (answer.stop, answer.model) == ("end", "gpt-5-mini")
    sent = api.requests[0]["messages"]
    assert sent[0] == {"role": "system", "content": "You are Talaria."}
    assert sent[1]["content"] == "<facts>Monday</facts>\n\nhello\n\nyou"


async def test_pieces_are_given_on_as_they_come(model: Model, api: OpenAIEmulator) -> None:
    api.plan(Fault(answer=text_answer("one two"), after_events=2, then="hang"))
    stream = model.stream(ask("hello"))
    first = await asyncio.wait_for(anext(stream), 5)
    assert isinstance(first, TextDelta)
    assert first.text == "one "
    await stream.aclose()
    async with asyncio.timeout(45):
        while not api.disconnects:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("tool_calls", "unknown"),
        ("function_call", "unknown"),
        ("a_reason_of_next_year", "unknown"),
    ],
)
async def test_every_finish_reason_has_its_word(
    model: Model, api: OpenAIEmulator, theirs: str, ours: StopReason
) -> None:
    api.plan(text_answer("so far", stop=theirs))
    text, answer = await complete(model, ask("hello"))
    assert (text, answer.stop) == ("so far", ours)


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


@pytest.mark.parametrize("after", range(len(chunks(TWO_CALLS)) - 3))
@pytest.mark.parametrize("then", ["cut", "end"])
async def test_a_cut_after_any_chunk_never_gives_a_runnable_call(
    model: Model, api: OpenAIEmulator, after: int, then: str
) -> None:
    api.deltas = 3
    api.plan(Fault(answer=TWO_CALLS, after_events=after, then=then))  # type: ignore[arg-type]
    with pytest.raises((ModelBusy, ModelInterrupted)) as caught:
        await complete(model, ask("I like tea"))
    if then == "end":
        # A reset may overtake what was sent before it; the end of a body can't.
        assert type(caught.value) is (ModelInterrupted if after else ModelBusy)


@pytest.mark.parametrize("missing", [1, 2])
async def test_only_the_counts_are_lost_with_the_last_chunks(
    model: Model, api: OpenAIEmulator, missing: int
) -> None:
    api.deltas = 3
    whole = len(chunks(TWO_CALLS))
    api.plan(Fault(answer=TWO_CALLS, after_events=whole - missing, then="end"))
    _, answer = await complete(model, ask("I like tea"))
    assert (answer.stop, len(answer.message.calls)) == ("tools", 2)
    assert answer.usage.output_tokens > 0


async def test_a_cut_at_any_byte_of_the_tool_json_never_gives_a_runnable_call(
    model: Model, api: OpenAIEmulator
) -> None:
    one_call = Answer(blocks=[CALL], stop="tool_calls")
    parts = chunks(one_call)
    api.deltas = 3
    start, end = len(parts[0]), len(b"".join(parts[:-3]))
    for after in range(start, end, 11):
        api.plan(Fault(answer=one_call, after_bytes=after))
        with pytest.raises((ModelBusy, ModelInterrupted)):
            await complete(model, ask("I like tea"))
    assert len(api.requests) > 50


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
    told, usage = api.usages[-1], answer.usage
    assert usage.cache_read_tokens == told["prompt_tokens_details"]["cached_tokens"] > 1000
    assert usage.input_tokens + usage.cache_read_tokens == told["prompt_tokens"]
    assert usage.output_tokens == told["completion_tokens"]


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
    ("fault", "expected"),
    [
        (Fault(status=400), ModelRejected),
        (Fault(status=401), ModelDenied),
        (Fault(status=402, message="Insufficient credits"), ModelDenied),
        (Fault(status=403), ModelDenied),
        (Fault(status=404), ModelUnknown),
        (Fault(status=408), ModelBusy),
        (Fault(status=409), ModelBusy),
        (Fault(status=413), ModelRejected),
        (Fault(status=418), ModelRejected),
        (Fault(status=422), ModelRejected),
        (Fault(status=429), ModelBusy),
        (Fault(status=429, error_code="insufficient_quota"), ModelDenied),
        (Fault(status=400, error_code="context_length_exceeded"), ModelOverflow),
        (Fault(status=400, message="maximum context length is 4096 tokens"), ModelOverflow),
        (Fault(status=400, error_code="model_not_found"), ModelUnknown),
        (Fault(status=500), ModelBusy),
        (Fault(status=502), ModelBusy),
        (Fault(status=503), ModelBusy),
    ],
)
async def test_every_status_has_its_error(
    model: Model, api: OpenAIEmulator, fault: Fault, expected: type[ModelError]
) -> None:
    api.plan(fault)
    with pytest.raises(expected) as caught:
        await complete(model, ask("hello"))
    assert type(caught.value) is expected
    assert fault.message in str(caught.value)
    assert len(api.requests) == 1, "retries are the loop's"


@pytest.mark.parametrize(
    ("after", "code", "expected"),
    [
        (0, "server_error", ModelBusy),
        (2, "server_error", ModelInterrupted),
        (2, "502", ModelInterrupted),
        (2, "402", ModelDenied),
        (2, "context_length_exceeded", ModelOverflow),
        (2, "400", ModelRejected),
    ],
)
async def test_an_error_within_the_stream_is_told_by_its_code(
    model: Model, api: OpenAIEmulator, after: int, code: str, expected: type[ModelError]
) -> None:
    answer = text_answer("half")
    api.plan(Fault(answer=answer, after_events=after, then="error", error_code=code))
    with pytest.raises(expected) as caught:
        await complete(model, ask("hello"))
    assert type(caught.value) is expected


async def test_retry_after_is_honoured(model: Model, api: OpenAIEmulator) -> None:
    api.plan(Fault(status=429, retry_after="7"))
    with pytest.raises(ModelBusy) as caught:
        await complete(model, ask("hello"))
    assert caught.value.retry_after == 7


async def test_a_prompt_longer_than_the_window_overflows(model: Model, api: OpenAIEmulator) -> None:
    api.window = 100
    with pytest.raises(ModelOverflow):
        await complete(model, ask("word " * 200))


async def test_silence_ends_at_the_timeout(api: OpenAIEmulator) -> None:
    model = create({"base_url": api.base_url, "timeout": "0.2"})
    api.plan(Fault(answer=text_answer("half"), after_events=2, then="hang"))
    with pytest.raises(ModelInterrupted):
        await complete(model, ask("hello"))
    api.latency = 30
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))
    await model.close()


async def test_a_server_that_is_not_there_is_busy(api: OpenAIEmulator) -> None:
    await api.stop()
    model = create({"base_url": api.base_url})
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))
    with pytest.raises(ModelBusy):
        await model.check("gpt-5-mini")
    await model.close()


async def test_a_wrong_key_is_denied() -> None:
    async with OpenAIEmulator(key="good-key") as api:
        bad, good = (
            create({"base_url": api.base_url, "api_key": key}) for key in ("bad-key", "good-key")
        )
        with pytest.raises(ModelDenied):
            await complete(bad, ask("hello"))
        with pytest.raises(ModelDenied):
            await bad.check("gpt-5-mini")
        await good.check("gpt-5-mini")
        await bad.close()
        await good.close()


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


async def test_an_unknown_model_is_unknown(model: Model) -> None:
    with pytest.raises(ModelUnknown, match="none-such"):
        await complete(model, ask("hello", model="none-such"))


async def test_cancelling_a_call_is_not_taken_for_an_error(
    model: Model, api: OpenAIEmulator
) -> None:
    arrived = asyncio.Event()

    async def tell(_: object) -> None:
        arrived.set()

    api.before = tell
    api.latency = 30
    task = asyncio.create_task(complete(model, ask("hello")))
    await asyncio.wait_for(arrived.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_one_connection_serves_many_calls(model: Model, api: OpenAIEmulator) -> None:
    for turn in range(5):
        await complete(model, ask(f"hello {turn}"))
    assert len(api.peers) == 1


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


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "api_key"),
        ({"base_url": "https://api.openai.com/v1"}, "api_key"),
        ({"api_key": "k", "colour": "red"}, "colour"),
        ({"api_key": "k", "timeout": "-1"}, "timeout"),
        ({"api_key": "k", "effort": "huge"}, "effort"),
        ({"api_key": "k", "base_url": "localhost:11434"}, "base_url"),
    ],
)
def test_a_bad_option_is_told_in_a_sentence(options: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        create(options)
