"""Each provider against its emulator: the contract of `agent_core.models.contract`."""

import asyncio
import json
import time
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any, Literal

import pytest

from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.models.contract import StopReason, TextDelta
from agent_core.models.images import UNSEEN
from agent_core.transcript import DocumentPart, ImagePart, Message, user_message
from tests.agent_core.models.calls import results, says
from tests.agent_core.models.providers import Provider, each
from tests.agent_core.models.rig import Rig, connected
from tests.emulators.pictures import make_gif, make_jpeg, make_png, make_webp
from tests.emulators.streaming import Answer, Fault, text_answer
from tests.patience import PATIENCE

PNG = make_png()
LONG_SYSTEM = "A rule that stands at the head of every call. " * 120
CALL = {"type": "tool_use", "name": "memory", "input": {"text": 'likes tea, "green" ü'}}
BLOCKS = [
    {"type": "thinking", "thinking": "They told me something."},
    {"type": "text", "text": "I keep that."},
    CALL,
    {"type": "tool_use", "name": "recall", "input": {}},
]
Then = Literal["cut", "end"]

PEERS = {"anthropic": 1, "openai": 5}
"""Connections of five calls; chat-completions servers nearby get a new one for each, see client."""


def own(pick: Any) -> pytest.MarkDecorator:
    """Run a test with each of the values that belong to a provider."""
    return pytest.mark.parametrize(
        ("provider", "value"), each(pick), ids=lambda one: getattr(one, "name", None)
    )


def two_calls(provider: Provider) -> Answer:
    return Answer(blocks=BLOCKS, stop=provider.tools)


def sent(key: str, media_type: str = "image/png") -> Message:
    part = ImagePart(file_key=key, media_type=media_type, size=len(PNG))
    return user_message("what is it?", facts="<facts>\nNow: noon\n</facts>", parts=(part,))


async def test_an_answer_streams_and_ends_whole(rig: Rig) -> None:
    rig.api.deltas = 3
    text, answer = await rig.ask("hello")
    assert text == answer.message.text == "echo: hello"
    assert (answer.stop, answer.model, rig.model.provider) == (
        "end",
        rig.provider.model,
        rig.provider.name,
    )
    assert answer.usage.output_tokens > 0
    assert rig.api.headers[0]["Authorization"] == "Bearer good-key"


async def test_text_is_passed_on_as_it_comes_and_leaving_the_stream_ends_the_call(rig: Rig) -> None:
    rig.api.plan(
        Fault(answer=text_answer("one two"), after_events=rig.provider.first_text, then="hang")
    )
    stream = rig.model.stream(rig.request("hello"))
    assert await asyncio.wait_for(anext(stream), PATIENCE) == TextDelta(text="one ")
    await stream.aclose()
    async with asyncio.timeout(PATIENCE):
        while not rig.api.disconnects:
            await asyncio.sleep(0.01)


@own(lambda provider: provider.stops.items())
async def test_every_stop_reason_is_mapped(rig: Rig, value: tuple[str, StopReason]) -> None:
    theirs, ours = value
    rig.api.plan(text_answer("so far", stop=theirs))
    text, answer = await rig.ask("hello")
    assert (text, answer.stop) == ("so far", ours)


async def test_tool_calls_come_whole_and_in_order_and_take_their_results(rig: Rig) -> None:
    rig.api.deltas = 7
    rig.api.plan(two_calls(rig.provider))
    text, answer = await rig.ask("I like tea")
    assert answer.stop == "tools"
    assert text == answer.message.text == "I keep that.", "reasoning is not part of the answer"
    first, second = answer.message.calls
    assert (first.name, json.loads(first.arguments)) == ("memory", CALL["input"])
    assert (second.name, json.loads(second.arguments)) == ("recall", {})
    assert first.call_id != second.call_id
    done = results((first.call_id, "ok"), (second.call_id, "none"))
    text, _ = await rig.ask("I like tea", answer.message, done, "and hurry")
    assert "hurry" in text


