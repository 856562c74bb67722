"""Pictures made by a model: once a call, within the budget, with a plain sentence if none comes."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from agent_core.agent.quotas.balance import DailyLimit
from agent_core.ids import CallId, TurnId
from agent_core.localization import use_language
from agent_core.state.conversations import usage
from agent_core.tools.contract import ToolResult
from agent_core.tools.pictures.image_tool import PURPOSE, ImageTool, PicturePrice
from agent_core.tools.pictures.names import name_file
from agent_core.tools.pictures.server import MOST_BYTES, PictureServer, find_media_type
from agent_core.transcript import UntrustedSource
from tests.agent_core.digest.conftest import NOW, Desk
from tests.emulators.image_server import KEY, MODEL, ImageServer
from tests.emulators.pictures import make_gif, make_png
from tests.fakes.quotas import quotas as make_quotas

PROMPT = "A red fox under a lighthouse"
CENTS = 40_000
"""Four cents, in micro-dollars."""


@pytest.fixture
async def server() -> AsyncIterator[ImageServer]:
    async with ImageServer() as server:
        yield server


def make_tool(
    desk: Desk,
    server: ImageServer,
    *,
    limit: int = 0,
    most: int = 10,
    key: str = KEY,
    model: str = MODEL,
    seconds: float = 20,
) -> ImageTool:
    picture_server = PictureServer(
        address=server.base_url, key=key, model=model, size="1024x1024", quality="", seconds=seconds
    )
    quotas = make_quotas(desk.database, person=DailyLimit(money=limit, tokens=0), now=lambda: NOW)
    price = PicturePrice(micro_dollars=CENTS, most_per_day=most)
    return ImageTool(desk.database, picture_server, price, quotas.reserve_price)


async def make(desk: Desk, tool: ImageTool, call: str = "c1") -> ToolResult:
    context = replace(desk.context, call_id=CallId(call))
    return await tool.run({"prompt": PROMPT}, context)


async def spent(desk: Desk) -> int | None:
    total = await desk.database.read(usage.total_of_turn, turn_id=TurnId(desk.context.turn_id))
    return total.micro_dollars


async def test_a_picture_goes_out_with_the_answer_and_is_paid_once(
    desk: Desk, server: ImageServer
) -> None:
    with use_language("de"):
        result = await make(desk, make_tool(desk, server))
    assert result.text == "A-red-fox-under-a-lighthouse.png goes out with your answer."
    assert [one.text for one in result.receipts] == [f"🖼 Bild von {MODEL}: 0,04 $, 1 von 10 heute"]
    [(name, media_type, picture)] = await desk.given()
    assert (name, media_type) == ("A-red-fox-under-a-lighthouse.png", "image/png")
    assert picture == server.picture
    assert server.asked == [
        {"model": MODEL, "prompt": PROMPT, "n": 1, "size": "1024x1024"},
    ]
    assert await spent(desk) == CENTS


@pytest.mark.parametrize("way", ["url", "data"])
async def test_a_picture_may_come_as_an_address(desk: Desk, server: ImageServer, way: str) -> None:
    server.way = "url" if way == "url" else "data"
    assert not (await make(desk, make_tool(desk, server))).is_error
    assert [picture for _, _, picture in await desk.given()] == [server.picture]


async def test_an_address_in_the_local_network_is_not_fetched(
    desk: Desk, server: ImageServer
) -> None:
    server.way = "elsewhere"
    result = await make(desk, make_tool(desk, server))
    assert result.is_error
    assert "the picture was made, but can't be fetched" in result.text
    assert await spent(desk) == CENTS


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("refused", "refuses this description; ask the person for another one"),
        ("crowded", "has too much to do; the person may ask again in a minute"),
        ("poor", "account at the server has no credit left"),
        ("broken", "fails now; the person may ask again later"),
        ("size", "refuses the request; the owner finds its words in the log"),
    ],
)
async def test_a_fault_is_one_plain_sentence_costs_nothing_and_is_not_tried_again(
    desk: Desk, server: ImageServer, fault: str, said: str
) -> None:
    server.faults.append(fault)
    result = await make(desk, make_tool(desk, server))
    assert result.is_error
    assert result.text.startswith("No picture: the ")
    assert said in result.text
    assert (len(server.asked), await desk.given(), await spent(desk)) == (1, [], 0)


async def test_a_wrong_key_and_a_wrong_model_are_matters_of_the_owner(
    desk: Desk, server: ImageServer
) -> None:
    refused = await make(desk, make_tool(desk, server, key="sk-wrong"))
    assert "does not accept the owner's key" in refused.text
    unknown = await make(desk, make_tool(desk, server, model="dall-e-3"), "c2")
    assert "does not know the model of `images.model`" in unknown.text


async def test_a_server_that_is_not_there_costs_nothing(desk: Desk, server: ImageServer) -> None:
    tool = make_tool(desk, server)
    await server.stop()
    assert "can't be reached now" in (await make(desk, tool)).text
    assert await spent(desk) == 0


async def test_a_slow_server_may_have_been_paid(desk: Desk, server: ImageServer) -> None:
    server.released = asyncio.Event()
    result = await make(desk, make_tool(desk, server, seconds=0.2))
    server.released.set()
    assert "took longer than 0.2 s; it may charge for it anyway" in result.text
    assert await spent(desk) == CENTS


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"data": []}',
        b'{"data": [null]}',
        b'{"data": [{}]}',
        b'{"data": [{"b64_json": 7}]}',
        b'{"data": [{"b64_json": "not base 64!"}]}',
        b'{"data": [{"b64_json": "R0lG"}]}',
        b'{"data": [{"url": "data:image/png"}]}',
        b'{"data": [{"url": "ftp://x/y"}]}',
        b"[" * 100_000,
    ],
)
async def test_an_answer_without_a_whole_picture_is_none(
    desk: Desk, server: ImageServer, body: bytes
) -> None:
    server.body = body
    result = await make(desk, make_tool(desk, server))
    assert result.is_error
    assert (await desk.given(), await spent(desk)) == ([], CENTS)


@pytest.mark.parametrize("way", ["b64_json", "url"])
async def test_a_giant_picture_is_not_taken(desk: Desk, server: ImageServer, way: str) -> None:
    server.way = "url" if way == "url" else "b64_json"
    server.picture = b"\x89PNG\r\n\x1a\n" + bytes(MOST_BYTES)
    assert "larger than 8 MB" in (await make(desk, make_tool(desk, server))).text
    assert await desk.given() == []


async def test_the_budget_of_the_day_is_asked_before_the_server(
    desk: Desk, server: ImageServer
) -> None:
    tool = make_tool(desk, server, limit=2 * CENTS)
    results = await asyncio.gather(*(make(desk, tool, f"c{number}") for number in range(3)))
    assert sorted(result.is_error for result in results) == [False, False, True]
    assert "today's budget has no room for it" in next(
        result.text for result in results if result.is_error
    )
    assert (len(server.asked), await spent(desk)) == (2, 2 * CENTS)


async def test_a_person_gets_so_many_a_day(desk: Desk, server: ImageServer) -> None:
    tool = make_tool(desk, server, most=2)
    results = await asyncio.gather(*(make(desk, tool, f"c{number}") for number in range(4)))
    assert sum(not result.is_error for result in results) == 2
    assert "No picture: 2 a day are the most here." in {result.text for result in results}
    made = await desk.database.read(
        usage.count_since, person_id=desk.context.person_id, purpose=PURPOSE, since=0
    )
    assert made == len(server.asked) == 2


async def test_a_failed_picture_leaves_its_place(desk: Desk, server: ImageServer) -> None:
    tool = make_tool(desk, server, most=1)
    server.faults.append("size")
    assert (await make(desk, tool, "c1")).is_error
    assert not (await make(desk, tool, "c2")).is_error
    assert (await make(desk, tool, "c3")).is_error


def test_money_is_a_question_only_after_words_of_others(desk: Desk, server: ImageServer) -> None:
    tool = make_tool(desk, server)
    assert tool.effect == "unsafe"
    assert tool.list_actions({"prompt": PROMPT}, desk.context) == ()
    read = replace(desk.context, sources=(UntrustedSource("web:example.com"),))
    [action] = tool.list_actions({"prompt": PROMPT}, read)
    assert (action.kind, action.target) == ("spend", f"$0.04, {PROMPT}")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (make_png(), "image/png"),
        (make_png()[:-4], ""),
        (make_gif(), "image/gif"),
        (b"\xff\xd8\xff" + bytes(9) + b"\xff\xd9", "image/jpeg"),
        (b"\xff\xd8\xff" + bytes(99), ""),
        (b"RIFF\x08\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\xff\0\0\0WEBPVP8 ", ""),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_only_whole_pictures_count(data: bytes, media_type: str) -> None:
    assert find_media_type(data) == media_type


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Ausgaben im Mai", "Ausgaben-im-Mai"),
        ("../../etc/passwd", "etc-passwd"),
        ("🎉", ""),
        ("word " * 40, "word-" * 11 + "word"),
        ("x" * 200, "x" * 60),
    ],
)
def test_a_file_is_named_after_whole_words(title: str, name: str) -> None:
    assert name_file(title) == name


def test_the_answer_of_the_emulator_is_what_the_sdk_reads(server: ImageServer) -> None:
    images = pytest.importorskip("openai.types.images_response")
    body = {"created": 1, "data": [{"b64_json": "eA=="}], "usage": None}
    assert images.ImagesResponse.model_validate(json.loads(json.dumps(body))).data[0].b64_json
