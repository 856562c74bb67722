"""What a model lacks is learned once, kept over a restart, shown, and forgotten on request."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agent_core.agent.replay.diff import Comparison, compare
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import TurnRecord, read_record
from agent_core.agent.replay.replayer import replay
from agent_core.models.anthropic import translate as messages_api
from agent_core.models.openai import translate as chat_api
from agent_core.models.shapes import restore_wishes
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from gateway.home import DATABASE
from gateway.interfaces.contexts import open_context
from gateway.operations.registry import find_operation
from tests.emulators.dialects import NEXT, DialectServer, chat, messages, text_block
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Harness, Stage

RENDER = {"openai": chat_api.render_shaped, "anthropic": messages_api.render_shaped}


class ToollessServer(DialectServer):
    """A server whose models take no tools; it keeps the bytes of each request."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[bytes] = []
        self.refused = 0

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        if request.method != "POST":
            return await super().respond(request)
        payload = await request.read()
        body = json.loads(payload)
        self.note(body, request.headers)
        if "tools" in body:
            self.refused += 1
            said = f"registry.ollama.ai/library/{body['model']} does not support tools"
            error = {"message": said, "type": "invalid_request_error"}
            return web.json_response({"type": "error", "error": error}, status=400)
        self.taken.append(payload)
        is_chat = request.path.endswith("/chat/completions")
        wire = chat(NEXT) if is_chat else messages(*text_block(0, NEXT))
        return web.Response(text=wire.body, content_type=wire.media_type)


@asynccontextmanager
async def opened(stage: Stage, api: str, server: DialectServer) -> AsyncIterator[Harness]:
    """A gateway with this server."""
    async with stage.open(
        TALARIA_MODEL__PROVIDER=api,
        OPENAI_BASE_URL=f"{server.url}/v1",
        ANTHROPIC_BASE_URL=server.url,
    ) as harness:
        yield harness


def read_all(connection: Connection) -> list[TurnRecord]:
    """All turns, oldest first."""
    recent = reversed(turns.list_recent(connection, limit=100))
    return [record for turn in recent if (record := read_record(connection, turn.id))]


async def rebuild(home: Path, api: str) -> list[bytes]:
    """Replay every turn; return the bytes of its requests."""
    database = await Database.open(home / DATABASE)
    try:
        records = await database.read(read_all)
    finally:
        await database.close()
    found = []
    for record in records:
        assert record.prompt
        made = await replay(record, calls := rebuild_calls(record), record.prompt)
        assert compare(calls, made) == Comparison(verdict="identical", compared=len(calls))
        found += [RENDER[api](restore_wishes(one.request)) for one in made]
    return found


async def operate(harness: Harness, operation_name: str, /, **asked: str) -> Mapping[str, Any]:
    """Perform an operation as the command line does."""
    operation = find_operation(operation_name)
    assert operation
    return await operation(open_context(harness.gateway), asked)


async def known(harness: Harness) -> dict[str, Any]:
    """What `talaria models` lists, by kind."""
    answer = await operate(harness, "models.known")
    return {fact["kind"]: fact["value"] for one in answer["models"] for fact in one["facts"]}


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_a_model_without_tools_is_learned_shown_and_forgotten(stage: Stage, api: str) -> None:
    async with ToollessServer() as server:
        async with opened(stage, api, server) as harness:
            assert await harness.ask(ANNA, "hello") == NEXT
            assert await harness.ask(ANNA, "and now?") == NEXT
            assert server.refused == 1
            assert await known(harness) == {"takes_tools": "false"}
            name = server.requests[0]["model"]
        async with opened(stage, api, server) as harness:
            assert await harness.ask(ANNA, "after a restart") == NEXT
            assert server.refused == 1, "it is known"
            done = await operate(harness, "models.forget", name=name)
            assert [one["model"] for one in done["models"]] == [name]
            assert not await known(harness)
        rebuilt = await rebuild(stage.home, api)
        assert len(rebuilt) == 3
        assert set(rebuilt) <= set(server.taken)
        async with opened(stage, api, server) as harness:
            assert await harness.ask(ANNA, "and once more") == NEXT
            assert server.refused == 2, "it was tried again"
