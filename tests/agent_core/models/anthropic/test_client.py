"""The real SDK against the emulator: answers, cuts, errors, the cache."""

import asyncio
import json
import time
from email.utils import formatdate

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
from agent_core.models.anthropic import create
from agent_core.models.contract import Model, StopReason, TextDelta
from agent_core.transcript import Message, RawPart, TextPart, user_message
from tests.agent_core.models.calls import ask, calls, complete, results, says
from tests.emulators.anthropic import AnthropicEmulator, render_events
from tests.emulators.streaming import Answer, Fault, text_answer

CALL = {"type": "tool_use", "name": "memory", "input": {"text": 'likes tea, "green" ü'}}
TWO_CALLS = Answer(
    blocks=[
        {"type": "thinking", "thinking": "They told me something lasting."},
        {"type": "text", "text": "I keep that."},
        CALL,
        {"type": "tool_use", "name": "recall", "input": {}},
    ],
    stop="tool_use",
)


def events(answer: Answer) -> list[bytes]:
    """An answer as the emulator sends it, in three deltas a block."""
    rendered = render_events(AnthropicEmulator().compose("claude-sonnet-5-5", answer, {}), 3)
    assert len(rendered) > 5
    return rendered


async def test_an_answer_streams_and_ends_whole(model: Model, api: AnthropicEmulator) -> None:
    api.deltas = 3
    text, answer = await complete(model, ask("hello"))
    assert text == answer.message.text == "echo: hello"
    assert answer.stop == "end"
    assert answer.model == "claude-sonnet-5-5"
    assert answer.usage.output_tokens > 0
    assert api.headers[0]["Authorization"] == "Bearer good-key"


async def test_pieces_are_given_on_as_they_come(model: Model, api: AnthropicEmulator) -> None:
    api.plan(Fault(answer=text_answer("one two"), after_events=4, then="hang"))
    stream = model.stream(ask("hello"))
    first = await asyncio.wait_for(anext(stream), 5)
    assert isinstance(first, TextDelta)
    assert first.text == "one "
    await stream.aclose()


async def test_facts_and_words_are_blocks_of_their_own(
    model: Model, api: AnthropicEmulator
) -> None:
    message = user_message("what day is it?", facts="<facts>Monday</facts>")
    text, _ = await complete(model, ask(message))
    blocks = api.requests[0]["messages"][0]["content"]
    assert [block["text"] for block in blocks] == ["<facts>Monday</facts>", "what day is it?"]
    assert text == "echo: what day is it?"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "overflow"),
        ("a_reason_of_next_year", "unknown"),
        ("tool_use", "unknown"),
    ],
)
async def test_every_stop_reason_has_its_word(
    model: Model, api: AnthropicEmulator, theirs: str, ours: StopReason
) -> None:
    api.plan(text_answer("so far", stop=theirs))
    text, answer = await complete(model, ask("hello"))
    assert (text, answer.stop) == ("so far", ours)


async def test_tool_calls_come_whole_and_in_order(model: Model, api: AnthropicEmulator) -> None:
    api.deltas = 7
    api.plan(TWO_CALLS)
    text, answer = await complete(model, ask("I like tea"))
    assert answer.stop == "tools"
    assert text == "I keep that."
    first, second = answer.message.calls
    assert (first.name, json.loads(first.arguments)) == ("memory", CALL["input"])
    assert (second.name, json.loads(second.arguments)) == ("recall", {})
    assert first.call_id != second.call_id


async def test_a_refusal_names_its_category_and_may_be_empty(
    model: Model, api: AnthropicEmulator
) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": None}
    api.plan(Answer(blocks=[], stop="refusal", stop_details=details))
    text, answer = await complete(model, ask("hello"))
    assert (text, answer.stop, answer.refusal) == ("", "refusal", "bio")
    assert answer.message.parts == ()


async def test_an_empty_answer_is_left_out_of_the_next_request(
    model: Model, api: AnthropicEmulator
) -> None:
    api.plan(Answer(blocks=[]))
    _, answer = await complete(model, ask("one"))
    text, _ = await complete(model, ask("one", answer.message, "two"))
    assert text == "echo: one | two"


async def test_a_paused_answer_is_sent_back_and_gone_on_with(
    model: Model, api: AnthropicEmulator
) -> None:
    api.plan(text_answer("working", stop="pause_turn"), text_answer("done"))
    _, paused = await complete(model, ask("go"))
    assert paused.stop == "pause"
    text, _ = await complete(model, ask("go", paused.message))
    assert text == "done"
    assert api.requests[1]["messages"][1]["role"] == "assistant"


