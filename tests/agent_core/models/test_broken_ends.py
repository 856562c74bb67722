"""Answers whose ends are missing, and bodies that are no answer, with the real SDKs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent_core.errors import ModelDenied, ModelError, ModelInterrupted, ModelOverflow, ModelUnknown
from agent_core.models import anthropic, openai
from agent_core.models.arguments import join_arguments
from agent_core.models.contract import Model
from agent_core.models.settings import AnthropicSettings, OpenAISettings
from tests.agent_core.models.calls import ask, complete
from tests.emulators.dialects import (
    DialectServer,
    Wire,
    chat,
    messages,
    text_block,
    tool,
    use_block,
)

WORDS = {
    "openai": chat("It is tea.", finish=None, done=False),
    "anthropic": messages(*text_block(0, "It is tea."), stop=None, end=False),
}
CALL = {
    "openai": chat(tool("recall", '{"query": "tea"}'), finish=None, done=False),
    "anthropic": messages(*use_block(0, "recall", '{"query": "tea"}'), stop=None, end=False),
}
HALF = {
    "openai": chat("I look.", tool("recall", '{"query": "t'), finish=None, done=False),
    "anthropic": messages(
        *text_block(0, "I look."),
        *use_block(1, "recall", '{"query": "t', stops=False),
        stop=None,
        end=False,
    ),
}
PAGE = "<!DOCTYPE html>\n<html><body>Sign in</body></html>"
CREDITS = '{"error": {"message": "Insufficient credits", "code": 402}}'
APIS = ("openai", "anthropic")


@asynccontextmanager
async def connected(api: str, server: DialectServer) -> AsyncIterator[Model]:
    if api == "openai":
        model: Model = openai.create(OpenAISettings(base_url=f"{server.url}/v1", timeout=5))
    else:
        model = anthropic.create(AnthropicSettings(base_url=server.url, api_key="k", timeout=5))
    yield model
    await model.close()


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("row", [WORDS, CALL], ids=["words", "call"])
async def test_the_second_identical_break_ends_the_answer(api: str, row: dict[str, Wire]) -> None:
    async with DialectServer() as server, connected(api, server) as model:
        server.script.extend([row[api]] * 2)
        with pytest.raises(ModelInterrupted):
            await complete(model, ask("tea?"))
        _, answer = await complete(model, ask("tea?"))
    assert (answer.stop, answer.message.text, len(answer.message.calls)) == (
        ("unknown", "It is tea.", 0) if row is WORDS else ("tools", "", 1)
    )


async def test_a_server_that_never_says_that_an_answer_has_ended_is_paid_once_from_then_on() -> (
    None
):
    async with DialectServer() as server, connected("openai", server) as model:
        server.script.extend([WORDS["openai"]] * 3)
        with pytest.raises(ModelInterrupted):
            await complete(model, ask("tea?"))
        await complete(model, ask("tea?"))
        _, answer = await complete(model, ask("coffee?"))
        assert (answer.stop, answer.message.text) == ("end", "It is tea.")
        server.script.append(HALF["openai"])
        with pytest.raises(ModelInterrupted):
            await complete(model, ask("milk?"))
        server.script.extend([chat("Told."), WORDS["openai"]])
        await complete(model, ask("sugar?"))
        with pytest.raises(ModelInterrupted):
            await complete(model, ask("water?"))


@pytest.mark.parametrize("api", APIS)
async def test_a_half_call_is_never_kept(api: str) -> None:
    async with DialectServer() as server, connected(api, server) as model:
        server.script.extend([HALF[api]] * 3)
        for _ in range(3):
            with pytest.raises(ModelInterrupted):
                await complete(model, ask("tea?"))


@pytest.mark.parametrize("api", APIS)
async def test_breaks_of_different_questions_are_not_the_same(api: str) -> None:
    async with DialectServer() as server, connected(api, server) as model:
        server.script.extend([WORDS[api]] * 2)
        for question in ("tea?", "coffee?"):
            with pytest.raises(ModelInterrupted):
                await complete(model, ask(question))


@pytest.mark.parametrize(
    ("api", "body", "media_type", "expected", "said"),
    [
        ("openai", PAGE, "text/html", ModelUnknown, "<!DOCTYPE html>"),
        ("anthropic", PAGE, "text/html", ModelUnknown, "<!DOCTYPE html>"),
        ("openai", CREDITS, "application/json", ModelDenied, "Insufficient credits"),
        ("openai", f"[{CREDITS}]", "application/json", ModelDenied, "Insufficient credits"),
        ("openai", f"data: {CREDITS}\n\n", "text/event-stream", ModelDenied, "Insufficient"),
        (
            "openai",
            'event: error\ndata: {"message": "no credits", "code": "insufficient_quota"}\n\n',
            "text/event-stream",
            ModelDenied,
            "no credits",
        ),
        (
            "openai",
            '{"object": "error", "message": "too long", "code": "context_length_exceeded"}',
            "application/json",
            ModelOverflow,
            "too long",
        ),
        ("openai", '{"error": "Model is loading"}', "application/json", ModelError, "is loading"),
        ("openai", '{"detail": "Not now"}', "application/json", ModelError, "Not now"),
        (
            "anthropic",
            '{"type": "error", "error": {"type": "billing_error", "message": "No credits"}}',
            "application/json",
            ModelDenied,
            "No credits",
        ),
        (
            "anthropic",
            'data: {"type": "error", "error": {"type": "billing_error", "message": "None"}}\n\n',
            "text/event-stream",
            ModelDenied,
            "None",
        ),
    ],
)
async def test_a_body_that_is_no_answer_is_an_error_in_its_words(
    api: str, body: str, media_type: str, expected: type[ModelError], said: str
) -> None:
    async with DialectServer() as server, connected(api, server) as model:
        server.script.append(Wire(body=body, media_type=media_type))
        with pytest.raises(expected, match=said):
            await complete(model, ask("tea?"))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], "{}"),
        (["null"], "{}"),
        (['{"a":', '{"a":1}}'], '{"a":{"a":1}}'),
        (["{}", '{"a":1}'], '{"a":1}'),
        (["{}", '{"a":', "1}"], '{"a":1}'),
        (['{"a', '{"a":1}'], '{"a":1}'),
        (['{"a":1}', '{"a":1}'], '{"a":1}'),
        (['"{\\"a\\":', '1}"'], '{"a":1}'),
        (['{"a":'], '{"a":'),
        (['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}'),
    ],
)
def test_arguments_are_joined_in_the_only_way_that_gives_an_object(
    pieces: list[str], expected: str
) -> None:
    assert join_arguments(pieces) == expected
