"""What goes over the wire is made of the neutral request and of nothing else: both providers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from agent_core.models import anthropic, openai
from agent_core.models.anthropic import translate as messages_api
from agent_core.models.contract import Model, ModelRequest, Sampling
from agent_core.models.openai import translate as chat_api
from agent_core.models.settings import AnthropicSettings, OpenAISettings
from agent_core.models.shapes import restore_wishes
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    RawPart,
    TextPart,
    ToolCallPart,
    dump_parts,
    load_parts,
    user_message,
)
from tests.agent_core.models.calls import ask, calls, complete, results, says
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.anthropic_rules import sign
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.pictures import make_png
from tests.emulators.streaming import Fault

RENDER = {"openai": chat_api.render_shaped, "anthropic": messages_api.render_shaped}
MODELS = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-5-mini"}
PICTURE = make_png()


class Wire:
    """An emulator that keeps the bytes it was sent, and new clients to it."""

    def __init__(self, provider: str) -> None:
        self.payloads: list[bytes] = []
        payloads = self.payloads

        class ListeningAnthropic(AnthropicEmulator):
            async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
                payloads.append(await request.read())
                return await super().respond(request)

        class ListeningOpenAI(OpenAIEmulator):
            async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
                payloads.append(await request.read())
                return await super().respond(request)

        self.provider = provider
        self.api = ListeningAnthropic() if provider == "anthropic" else ListeningOpenAI()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Model]:
        """A client as a fresh process makes it."""
        model: Model
        if isinstance(self.api, OpenAIEmulator):
            model = openai.create(OpenAISettings(base_url=self.api.base_url, timeout=5))
        else:
            model = anthropic.create(
                AnthropicSettings(api_key="k", base_url=self.api.url, timeout=5)
            )
        try:
            yield model
        finally:
            await model.close()


def long_dialogue(model: str) -> ModelRequest:
    """Everything that a transcript can hold."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": sign("Hm.", model)}
    picture = ImagePart(file_key="k", media_type="image/png", size=len(PICTURE))
    document = DocumentPart(name="a.txt", text="<attached-file>\nwords\n</attached-file>")
    thinking = Message(
        role="assistant",
        parts=(
            RawPart(provider="anthropic", model=model, payload=json.dumps(thought)),
            TextPart(text="I look."),
            *calls(("c1", "memory", {"text": "é ‮ 🫖"})).parts,
        ),
    )
    return ask(
        user_message("hi 🫖", facts="<facts>\nNow: noon\n</facts>", parts=(picture, document)),
        thinking,
        results(("c1", "done")),
        says("There."),
        "and now?",
        model=model,
        images={"k": PICTURE},
    )


def read_back(request: ModelRequest) -> ModelRequest:
    """The same request, made of what a database holds."""
    messages = tuple(
        Message(role=one.role, parts=load_parts(dump_parts(one.parts))) for one in request.messages
    )
    assert not any(new is old for new, old in zip(messages, request.messages, strict=True))
    return replace(request, messages=messages, images=dict(request.images))


@pytest.mark.parametrize("provider", MODELS)
async def test_the_same_request_is_the_same_bytes(provider: str) -> None:
    """Whatever else the client sent before, and in whatever process."""
    wire = Wire(provider)
    request = long_dialogue(MODELS[provider])
    async with wire.api:
        async with wire.client() as first:
            await complete(first, request)
            await complete(first, ask("something else", model=MODELS[provider]))
            await complete(first, request)
        async with wire.client() as second:
            await complete(second, read_back(request))
    one, other, again, rebuilt = wire.payloads
    assert one == again == rebuilt
    assert one != other
    assert b"and now?" in one


@pytest.mark.parametrize("provider", MODELS)
async def test_an_old_request_is_the_same_bytes_after_its_dialect_was_forgotten(
    provider: str,
) -> None:
    """The shape that is stored with a call says everything, whatever is known today."""
    wire = Wire(provider)
    request = replace(long_dialogue(MODELS[provider]), max_output_tokens=8000)
    refusals = (
        "",
        "could not process image",
        "System role not supported",
        "Range of max_tokens should be [1, 2000]",
        "this model does not support tools",
    )
    async with wire.api, wire.client() as model:
        for said in refusals:
            if said:
                wire.api.plan(Fault(status=400, message=said))
            _, answer = await complete(model, request)
            shaped = replace(read_back(request), shape=answer.shape)
            assert RENDER[provider](restore_wishes(shaped)) == wire.payloads[-1]
    assert len(wire.payloads) == 9, "each refusal changed one request"
    assert len(set(wire.payloads)) == 5


@pytest.mark.parametrize("provider", MODELS)
async def test_every_part_of_a_request_reaches_the_wire(provider: str) -> None:
    """Nothing that the fingerprint counts is lost on the way, so other requests are other bytes."""
    wire = Wire(provider)
    request = long_dialogue(MODELS[provider])
    first, *rest = request.messages
    turned = replace(first, parts=(*first.parts[:-1], DocumentPart(name="a.txt", text="other")))
    call = next(part for part in rest[0].parts if isinstance(part, ToolCallPart))
    recalled = replace(rest[0], parts=(*rest[0].parts[:-1], replace(call, arguments="{}")))
    others = (
        replace(request, system="Be another."),
        replace(request, tools=request.tools[:1]),
        replace(request, max_output_tokens=801),
        replace(request, images={}),
        replace(request, response_schema='{"type":"object","properties":{"a":{"type":"null"}}}'),
        replace(request, sampling=Sampling(stop=("END",))),
        replace(request, tool_choice="memory"),
        replace(request, messages=(turned, *rest)),
        replace(request, messages=(first, recalled, *rest[1:])),
    )
    async with wire.api, wire.client() as model:
        for one in (request, *others):
            await complete(model, one)
    assert len(set(wire.payloads)) == 1 + len(others)
