"""Model servers as they are: each form is read, and the next message of the chat works.

Each row names the report or the document from which it takes its form; see `dialect_rows`.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import pytest

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec
from tests.emulators.dialects import NEXT, DialectServer, Wire, chat, messages, text_block
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.dialect_rows import Row, Trouble
from tests.journeys.dialect_rows.chat import CHAT
from tests.journeys.dialect_rows.faults import (
    MESSAGES_PASSING,
    MESSAGES_TROUBLES,
    PASSING,
    TROUBLES,
)
from tests.journeys.dialect_rows.messages import MESSAGES
from tests.journeys.dialect_rows.refused import REFUSED
from tests.journeys.dialect_rows.written import list_written
from tests.journeys.identities import claim
from tests.journeys.odd_servers import QUICK, make_settings
from tests.journeys.stage import Harness, Stage

AT_MOST = 8.0
"""Seconds until an owner is told."""
WAITS = "The owner knows why"
ODD_SCHEMA = {
    "type": "object",
    "anyOf": [{"required": ["query"]}, {"required": ["kind"]}],
    "$defs": {"words": {"type": "string"}},
    "properties": {
        "query": {"$ref": "#/$defs/words", "examples": ["tea"]},
        "kind": {"const": "tea"},
        "anything": True,
        "more": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]+$"},
            "additionalProperties": False,
        },
    },
}


class OddTool:
    """A plugin's tool, with keywords of JSON Schema that some servers refuse."""

    spec = ToolSpec(name="brew", description="Brews tea.", schema=json.dumps(ODD_SCHEMA))
    effect: Effect = "read"
    declaration = Declaration()

    async def run(self, arguments: object, context: ToolContext) -> ToolResult:
        del arguments, context
        return ToolResult(text="brewed")


def write_chat(*pieces: str) -> Wire:
    return chat(*pieces)


def write_messages(*pieces: str) -> Wire:
    head, *more = text_block(0, "")
    del more
    deltas = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": piece},
        }
        for piece in pieces
    ]
    return messages(head, *deltas, {"type": "content_block_stop", "index": 0})


TABLE: dict[tuple[str, str], Sequence[Row]] = {
    ("openai", "streams"): CHAT,
    ("openai", "words"): list_written(write_chat),
    ("openai", "requests"): REFUSED,
    ("openai", "errors"): PASSING,
    ("anthropic", "streams"): MESSAGES,
    ("anthropic", "words"): list_written(write_messages),
    ("anthropic", "errors"): MESSAGES_PASSING,
}


@pytest.fixture
async def server() -> AsyncIterator[DialectServer]:
    async with DialectServer() as server:
        yield server


async def try_row(harness: Harness, server: DialectServer, row: Row) -> list[str]:
    """Play a row in a chat of its own; return what is wrong."""
    await harness.ask(ANNA, "/new")
    server.requests.clear()
    server.complaints.clear()
    server.script.clear()
    server.script.extend(row.script)
    server.rule = row.rule
    first = await harness.ask(ANNA, "what about tea?")
    second = await harness.ask(ANNA, "and then?")
    wrong = [found for found in [row.judge(first)] if found]
    if second != NEXT:
        wrong.append(f"next: {second[:200]!r}, {server.complaints}")
    last = server.requests[-1] if server.requests else {"messages": []}
    if "what about tea?" not in json.dumps(last):
        wrong.append("the first message is lost")
    if not row.said.startswith("There is no tool") and list_queries(last) != list(row.asked):
        wrong.append(f"calls: {list_queries(last)}")
    return wrong


def list_queries(body: Json) -> list[str | None]:
    """Return the queries of all calls in a request."""
    found = []
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            found.append(json.loads(call["function"]["arguments"]).get("query"))
        if message["role"] == "assistant" and isinstance(message.get("content"), list):
            found += [
                b["input"].get("query") for b in message["content"] if b["type"] == "tool_use"
            ]
    return found


@pytest.mark.parametrize(("api", "kind"), TABLE)
async def test_each_form_is_read_and_the_next_message_works(
    stage: Stage, server: DialectServer, api: str, kind: str
) -> None:
    wrong = {}
    tools = (OddTool(),) if kind == "requests" else ()
    async with stage.open(timings=QUICK, tools=tools, **make_settings(server, api)) as harness:
        for row in TABLE[api, kind]:
            if found := await try_row(harness, server, row):
                wrong[row.title] = found
    assert not wrong, "\n".join(f"{title}: {found}" for title, found in wrong.items())


@pytest.mark.parametrize(
    ("api", "troubles"), [("openai", TROUBLES), ("anthropic", MESSAGES_TROUBLES)]
)
async def test_what_only_an_owner_can_end_is_told_to_the_owner(
    stage: Stage, server: DialectServer, api: str, troubles: Sequence[Trouble]
) -> None:
    wrong = {}
    async with stage.open(timings=QUICK, **make_settings(server, api)) as harness:
        await claim(harness)
        for trouble in troubles:
            if found := await try_trouble(harness, server, trouble):
                wrong[trouble.title] = found
        # Owners read the first one at once, and the others together with it.
        assert troubles[0].told in "\n".join(stage.telegram.texts(ANNA))
    assert not wrong, "\n".join(f"{title}: {found}" for title, found in wrong.items())


async def try_trouble(harness: Harness, server: DialectServer, trouble: Trouble) -> str:
    """Let a person write while their server has a trouble; return what is wrong."""
    telegram = harness.stage.telegram
    before = len(telegram.messages(BEN))
    server.trouble = trouble.wire
    await telegram.says(BEN, "what about tea?")
    try:
        async with asyncio.timeout(AT_MOST):
            await harness.until(
                lambda: any(WAITS in one.text for one in telegram.messages(BEN)[before:])
            )
    except TimeoutError:
        return f"person: {telegram.texts(BEN)}"
    finally:
        server.trouble = None
        await harness.at_rest()
    answer = telegram.texts(BEN)[-1]
    return "" if answer == NEXT else f"answer: {answer}"


def test_the_table_is_long_and_its_sources_were_looked_up() -> None:
    rows: list[Row | Trouble] = [
        *(row for rows in TABLE.values() for row in rows),
        *TROUBLES,
        *MESSAGES_TROUBLES,
    ]
    assert len(rows) >= 250
    assert len({(row.title, row.source) for row in rows}) >= 250
    assert all(row.source.startswith(("https://", "our own trial")) for row in rows)
    titles = {(row.title, row.source) for row in rows}
    own = sum(source.startswith("our own trial") for _, source in titles)
    assert own <= len(titles) // 10


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_thoughts_come_back_after_a_restart(
    stage: Stage, server: DialectServer, api: str
) -> None:
    row = next(
        row
        for row in (*REFUSED, *MESSAGES)
        if row.title
        == {
            "openai": "thoughts that come back",
            "anthropic": "a thought without a signature that comes back",
        }[api]
    )
    settings = make_settings(server, api)
    server.script.extend(row.script)
    server.rule = row.rule
    async with stage.open(**settings) as harness:
        assert "Done" in await harness.ask(ANNA, "what about tea?")
        before = server.requests[-1]["messages"]
    async with stage.open(**settings) as harness:
        assert await harness.ask(ANNA, "and then?") == NEXT
    assert server.complaints == []
    assert server.requests[-1]["messages"][: len(before) - 1] == before[:-1] or api == "anthropic"
