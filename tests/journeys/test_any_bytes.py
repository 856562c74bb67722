"""Whatever bytes a model server sends, the chat goes on, over either API."""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emulators.raw_answers import End, RawAnswer, make_head
from tests.journeys.dialect_rows.chat import CHAT
from tests.journeys.dialect_rows.messages import MESSAGES
from tests.journeys.odd_servers import measure_memory, open_world

MEMORY = 400_000_000
"""Bytes by which the process may grow over all examples; it also plays both platforms."""
BODIES = {
    "openai": [wire.body.encode(errors="replace") for row in CHAT for wire in row.script],
    "anthropic": [wire.body.encode(errors="replace") for row in MESSAGES for wire in row.script],
}
KINDS = st.sampled_from(
    ["text/event-stream", "application/json", "text/html; charset=x", "image/png", "", "a" * 200]
)
STATUSES = st.sampled_from(
    ["200 OK"] * 8
    + ["201 Created", "204 No Content", "206 Partial Content", "301 Moved", "307 Temporary"]
    + ["400 Bad Request", "401 Unauthorized", "404 Not Found", "409 Conflict"]
    + ["418 Teapot", "422 Bad", "429 Too Many", "500 Error", "503 Busy", "529 Overloaded"]
    + ["999 Nobody knows", "099 Low"]
)
FIELDS = st.sampled_from(
    [
        *[""] * 4,
        "Location: /v1/chat/completions\r\n",
        "Location: http://[\r\n",
        "Content-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Retry-After: x\r\n",
    ]
)
ENDS: st.SearchStrategy[End] = st.sampled_from(["close", "close", "close", "reset", "hang"])
PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from(
        [
            b"data: ",
            b"\n\n",
            b"\r\n",
            b'{"choices":',
            b"null",
            b'"type":',
            b"[" * 50_000,
            b'{"a":' * 50_000,
            b"\x00" * 1000,
            b"\xff\xfe",
            b"data: [DONE]\n\n",
            b"event: error\n",
            b'{"error":{"message":"no"}}',
            b"1e999",
            b"9" * 5000,
        ]
    ),
)


@st.composite
def mutate(draw: st.DrawFn, api: str) -> bytes:
    """Return a stream that some server sent, cut, doubled or with other bytes in it."""
    body = bytearray(draw(st.sampled_from(BODIES[api])))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(body)))
        how = draw(st.sampled_from(["cut", "put", "replace", "double"]))
        if how == "cut":
            del body[place:]
        elif how == "put":
            body[place:place] = draw(PIECES)
        elif how == "replace":
            body[place : place + 8] = draw(PIECES)
        else:
            body += body[place:]
    return bytes(body)


@st.composite
def replace_values(draw: st.DrawFn, api: str) -> bytes:
    """Return a stream in whose JSON some values are others."""
    text = draw(st.sampled_from(BODIES[api])).decode()
    value = draw(st.sampled_from(["null", "1", '"x"', "[]", "{}", "[{}]", "true", "-1", '""']))
    places = [found.span() for found in re.finditer(r'(?<=": )("[^"]*"|\d+|\[|\{)', text)]
    for start, end in draw(st.permutations(places))[:1]:
        text = text[:start] + value + text[end:]
    return text.encode()


@st.composite
def raw_answers(draw: st.DrawFn, api: str) -> RawAnswer:
    body = draw(st.one_of(mutate(api), replace_values(api), st.binary(max_size=2000)))
    end = draw(ENDS)
    wrong = draw(st.sampled_from([0, 0, 0, None, -3, 7, 10**6]))
    length = None if wrong is None else max(0, len(body) + wrong)
    more = draw(FIELDS)
    head = make_head(draw(STATUSES), draw(KINDS), length, more)
    if draw(st.integers(0, 19)) == 0:
        head = b""  # no HTTP at all
    size = draw(st.sampled_from([10**9, 10**9, 1000, 64]))
    pieces = [body[at : at + size] for at in range(0, len(body), size)][:40]
    return RawAnswer(pieces=[head, *pieces], pause=0.0 if size > 1000 else 0.001, end=end)


def try_many(home: Path, api: str, most: int) -> None:
    with asyncio.Runner() as runner:
        opening = open_world(home, api)
        world = runner.run(opening.__aenter__())
        try:

            @settings(
                max_examples=most,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(raw_answers(api))
            def check(answer: RawAnswer) -> None:
                runner.run(world.check(answer))

            before = measure_memory()
            check()
            assert measure_memory() - before < MEMORY
        finally:
            runner.run(opening.__aexit__(None, None, None))


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_after_any_bytes_the_chat_goes_on(tmp_path: Path, api: str) -> None:
    try_many(tmp_path, api, 12)


@pytest.mark.long
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_after_many_bytes_the_chat_goes_on(tmp_path: Path, api: str) -> None:
    assert settings.default
    try_many(tmp_path, api, 6 * settings.default.max_examples)
