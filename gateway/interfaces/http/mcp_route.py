"""`/mcp`, for programs with a token; and the same tools for `talaria mcp serve`."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict
from http import HTTPStatus

from aiohttp import web

from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection
from agent_core.state.people import api_tokens, people
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.http.webhooks import GATEWAY
from gateway.interfaces.mcp_server.loading import MISSING, Endpoint, is_installed, load_endpoint
from gateway.interfaces.operations.tokens import hash_token
from gateway.turns import Client

LOCAL = "local"
"""The name of the client behind `talaria mcp serve`."""
_LOCKED = "The token is missing or wrong. `talaria tokens create` makes one."
_STORE = "The database is not available now. Repeat the request later."


class McpRoute:
    """Answers at `/mcp`. The SDK is loaded for the first request: it takes a second."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._endpoint: asyncio.Future[Endpoint] | None = None
        self._task: asyncio.Task[None] | None = None

    async def run(self, _: web.Application) -> AsyncIterator[None]:
        """Stop the SDK's work when the server stops."""
        yield
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def answer(self, request: web.Request) -> web.Response:
        """Answer a request: 401 without a valid token, 503 while the store is unavailable."""
        try:
            client = await _authenticate(self._gateway, request.headers.get("Authorization", ""))
        except StoreError:
            return _refuse(HTTPStatus.SERVICE_UNAVAILABLE, _STORE)
        if client is None:
            return _refuse(HTTPStatus.UNAUTHORIZED, _LOCKED)
        if not is_installed():
            return _refuse(HTTPStatus.NOT_IMPLEMENTED, MISSING)
        if self._endpoint is None:
            self._endpoint = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._keep_open(self._endpoint))
        endpoint = await asyncio.shield(self._endpoint)
        return await endpoint.serve(request, client)

    async def _keep_open(self, opened: asyncio.Future[Endpoint]) -> None:
        open_endpoint = await load_endpoint()
        async with open_endpoint(self._gateway) as endpoint:
            opened.set_result(endpoint)
            await asyncio.Event().wait()


async def list_local(request: web.Request) -> web.Response:
    """List the tools of the person whom `talaria mcp serve` acts for."""
    gateway, asked = request.app[GATEWAY], await request.json()
    client = await _find_local(gateway, str(asked.get("person", "")))
    if client is None:
        return _refuse(HTTPStatus.NOT_FOUND, _name_unknown(asked))
    specs = await gateway.client_calls.list_tools(client)
    return web.json_response({"tools": [asdict(spec) for spec in specs]})


async def call_local(request: web.Request) -> web.Response:
    """Run a call of `talaria mcp serve`."""
    gateway, asked = request.app[GATEWAY], await request.json()
    client = await _find_local(gateway, str(asked.get("person", "")))
    if client is None:
        return _refuse(HTTPStatus.NOT_FOUND, _name_unknown(asked))
    try:
        result = await gateway.client_calls.call(client, asked["tool"], asked["arguments"])
    except StoreError:
        return _refuse(HTTPStatus.SERVICE_UNAVAILABLE, _STORE)
    return web.json_response({"text": result.text, "is_error": result.is_error})


async def _find_local(gateway: Gateway, slug: str) -> Client | None:
    everybody = await gateway.database.read(people.list_all)
    found = next((one for one in everybody if one.slug == slug), None)
    return Client(person_id=found.id, name=LOCAL) if found else None


def _name_unknown(asked: dict[str, object]) -> str:
    slug = asked.get("person")
    return f"There is no person {slug}; `talaria people list` shows the folder names."


async def _authenticate(gateway: Gateway, header: str) -> Client | None:
    """Return the client of a token, and note that it was used. Raises `StoreError`."""
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        return None
    secret_hash, now = hash_token(secret.strip()), gateway.now()
    token = await gateway.database.read(
        lambda c: api_tokens.find(c, secret_hash=secret_hash, scope="mcp")
    )
    if token is None:
        return None

    def note(connection: Connection) -> None:
        api_tokens.note_use(connection, token=token, now=now)

    if token.is_use_due(now):
        await gateway.database.write("tokens.use", note)
    return Client(person_id=token.person_id, name=token.name)


def _refuse(status: HTTPStatus, sentence: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return web.json_response({"error": sentence}, status=status, headers=headers)