@own(lambda provider: range(len(provider.render(two_calls(provider))) - provider.spare))
@pytest.mark.parametrize("then", ["cut", "end"])
async def test_a_cut_after_any_event_never_gives_a_runnable_call(
    rig: Rig, value: int, then: Then
) -> None:
    rig.api.deltas = 3
    rig.api.plan(Fault(answer=two_calls(rig.provider), after_events=value, then=then))
    error = await rig.refused("I like tea")
    assert isinstance(error, ModelBusy | ModelInterrupted)
    if then == "end":
        # A reset may overtake what was sent before it; the end of a body can't.
        assert type(error) is (ModelInterrupted if value else ModelBusy)


@own(lambda provider: range(1, provider.spare + 1))
async def test_an_answer_is_whole_without_the_stream_s_last_events(rig: Rig, value: int) -> None:
    rig.api.deltas = 3
    whole = len(rig.provider.render(two_calls(rig.provider)))
    rig.api.plan(Fault(answer=two_calls(rig.provider), after_events=whole - value, then="end"))
    _, answer = await rig.ask("I like tea")
    assert (answer.stop, len(answer.message.calls)) == ("tools", 2)
    assert answer.usage.output_tokens > 0


@pytest.mark.slow
async def test_a_cut_at_any_byte_of_the_tool_json_never_gives_a_runnable_call(rig: Rig) -> None:
    rig.api.deltas = 3
    one_call = Answer(blocks=[CALL], stop=rig.provider.tools)
    parts = rig.provider.render(one_call)
    start, end = len(parts[0]), len(b"".join(parts[: -1 - rig.provider.spare]))
    for after in range(start, end, 7):
        rig.api.plan(Fault(answer=one_call, after_bytes=after))
        error = await rig.refused("I like tea")
        assert isinstance(error, ModelBusy | ModelInterrupted)
    assert len(rig.api.requests) > 50


@own(lambda provider: [stop for stop, ours in provider.stops.items() if ours == "length"])
@pytest.mark.parametrize("length", range(0, 34, 3))
async def test_a_call_that_was_cut_off_is_left_out(rig: Rig, value: str, length: int) -> None:
    half = json.dumps(CALL["input"], ensure_ascii=False)[:length]
    cut = {"type": "tool_use", "name": "memory", "input_json": half}
    rig.api.plan(Answer(blocks=[{"type": "text", "text": "I keep that."}, CALL, cut], stop=value))
    _, answer = await rig.ask("I like tea")
    assert (answer.stop, answer.message) == (rig.provider.stops[value], says("I keep that."))


@own(lambda provider: provider.stream_errors)
async def test_an_error_within_the_stream_is_mapped_by_its_code(
    rig: Rig, value: tuple[int, str, type[ModelError]]
) -> None:
    after, code, expected = value
    answer = text_answer("half")
    rig.api.plan(
        Fault(answer=answer, after_events=after, then="error", error=code, error_code=code)
    )
    assert type(await rig.refused("hello")) is expected


@own(lambda provider: provider.errors)
async def test_every_status_and_error_code_is_mapped(
    rig: Rig, value: tuple[Fault, type[ModelError]]
) -> None:
    fault, expected = value
    rig.api.plan(fault)
    error = await rig.refused("hello")
    assert type(error) is expected
    assert fault.message in str(error)
    assert len(rig.api.requests) == 1, "retries are the loop's"


async def test_retry_after_is_read_as_seconds_and_as_a_date(rig: Rig) -> None:
    date = formatdate(time.time() + 30, usegmt=True)
    rig.api.plan(
        Fault(status=429, retry_after="7"),
        Fault(status=503, retry_after=date),
        Fault(status=503),
    )
    waits = []
    for _ in range(3):
        error = await rig.refused("hello")
        assert isinstance(error, ModelBusy)
        waits.append(error.retry_after)
    assert waits == [7, pytest.approx(30, abs=5), None]


async def test_a_prompt_longer_than_the_window_overflows(rig: Rig) -> None:
    rig.api.window = 100
    assert type(await rig.refused("word " * 200)) is ModelOverflow


async def test_silence_ends_at_the_timeout(provider: Provider, api: Any) -> None:
    answer = text_answer("half")
    api.plan(
        Fault(answer=answer, after_events=provider.first_text, then="hang"), Fault(then="hang")
    )
    async with connected(provider, api, timeout=0.2) as rig:
        assert type(await rig.refused("hello")) is ModelInterrupted
        assert type(await rig.refused("hello")) is ModelUnreachable
        api.latency = 30
        assert type(await rig.refused("hello")) is ModelUnreachable


