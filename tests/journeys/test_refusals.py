"""A part that the model's server refuses never ends a chat, over either API."""

import pytest

from tests.emulators.dialects import NEXT, DialectServer
from tests.emulators.streaming import Json
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Stage

POISON = "zyzzyva"


def refuse_plainly(body: Json) -> str:
    return "Invalid request." if POISON in str(body) else ""


def filter_content(body: Json) -> str:
    said = "The response was filtered due to Azure OpenAI's content management policy."
    return said if POISON in str(body) else ""


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_a_refused_message_never_ends_a_chat(stage: Stage, api: str) -> None:
    async with (
        DialectServer() as server,
        stage.open(
            TALARIA_MODEL__PROVIDER=api,
            OPENAI_BASE_URL=f"{server.url}/v1",
            ANTHROPIC_BASE_URL=server.url,
        ) as harness,
    ):
        for rule, said in (
            (refuse_plainly, "I answered without reading it"),
            (filter_content, "declined"),
        ):
            await harness.ask(ANNA, "/new")
            server.rule = rule
            assert await harness.ask(ANNA, "hello") == NEXT
            assert said in await harness.ask(ANNA, f"say {POISON}")
            assert (await harness.ask(ANNA, "and now?")).startswith(NEXT)
            assert await harness.ask(ANNA, "and then?") == NEXT
            assert "hello" in str(server.requests[-1]), "earlier messages stay"
