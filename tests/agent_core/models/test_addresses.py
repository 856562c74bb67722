"""A wrong address of a model server is said, with the right one where there is one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from agent_core.errors import ModelError, ModelMisplaced, ModelUnknown
from agent_core.models import anthropic, openai
from agent_core.models.addresses import has_api, is_nothing_there
from agent_core.models.contract import Model
from agent_core.models.settings import AnthropicSettings, OpenAISettings
from tests.agent_core.models.calls import ask, complete
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Emulator

NOWHERE = {
    "ollama": (404, "text/plain", "404 page not found"),
    "vllm": (404, "application/json", '{"detail":"Not Found"}'),
    "llama.cpp": (
        404,
        "application/json",
        '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}',
    ),
    "lm studio": (
        200,
        "application/json",
        '{"error":"Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}',
    ),
    "web page": (200, "text/html", "<!DOCTYPE html><html><body>Welcome</body></html>"),
    "empty": (404, "text/plain", ""),
    "proxy": (405, "text/html", "<html><h1>405 Not Allowed</h1></html>"),
}
MODELS = {"openai": "gpt-5-mini", "anthropic": "claude-sonnet-5-5"}


class PlacedServer(Emulator):
    """A server whose API lies at its usual paths only; elsewhere it answers as `style` does."""

    def __init__(self, api: Emulator, style: str, *, describes: bool = True) -> None:
        """`describes` is false for a server that lists no models."""
        super().__init__()
        self.api = api
        self.style = style
        self.describes = describes
        self.is_gone = False

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        is_call = request.path in ("/v1/chat/completions", "/v1/messages")
        is_list = request.path.startswith("/v1/models") and self.describes
        if (is_call or is_list) and not self.is_gone:
            return await self.api.respond(request)
        status, media_type, text = NOWHERE[self.style]
        return web.Response(status=status, text=text, content_type=media_type)


def make_api(name: str) -> Emulator:
    """The emulator of an API."""
    return OpenAIEmulator() if name == "openai" else AnthropicEmulator()


@asynccontextmanager
async def connected(server: PlacedServer, path: str) -> AsyncIterator[Model]:
    """The provider of the server's API, at an address with this path."""
    address = f"{server.url}{path}"
    model: Model
    if isinstance(server.api, OpenAIEmulator):
        model = openai.create(OpenAISettings(base_url=address, timeout=5))
    else:
        settings = AnthropicSettings(api_key="good-key", base_url=address, timeout=5)
        model = anthropic.create(settings)
    try:
        yield model
    finally:
        await model.close()


async def fail(model: Model, name: str) -> list[ModelError]:
    """The errors of the check and of a call."""
    with pytest.raises(ModelError) as checked:
        await model.check(name)
    with pytest.raises(ModelError) as called:
        await complete(model, ask("hello", model=name))
    return [checked.value, called.value]


@pytest.mark.parametrize("style", NOWHERE)
@pytest.mark.parametrize(
    ("api", "path", "right"),
    [
        ("openai", "", "/v1"),
        ("openai", "/", "/v1"),
        ("openai", "/v1/chat/completions", "/v1"),
        ("anthropic", "/v1", ""),
        ("anthropic", "/v1/messages", ""),
    ],
)
async def test_a_wrong_path_is_said_with_the_right_one(
    style: str, api: str, path: str, right: str
) -> None:
    async with PlacedServer(make_api(api), style) as server, connected(server, path) as model:
        for error in await fail(model, MODELS[api]):
            assert type(error) is ModelMisplaced
            assert str(error).endswith(f"but a model server answers at {server.url}{right}.")


@pytest.mark.parametrize("style", NOWHERE)
@pytest.mark.parametrize("api", MODELS)
async def test_an_address_without_any_model_server_is_said(style: str, api: str) -> None:
    async with PlacedServer(make_api(api), style) as server, connected(server, "") as model:
        server.is_gone = True
        for error in await fail(model, MODELS[api]):
            assert type(error) is ModelMisplaced
            said = f"Nothing lies at {server.url}: no model server answers there."
            assert str(error).startswith(said)


@pytest.mark.parametrize(("api", "path"), [("openai", "/v1"), ("anthropic", "")])
@pytest.mark.parametrize("style", ["ollama", "vllm", "empty"])
async def test_a_server_that_lists_no_models_passes_if_it_takes_calls(
    api: str, path: str, style: str
) -> None:
    server = PlacedServer(make_api(api), style, describes=False)
    async with server, connected(server, path) as model:
        await model.check(MODELS[api])
        text, _ = await complete(model, ask("hello", model=MODELS[api]))
        assert text == "echo: hello"


@pytest.mark.parametrize(("api", "path"), [("openai", "/v1"), ("anthropic", "")])
async def test_an_unknown_model_is_no_wrong_address(api: str, path: str) -> None:
    async with PlacedServer(make_api(api), "ollama") as server, connected(server, path) as model:
        for error in await fail(model, "none-such"):
            assert type(error) is ModelUnknown


def test_words_about_an_address_are_told_from_those_about_a_model() -> None:
    for status, _, said in NOWHERE.values():
        assert is_nothing_there(status, said)
    for status, said in (
        (404, json.dumps({"error": {"message": "model 'x' not found"}})),
        (404, "No endpoints found matching your data policy"),
        (400, "file not found"),
        (401, "Error code: 401"),
    ):
        assert not is_nothing_there(status, said)


class NestedServer(Emulator):
    """A server whose JSON is nested too deeply to be read."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""
        return web.Response(text="[" * 100_000, content_type="application/json")


async def test_json_that_nobody_can_read_is_no_api() -> None:
    async with NestedServer() as server:
        assert not await has_api(f"{server.url}/v1/chat/completions", {})