async def test_a_server_that_can_not_be_reached_is_unreachable(rig: Rig) -> None:
    await rig.api.stop()
    assert type(await rig.refused("hello")) is ModelUnreachable
    with pytest.raises(ModelUnreachable):
        await rig.model.check(rig.provider.model)


async def test_a_wrong_key_is_denied_and_an_unknown_model_unknown(rig: Rig) -> None:
    async with connected(rig.provider, rig.api, api_key="bad-key") as bad:
        assert type(await bad.refused("hello")) is ModelDenied
        with pytest.raises(ModelDenied):
            await bad.model.check(rig.provider.model)
    await rig.model.check(rig.provider.model)
    with pytest.raises(ModelUnknown, match="none-such"):
        await rig.model.check("none-such")
    with pytest.raises(ModelUnknown, match="none-such"):
        await rig.ask("hello", model="none-such")


async def test_cancelling_a_call_is_not_taken_for_an_error(rig: Rig) -> None:
    arrived = asyncio.Event()

    async def notice(_: object) -> None:
        arrived.set()

    rig.api.before = notice
    rig.api.latency = 30
    task = asyncio.create_task(rig.ask("hello"))
    await asyncio.wait_for(arrived.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_five_calls_need_these_connections(rig: Rig) -> None:
    for turn in range(5):
        await rig.ask(f"hello {turn}")
    assert len(rig.api.peers) == PEERS[rig.provider.name]


async def test_usage_separates_what_was_read_from_the_cache(rig: Rig) -> None:
    await rig.ask("one", system=LONG_SYSTEM)
    _, answer = await rig.ask("one", says("echo: one"), "two", system=LONG_SYSTEM)
    usage = answer.usage
    assert 1000 < usage.cache_read_tokens < usage.read_tokens
    assert usage.total_tokens == usage.read_tokens + usage.output_tokens


async def test_the_assistant_may_have_spoken_first(rig: Rig) -> None:
    text, _ = await rig.ask(says("Your digest."), "thanks")
    assert text == "echo: thanks"


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("image/png", PNG),
        ("image/jpeg", make_jpeg()),
        ("image/gif", make_gif()),
        ("image/webp", make_webp()),
    ],
)
async def test_every_kind_of_image_is_shown(rig: Rig, media_type: str, data: bytes) -> None:
    text, _ = await rig.ask(sent("k1", media_type), images={"k1": data})
    assert text.endswith(f"what is it? | {rig.provider.image}")
    assert rig.api.calls[rig.provider.route] == 1


@pytest.mark.parametrize(("images", "requests"), [({}, 1), ({"k1": b"no image at all"}, 3)])
async def test_a_missing_or_refused_image_ends_no_conversation(
    rig: Rig, images: Mapping[str, bytes], requests: int
) -> None:
    for expected in (requests - 1 or 1, requests + (not images)):
        text, _ = await rig.ask(sent("k1"), images=images)
        assert text.endswith(f"what is it? | {UNSEEN}")
        assert rig.api.calls[rig.provider.route] == expected, "a refused image is not tried again"


async def test_an_error_about_something_else_is_not_taken_for_one_about_images(rig: Rig) -> None:
    error = await rig.refused(sent("k1"), images={"k1": PNG}, model="none-such")
    assert type(error) is ModelUnknown
    assert rig.api.calls[rig.provider.route] == 1


async def test_a_document_follows_the_person_s_text(rig: Rig) -> None:
    document = DocumentPart(name="a.txt", text="<attached-file>\nhi\n</attached-file>")
    await rig.ask(user_message("sum up", parts=(document,)))
    body = json.dumps(rig.api.requests[0]["messages"])
    assert 0 < body.index("sum up") < body.index("<attached-file>")


async def test_effort_is_sent_when_it_is_set(provider: Provider, api: Any) -> None:
    async with connected(provider, api, effort="low") as rig:
        await rig.ask("hello")
    assert provider.low_effort.items() <= api.requests[0].items()


@own(lambda provider: provider.bad_settings)
def test_a_bad_setting_is_named_in_the_error(
    provider: Provider, value: tuple[Mapping[str, str], str]
) -> None:
    given, complaint = value
    with pytest.raises(ValueError, match=complaint):
        provider.settings(**given)
