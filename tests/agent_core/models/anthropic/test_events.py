"""What the reader of streams makes of bytes, however they are cut."""

from collections.abc import AsyncIterator

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic, AsyncStream

from agent_core.models.anthropic.answer import EventStream
from tests.emulators.anthropic import AnthropicEmulator, render_events
from tests.emulators.streaming import text_answer

USAGE = {"input_tokens": 1, "output_tokens": 1}
WHOLE = AnthropicEmulator().compose("claude-sonnet-5-5", text_answer("Grüße, 世界!\n\nTwo."), USAGE)
EVENTS = render_events(WHOLE, 3)
ERROR = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'


class ChunkedBody(httpx2.AsyncByteStream):
    """A body that comes in these pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def open_stream(body: bytes, size: int) -> AsyncStream[object]:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    request = httpx2.Request("POST", "http://127.0.0.1/v1/messages")
    response = httpx2.Response(200, stream=ChunkedBody(pieces), request=request)
    client = AsyncAnthropic(api_key="key")
    return AsyncStream(cast_to=object, response=response, client=client)


async def read(body: bytes, size: int) -> list[object]:
    events = EventStream(open_stream(body, size).response)
    found = []
    while (event := await events.next()) is not None:
        found.append(event)
    await events.close()
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_events_are_what_the_sdk_reads_wherever_their_bytes_are_cut(
    size: int, end: bytes
) -> None:
    body = b"".join(EVENTS).replace(b"\n", end)
    wanted = [event async for event in open_stream(body, size)]
    assert len(wanted) >= 6
    assert await read(body, size) == wanted


async def test_the_last_event_needs_no_blank_line_but_its_whole_value() -> None:
    body = b"".join(EVENTS[:3])
    assert await read(body[:-1], 16) == await read(body, 16)
    assert await read(body[:-4], 16) == (await read(body, 16))[:-1]


async def test_what_came_before_an_error_is_read_and_then_the_error_is_raised() -> None:
    events = EventStream(open_stream(b"".join(EVENTS[:3]) + ERROR + EVENTS[3], 100_000).response)
    before = [await events.next(), await events.next()]
    assert [event["type"] for event in before if isinstance(event, dict)] == [
        "message_start",
        "content_block_start",
    ]
    for _ in range(2):  # it stays so: nothing behind it counts
        with pytest.raises(anthropic.APIStatusError) as raised:
            await events.next()
        assert raised.value.type == "overloaded_error"


async def test_what_is_no_json_is_a_value_error() -> None:
    events = EventStream(open_stream(EVENTS[0] + b"event: x\ndata: {no\n\n", 100_000).response)
    assert await events.next() is not None
    with pytest.raises(ValueError, match="property name"):
        await events.next()


async def test_an_error_that_is_no_json_is_told_as_it_came() -> None:
    events = EventStream(open_stream(b"event: error\ndata: out of order\n\n", 5).response)
    with pytest.raises(anthropic.APIStatusError, match="out of order"):
        await events.next()