async def test_thoughts_go_back_unchanged_to_the_model_that_had_them(
    model: Model, api: AnthropicEmulator
) -> None:
    redacted = {"type": "redacted_thinking", "data": "c2VjcmV0"}
    api.plan(Answer(blocks=[redacted, *TWO_CALLS.blocks], stop="tool_use"))
    _, answer = await complete(model, ask("I like tea"))
    raw = [part for part in answer.message.parts if isinstance(part, RawPart)]
    assert [(part.provider, part.model) for part in raw] == [("anthropic", "claude-sonnet-5-5")] * 2
    done = results(*((call.call_id, "ok") for call in answer.message.calls))

    # The emulator refuses a thought whose signature is not under its very words.
    await complete(model, ask("I like tea", answer.message, done))
    sent = api.requests[-1]["messages"][1]["content"]
    assert [block["type"] for block in sent[:3]] == ["redacted_thinking", "thinking", "text"]
    assert sent[0] == redacted

    other = ask("I like tea", answer.message, done, model="claude-opus-5-5")
    await complete(model, other)
    kinds = [block["type"] for block in api.requests[-1]["messages"][1]["content"]]
    assert kinds == ["text", "tool_use", "tool_use"]


async def test_a_thought_of_an_omitted_display_keeps_its_signature(
    model: Model, api: AnthropicEmulator
) -> None:
    api.plan(Answer(blocks=[{"type": "thinking", "thinking": ""}, CALL], stop="tool_use"))
    _, answer = await complete(model, ask("I like tea"))
    done = results(*((call.call_id, "ok") for call in answer.message.calls))
    text, _ = await complete(model, ask("I like tea", answer.message, done))
    assert text == "echo: ok"


async def test_parallel_results_stand_in_one_message_before_a_steer(
    model: Model, api: AnthropicEmulator
) -> None:
    asked = calls(("a", "memory", {"text": "x"}), ("b", "memory", {"text": "y"}), text="Moment.")
    await complete(model, ask("hi", asked, results(("a", "A"), ("b", "")), "and hurry"))
    content = api.requests[0]["messages"][2]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "text"]
    assert [block.get("tool_use_id") for block in content] == ["a", "b", None]


@pytest.mark.parametrize("after", range(len(events(TWO_CALLS)) - 1))
@pytest.mark.parametrize("then", ["cut", "end"])
async def test_a_cut_after_any_event_never_gives_a_runnable_call(
    model: Model, api: AnthropicEmulator, after: int, then: str
) -> None:
    api.deltas = 3
    api.plan(Fault(answer=TWO_CALLS, after_events=after, then=then))  # type: ignore[arg-type]
    with pytest.raises((ModelBusy, ModelInterrupted)) as caught:
        await complete(model, ask("I like tea"))
    if then == "end":
        # A reset may overtake what was sent before it; the end of a body can't.
        assert type(caught.value) is (ModelInterrupted if after else ModelBusy)


async def test_an_answer_is_whole_when_only_the_last_event_is_missing(
    model: Model, api: AnthropicEmulator
) -> None:
    api.deltas = 3
    api.plan(Fault(answer=TWO_CALLS, after_events=len(events(TWO_CALLS)) - 1, then="end"))
    _, answer = await complete(model, ask("I like tea"))
    assert answer.stop == "tools"
    assert len(answer.message.calls) == 2


async def test_a_cut_at_any_byte_of_the_tool_json_never_gives_a_runnable_call(
    model: Model, api: AnthropicEmulator
) -> None:
    api.deltas = 3
    one_call = Answer(blocks=[CALL], stop="tool_use")
    parts = events(one_call)
    start = len(b"".join(parts[:2]))
    end = len(b"".join(parts[:-2]))
    for after in range(start, end, 3):
        api.plan(Fault(answer=one_call, after_bytes=after))
        with pytest.raises((ModelBusy, ModelInterrupted)):
            await complete(model, ask("I like tea"))
    assert len(api.requests) > 100


