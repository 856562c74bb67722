"""The web in a conversation: a search, the page it finds, and addresses never reached."""

import base64
from collections.abc import AsyncIterator

import pytest

from tests.emulators.search_engines import SearchEngines
from tests.emulators.sources import Sources
from tests.emulators.telegram_cast import ANNA, SUPERGROUP
from tests.gateway.media.documents import make_pdf
from tests.journeys.stage import Stage, call, calls, results

PAGE = "<html><head><title>Boilers</title></head><body><p>The key is with Ada.</p></body></html>"


@pytest.fixture
async def web() -> AsyncIterator[Sources]:
    async with Sources() as sources:
        yield sources


@pytest.fixture
async def engines() -> AsyncIterator[SearchEngines]:
    async with SearchEngines() as found:
        yield found


def searching(engines: SearchEngines, **more: str) -> dict[str, str]:
    return {
        "TALARIA_TOOLS__SEARCH": "searxng",
        "TALARIA_TOOLS__SEARXNG_URL": engines.url,
        **more,
    }


@pytest.mark.parametrize("place", [ANNA, SUPERGROUP])
async def test_a_page_found_by_search_is_read(
    stage: Stage, web: Sources, engines: SearchEngines, place: int
) -> None:
    url = web.serve("/boilers", PAGE).replace("127.0.0.1", "localhost")
    engines.pages = (("Boilers", url, "All about boilers"),)
    stage.plan(
        calls(call("web_search", query="boiler key")),
        calls(call("web_fetch", url=url)),
        "Ada has it.",
    )
    settings = searching(engines, TALARIA_DIGEST__ALLOW_HOSTS="localhost")
    async with stage.open(**settings) as harness:
        answer = await harness.ask(ANNA, "@talaria_bot who has the key?", chat=place)
    assert "Ada has it." in answer
    _, searched, fetched = stage.turns
    assert f'- {url} "Boilers": "All about boilers"' in results(searched)[0]
    assert "The key is with Ada." in results(fetched)[-1]
    assert [query["q"] for _, query in engines.queries] == ["boiler key"]


async def test_a_pdf_file_reaches_the_model_itself_and_stays_in_the_conversation(
    stage: Stage, web: Sources
) -> None:
    pdf = make_pdf("Boiler plan", "Pump and valve")
    url = web.serve("/plan", pdf, "application/pdf")
    stage.plan(calls(call("web_fetch", url=url)), "A pump and a valve.", "Two pages.")
    async with stage.open(TALARIA_DIGEST__ALLOW_HOSTS="127.0.0.1") as harness:
        await harness.ask(ANNA, f"what is in {url}?")
        await harness.ask(ANNA, "how many pages?")
    for turn in stage.turns[-2:]:
        (shown,) = [
            part
            for message in turn["messages"]
            for block in message["content"]
            if block["type"] == "tool_result"
            for part in block["content"]
            if part["type"] == "document"
        ]
        assert base64.b64decode(shown["source"]["data"]) == pdf


async def test_private_addresses_need_the_owners_permission(
    stage: Stage, web: Sources, engines: SearchEngines
) -> None:
    url = web.serve("/boilers", PAGE)
    stage.plan(calls(call("web_fetch", url=url)), "I can't read it.")
    async with stage.open(**searching(engines)) as harness:
        await harness.ask(ANNA, f"read {url}")
    assert results(stage.turns[-1]) == [
        "Not read: 127.0.0.1 is not a public address. Try another address."
    ]
    assert web.asked == []


async def test_without_an_engine_there_is_no_search(stage: Stage) -> None:
    async with stage.open(TALARIA_TOOLS__SEARCH="") as harness:
        await harness.ask(ANNA, "hello")
    names = {tool["name"] for tool in stage.turns[-1]["tools"]}
    assert "web_fetch" in names
    assert "web_search" not in names


async def test_a_search_after_an_untrusted_page_needs_no_approval(
    stage: Stage, engines: SearchEngines
) -> None:
    engines.pages = (("Boilers", "https://boilers.example/", "All about boilers"),)
    stage.plan(
        calls(call("web_search", query="boiler")),
        calls(call("web_search", query="boiler key")),
        "Nobody has it.",
    )
    async with stage.open(**searching(engines)) as harness:
        assert await harness.ask(ANNA, "who has the key?") == "Nobody has it."
    assert [query["q"] for _, query in engines.queries] == ["boiler", "boiler key"]
