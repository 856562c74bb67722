"""The API with the clients that people have, and with a program that checks such APIs."""

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.emulators.pictures import make_png
from tests.fakes.model import say
from tests.integration.interfaces.api_setup import Setup, chat_of

PNG = make_png()
ADDRESS = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
SHAPES: dict[str, object] = {"chat/completions": {"url": ADDRESS}, "responses": ADDRESS}


def ask_about(path: str, picture: object, *, count: int = 1) -> dict[str, object]:
    """A request with pictures, as OpenAI's clients write it to each of the two addresses."""
    if path == "responses":
        parts = [{"type": "input_image", "image_url": picture}] * count
        words = {"type": "input_text", "text": "What is on it?"}
        return {"model": "talaria", "input": [{"role": "user", "content": [words, *parts]}]}
    parts = [{"type": "image_url", "image_url": picture}] * count
    words = {"type": "text", "text": "What is on it?"}
    return {"model": "talaria", "messages": [{"role": "user", "content": [words, *parts]}]}


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
async def test_the_model_sees_a_picture_of_a_request(setup: Setup, path: str) -> None:
    setup.model.plays = [say("A dot.")]
    asked = ask_about(path, SHAPES[path])
    status, _ = await setup.post(path, setup.olga, asked, **{"Idempotency-Key": "one"})
    assert status == 200
    (request,) = setup.model.requests
    assert list(request.images.values()) == [PNG]
    assert (await setup.post(path, setup.olga, asked, **{"Idempotency-Key": "one"}))[0] == 200
    assert len(setup.model.requests) == 1


async def test_a_picture_needs_no_words(setup: Setup) -> None:
    setup.model.plays = [say("A dot.")]
    part = {"type": "image_url", "image_url": {"url": ADDRESS}}
    asked = {"model": "talaria", "messages": [{"role": "user", "content": [part]}]}
    assert (await setup.post("chat/completions", setup.olga, asked))[0] == 200
    assert list(setup.model.requests[0].images.values()) == [PNG]


@pytest.mark.parametrize(
    ("picture", "count", "sentence"),
    [
        ({"url": "https://example.org/a.png"}, 1, "A picture has to be a data: address"),
        ({"url": "data:image/png;base64,####"}, 1, "A picture has to be a data: address"),
        ({"url": "data:image/png;base64,aGVsbG8="}, 1, "A picture has to be a data: address"),
        ({"url": "data:text/plain;base64,aGVsbG8="}, 1, "A picture has to be a data: address"),
        (None, 1, "A picture has to be a data: address"),
        ({"url": ADDRESS}, 11, "A request can hold at most 10 pictures."),
    ],
    ids=["elsewhere", "no base64", "no picture", "text", "nothing", "many"],
)
async def test_a_picture_that_can_not_be_read_is_one_clear_error(
    setup: Setup, picture: object, count: int, sentence: str
) -> None:
    asked = ask_about("chat/completions", picture, count=count)
    status, answer = await setup.post("chat/completions", setup.olga, asked)
    assert (status, answer["error"]["code"]) == (400, "unsupported_content")
    assert answer["error"]["message"].startswith(sentence)
    assert setup.model.requests == []


async def check(setup: Setup, shape: str) -> dict[str, str]:
    """What `llm-comply` finds: the outcome of each of its tests."""
    checker = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("llm-comply"),
        *("--json", "-u", setup.url, "-m", "talaria", "--format", shape),
        env={**os.environ, "OPENRESPONSES_API_KEY": setup.olga},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await checker.communicate()
    results: list[dict[str, Any]] = json.loads(out)["results"]
    return {one["id"].removeprefix("chat-"): one["status"] for one in results}


@pytest.mark.thorough
async def test_the_api_complies_with_open_responses(setup: Setup) -> None:
    """Its tools would run in the client, and Talaria's run in the gateway."""
    setup.model.plays = [say("A bluebird ", "sings.") for _ in range(20)]
    found = await check(setup, "open-responses")
    assert {name for name, status in found.items() if status == "failed"} == {"tool-calling"}
    assert {name for name, status in found.items() if status == "passed"} >= {
        *("basic-response", "system-prompt", "multi-turn", "streaming-response"),
        *("streaming-usage", "image-input", "assistant-phase", "error-handling"),
    }


@pytest.mark.thorough
async def test_the_api_complies_with_openais_chat(setup: Setup) -> None:
    setup.model.plays = [say("A bluebird ", "sings.") for _ in range(20)]
    found = await check(setup, "openai-chat")
    assert {name for name, status in found.items() if status == "failed"} == {"tool-calling"}
    assert {name for name, status in found.items() if status == "passed"} == {
        *("basic-response", "system-prompt", "multi-turn", "streaming-response"),
        *("streaming-usage", "image-input", "error-handling"),
    }


@pytest.mark.filterwarnings("ignore")  # its own, while it is imported and when it ends
async def test_litellm_gets_answers_pieces_and_errors(setup: Setup) -> None:
    """It takes 170 MB with its dependencies, so it is tested where it is installed."""
    litellm = pytest.importorskip("litellm")
    setup.model.plays = [say("Bluebirds ", "sing.") for _ in range(3)]
    place = {"model": "openai/talaria", "api_base": setup.url}
    asked: Any = chat_of("Who sings?")["messages"]
    whole = await litellm.acompletion(**place, api_key=setup.olga, messages=asked)
    assert whole.choices[0].message.content == "Bluebirds sing."
    pieces = await litellm.acompletion(**place, api_key=setup.olga, messages=asked, stream=True)
    grown = [piece.choices[0].delta.content or "" async for piece in pieces]
    assert "".join(grown) == "Bluebirds sing."
    response = await litellm.aresponses(**place, api_key=setup.olga, input="Who sings?")
    assert response.output[0].content[0].text == "Bluebirds sing."
    with pytest.raises(litellm.AuthenticationError, match="The token is missing or wrong"):
        await litellm.acompletion(**place, api_key="wrong", messages=asked)