@pytest.mark.parametrize("length", range(0, 34, 3))
async def test_a_call_that_the_output_limit_cut_is_left_out(
    model: Model, api: AnthropicEmulator, length: int
) -> None:
    half = json.dumps(CALL["input"], ensure_ascii=False)[:length]
    cut = {"type": "tool_use", "name": "memory", "input_json": half}
    said = {"type": "text", "text": "I keep that."}
    api.plan(Answer(blocks=[said, CALL, cut], stop="max_tokens"))
    _, answer = await complete(model, ask("I like tea"))
    assert answer.stop == "length"
    assert answer.message == Message(role="assistant", parts=(TextPart(text="I keep that."),))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("overloaded_error", ModelInterrupted),
        ("api_error", ModelInterrupted),
        ("rate_limit_error", ModelInterrupted),
        ("an_error_of_next_year", ModelInterrupted),
        ("invalid_request_error", ModelRejected),
        ("billing_error", ModelDenied),
    ],
)
@pytest.mark.parametrize("after", [1, 4])
async def test_an_error_event_in_the_stream_is_told_by_its_type(
    model: Model, api: AnthropicEmulator, kind: str, expected: type[ModelError], after: int
) -> None:
    api.plan(Fault(answer=text_answer("half"), after_events=after, then="error", error=kind))
    with pytest.raises(expected, match=kind):
        await complete(model, ask("hello"))


async def test_an_error_event_before_all_others_means_busy(
    model: Model, api: AnthropicEmulator
) -> None:
    api.plan(Fault(answer=text_answer("x"), then="error", error="overloaded_error"))
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ModelRejected),
        (401, ModelDenied),
        (402, ModelDenied),
        (403, ModelDenied),
        (404, ModelUnknown),
        (408, ModelBusy),
        (409, ModelBusy),
        (413, ModelRejected),
        (418, ModelRejected),
        (422, ModelRejected),
        (429, ModelBusy),
        (500, ModelBusy),
        (502, ModelBusy),
        (503, ModelBusy),
        (504, ModelBusy),
        (529, ModelBusy),
    ],
)
async def test_every_status_has_its_error(
    model: Model, api: AnthropicEmulator, status: int, expected: type[ModelError]
) -> None:
    api.plan(Fault(status=status, message="the reason given"))
    with pytest.raises(expected, match="the reason given") as caught:
        await complete(model, ask("hello"))
    assert type(caught.value) is expected
    assert len(api.requests) == 1, "retries are the loop's"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=400, message="prompt is too long: 9 tokens > 8 maximum"), ModelOverflow),
        (
            Fault(status=400, message="input length and `max_tokens` exceed context limit: 1+1>1"),
            ModelOverflow,
        ),
        (Fault(status=400, message="Your credit balance is too low."), ModelDenied),
        (Fault(status=400, error_code="organization_on_hold"), ModelDenied),
        (Fault(status=429, error_code="contract_spend_limit_reached"), ModelDenied),
        (Fault(status=429, error_code="ramp_limit_exceeded"), ModelBusy),
    ],
)
async def test_what_an_error_says_counts_beside_its_status(
    model: Model, api: AnthropicEmulator, fault: Fault, expected: type[ModelError]
) -> None:
    api.plan(fault)
    with pytest.raises(expected) as caught:
        await complete(model, ask("hello"))
    assert type(caught.value) is expected


async def test_a_prompt_longer_than_the_window_overflows(
    model: Model, api: AnthropicEmulator
) -> None:
    api.window = 100
    with pytest.raises(ModelOverflow, match="too long"):
        await complete(model, ask("word " * 200))


async def test_retry_after_is_honoured_as_seconds_and_as_a_date(
    model: Model, api: AnthropicEmulator
) -> None:
    date = formatdate(time.time() + 30, usegmt=True)
    api.plan(
        Fault(status=429, retry_after="7"),
        Fault(status=529, retry_after=date),
        Fault(status=503),
    )
    waits = []
    for _ in range(3):
        with pytest.raises(ModelBusy) as caught:
            await complete(model, ask("hello"))
        waits.append(caught.value.retry_after)
    assert waits[0] == 7
    assert waits[1] == pytest.approx(30, abs=5)
    assert waits[2] is None


async def test_a_server_that_is_not_there_is_busy(api: AnthropicEmulator) -> None:
    await api.stop()
    model = create({"api_key": "good-key", "base_url": api.url})
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))
    await model.close()


async def test_silence_ends_at_the_timeout(api: AnthropicEmulator) -> None:
    model = create({"api_key": "good-key", "base_url": api.url, "timeout": "0.2"})
    api.plan(
        Fault(answer=text_answer("half"), after_events=4, then="hang"),
        Fault(then="hang"),
    )
    with pytest.raises(ModelInterrupted):
        await complete(model, ask("hello"))
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))
    api.latency = 30
    with pytest.raises(ModelBusy):
        await complete(model, ask("hello"))
    await model.close()


async def test_a_wrong_key_is_denied_and_an_unknown_model_unknown(api: AnthropicEmulator) -> None:
    model = create({"api_key": "bad-key", "base_url": api.url})
    with pytest.raises(ModelDenied):
        await complete(model, ask("hello"))
    with pytest.raises(ModelDenied):
        await model.check("claude-sonnet-5-5")
    await model.close()


async def test_check_asks_for_the_model(model: Model, api: AnthropicEmulator) -> None:
    await model.check("claude-opus-5-5")
    with pytest.raises(ModelUnknown, match="claude-none"):
        await model.check("claude-none")
    with pytest.raises(ModelUnknown, match="claude-none"):
        await complete(model, ask("hello", model="claude-none"))
    await api.stop()
    with pytest.raises(ModelBusy):
        await model.check("claude-opus-5-5")


async def test_leaving_a_stream_ends_the_call(model: Model, api: AnthropicEmulator) -> None:
    api.plan(Fault(answer=text_answer("half an answer"), after_events=4, then="hang"))
    stream = model.stream(ask("hello"))
    await asyncio.wait_for(anext(stream), 5)
    await stream.aclose()
    async with asyncio.timeout(45):
        while not api.disconnects:
            await asyncio.sleep(0.01)


async def test_cancelling_a_call_is_not_taken_for_an_error(
    model: Model, api: AnthropicEmulator
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


async def test_one_connection_serves_many_calls(model: Model, api: AnthropicEmulator) -> None:
    for turn in range(5):
        await complete(model, ask(f"hello {turn}"))
    assert len(api.peers) == 1


async def test_from_the_second_turn_on_nearly_all_is_read_from_the_cache(
    model: Model, api: AnthropicEmulator
) -> None:
    system = "A rule that stands at the head of every call. " * 120
    messages: list[Message] = []
    shares = []
    for turn in range(6):
        messages.append(user_message(f"turn {turn}", facts=f"<facts>It is {turn} o'clock.</facts>"))
        _, answer = await complete(model, ask(*messages, system=system))
        messages.append(answer.message)
        usage = answer.usage
        whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        shares.append(usage.cache_read_tokens / whole)
        assert usage.input_tokens == 0, "all of it is written for the next turn"
    assert shares[0] == 0
    assert min(shares[1:]) > 0.9


async def test_a_step_with_many_results_still_reads_what_was_written(
    model: Model, api: AnthropicEmulator
) -> None:
    system = "A rule that stands at the head of every call. " * 120
    opening = user_message("do thirty things. " * 200)
    await complete(model, ask(opening, system=system))
    asked = calls(*((f"c{number}", "memory", {"text": "x"}) for number in range(30)))
    done = results(*((f"c{number}", "ok") for number in range(30)))
    _, answer = await complete(model, ask(opening, asked, done, system=system))
    usage = answer.usage
    # More than 20 blocks came since: only the second breakpoint finds the prefix.
    assert usage.cache_read_tokens > 0.9 * (1200 + 900)


async def test_after_five_minutes_the_cache_is_cold_unless_it_lasts_an_hour(
    model: Model, api: AnthropicEmulator
) -> None:
    lasting = create({"api_key": "good-key", "base_url": api.url, "cache_ttl": "1h"})
    system = "A rule that stands at the head of every call. " * 120
    for provider, is_read in ((model, False), (lasting, True)):
        request = ask("hello", system=f"{is_read} {system}")
        await complete(provider, request)
        api.move(301)
        _, answer = await complete(provider, request)
        assert (answer.usage.cache_read_tokens > 0) is is_read
    await lasting.close()


async def test_effort_is_sent_when_it_is_set(api: AnthropicEmulator) -> None:
    model = create({"api_key": "good-key", "base_url": api.url, "effort": "low"})
    await complete(model, ask("hello"))
    assert api.requests[0]["output_config"] == {"effort": "low"}
    await model.close()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "api_key"),
        ({"api_key": "k", "colour": "red"}, "colour"),
        ({"api_key": "k", "timeout": "soon"}, "timeout"),
        ({"api_key": "k", "timeout": "0"}, "timeout"),
        ({"api_key": "k", "timeout": "nan"}, "timeout"),
        ({"api_key": "k", "effort": "huge"}, "effort"),
        ({"api_key": "k", "cache_ttl": "2h"}, "cache_ttl"),
        ({"api_key": "k", "base_url": "api.anthropic.com"}, "base_url"),
        ({"api_key": "k", "base_url": "http://host:99999999"}, "base_url"),
    ],
)
def test_a_bad_option_is_told_in_a_sentence(options: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        create(options)


async def test_the_assistant_may_have_spoken_first(model: Model) -> None:
    text, _ = await complete(model, ask(says("Your digest."), "thanks"))
    assert text == "echo: thanks"
