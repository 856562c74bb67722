"""The API with OpenAI's own client: whose a request is, what it may do, and what crashes leave."""

import asyncio
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.people import delivery_targets, people
from gateway.home import MEMORIES
from gateway.people.owner_notices import find_direct_chat
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.interfaces.api_setup import (
    OLGA,
    ZEBRANA,
    Setup,
    chat_of,
    find_named,
    make_token,
    read,
)
from tests.integration.processes import talaria_beside
from tests.integration.served import served
from tests.patience import PATIENCE
from tests.tables import await_each

openai = pytest.importorskip("openai")


NAMED = {"Talaria-Conversation": "one"}
"""The header of a request in a conversation that Talaria keeps."""


def words_of(model: FakeModel) -> str:
    """Everything that the model has read."""
    return "\n".join(repr(request) for request in model.requests)


async def test_openais_client_gets_a_completion(setup: Setup) -> None:
    setup.model.plays = [say("Bluebirds ", "sing.")]
    client = setup.connect(setup.olga)
    assert [one.id async for one in client.models.list()] == ["talaria"]
    assert (await client.models.retrieve("talaria")).owned_by == "talaria"
    done = await client.chat.completions.create(
        model="talaria",
        messages=[
            {"role": "system", "content": "Be a pirate."},
            {"role": "user", "content": "an old question"},
            {"role": "assistant", "content": "an old answer"},
            {"role": "user", "content": "Who sings?"},
        ],
    )
    assert done.choices[0].message.content == "Bluebirds sing."
    assert done.choices[0].finish_reason == "stop"
    assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (10, 1)
    assert "Who sings?" in words_of(setup.model)
    assert "Be a pirate." in words_of(setup.model)
    assert "assistant: an old answer" in words_of(setup.model)


async def test_the_conversation_is_remembered_and_is_not_the_persons_direct_one(
    setup: Setup,
) -> None:
    setup.model.plays = [say("one"), say("two"), say("three")]
    client = setup.connect(setup.zebrana)
    for number, name in enumerate(("one", "one", "other"), 1):
        await client.chat.completions.create(
            **chat_of(f"canary {number}"), extra_headers={"Talaria-Conversation": name}
        )
    first, second, other = (repr(request.messages) for request in setup.model.requests)
    assert "bluefishsaid" not in first
    assert "canary 1" in second
    assert "canary" in other
    assert "canary 1" not in other


async def test_a_completion_is_streamed_while_the_model_writes(setup: Setup) -> None:
    go_on = asyncio.Event()
    start = "This sentence is long enough to be shown while the answer is still being written. "
    setup.model.plays = [[*say(start)[:1], go_on.wait, *say(start, "The end.")[1:]]]
    stream = await setup.connect(setup.olga).chat.completions.create(
        **chat_of("hello"), stream=True, stream_options={"include_usage": True}
    )
    pieces, total = [], 0
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            pieces.append(chunk.choices[0].delta.content)
            go_on.set()
        total = chunk.usage.total_tokens if chunk.usage else total
    assert "".join(pieces) == f"{start}The end."
    assert len(pieces) > 1
    assert total == 11


async def test_openais_client_gets_responses(setup: Setup) -> None:
    setup.model.plays = [say("First."), say("Second."), say("Third.")]
    client = setup.connect(setup.olga)
    first = await client.responses.create(model="talaria", input="one")
    assert (first.status, first.output_text, first.usage.total_tokens) == (
        "completed",
        "First.",
        11,
    )
    parts = [{"type": "input_text", "text": "two"}]
    second = await client.responses.create(
        model="talaria",
        input=[{"role": "user", "content": parts}],
        previous_response_id=first.id,
    )
    assert second.output_text == "Second."
    async with client.responses.stream(model="talaria", input="three") as stream:
        kinds = [event.type async for event in stream]
        assert (await stream.get_final_response()).output_text == "Third."
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


async def test_a_key_reads_its_own_person_alone(setup: Setup) -> None:
    for key, sees in ((setup.olga, False), (setup.zebrana, True)):
        setup.model.requests.clear()
        setup.model.plays = [ask(call("recall", "{}")), say("That was it.")]
        await setup.connect(key).chat.completions.create(**chat_of("what was it?"))
        assert ("bluefishmemory" in words_of(setup.model)) is sees
        assert ("bluefishsaid" in words_of(setup.model)) is sees


async def test_a_repeated_request_is_one_turn(setup: Setup) -> None:
    setup.model.plays = [say("Once."), say("Somebody else's.")]
    same = {"Idempotency-Key": "k-1"}
    answers = await asyncio.gather(
        *(setup.post("chat/completions", setup.olga, chat_of("go"), **same) for _ in range(5))
    )
    assert {one[1]["choices"][0]["message"]["content"] for one in answers} == {"Once."}
    assert len({one[1]["id"] for one in answers}) == 1
    status, other = await setup.post("chat/completions", setup.olga, chat_of("stop"), **same)
    assert (status, other["error"]["code"]) == (422, "idempotency_key_reused")
    status, other = await setup.post("chat/completions", setup.zebrana, chat_of("go"), **same)
    assert other["choices"][0]["message"]["content"] == "Somebody else's."


async def test_requests_at_once_get_an_answer_each(setup: Setup) -> None:
    setup.model.plays = [say(f"answer {number}") for number in range(6)]
    answers = await asyncio.gather(
        *(setup.post("chat/completions", setup.olga, chat_of(f"q{n}")) for n in range(6))
    )
    texts = {one[1]["choices"][0]["message"]["content"] for one in answers}
    assert texts == {f"answer {number}" for number in range(6)}


async def test_one_person_can_not_take_all_connections(setup: Setup) -> None:
    go_on = asyncio.Event()
    setup.model.plays = [[go_on.wait, *say("done")], *(say("done") for _ in range(15))]
    setup.model.plays.insert(1, say("another person's"))
    asking = [
        asyncio.create_task(
            setup.post("chat/completions", setup.olga, chat_of(f"q{number}"), **NAMED)
        )
        for number in range(24)
    ]
    async with asyncio.timeout(PATIENCE):
        while sum(one.done() for one in asking) < 8 or not setup.model.requests:
            await asyncio.sleep(0.005)
    refused = [one.result() for one in asking if one.done()]
    assert {(one[0], one[1]["error"]["code"]) for one in refused} == {(429, "too_many_waiting")}
    assert (await setup.post("chat/completions", setup.zebrana, chat_of("hi")))[0] == 200
    go_on.set()
    statuses = sorted([(await one)[0] for one in asking])
    assert statuses == [200] * 16 + [429] * 8


async def test_a_request_survives_a_client_that_leaves_and_a_restart(home: Path) -> None:
    began = asyncio.Event()

    async def hang() -> None:
        began.set()
        await asyncio.Event().wait()

    model = FakeModel([hang])
    config = home / "config.toml"
    config.write_text(f"{config.read_text()}[turns]\ndrain_seconds = 0\n")
    async with served(home, adapters={"fake": FakeChat()}, model=model) as running:
        key = await make_token(home, "olga")
        setup = Setup(running, FakeChat(), model, home, key, "")
        asking = asyncio.create_task(
            setup.post("chat/completions", key, chat_of("go"), **{"Idempotency-Key": "k"})
        )
        await began.wait()
        waiting = asyncio.create_task(
            setup.post("chat/completions", key, chat_of("go"), **{"Idempotency-Key": "k"})
        )
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    status, answer = await waiting
    assert (status, answer["error"]["code"]) == (503, "stopping")
    model = FakeModel(say("After the restart."))
    async with served(home, adapters={"fake": FakeChat()}, model=model) as running:
        setup = Setup(running, FakeChat(), model, home, key, "")
        status, answer = await setup.post(
            "chat/completions", key, chat_of("go"), **{"Idempotency-Key": "k"}
        )
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "After the restart.")
    assert len(model.requests) == 1


async def test_questions_and_approvals_stay_with_the_person(setup: Setup) -> None:
    setup.model.plays = [
        ask(call("ask", '{"question": "Which colour?", "options": ["Red", "Blue"]}')),
        say("Red it is."),
    ]
    asking = asyncio.create_task(setup.post("chat/completions", setup.zebrana, chat_of("paint")))

    def find_asked() -> list[str]:
        return [one.chat_id for one in setup.chat.shown if "Which colour?" in one.text]

    async with asyncio.timeout(PATIENCE):
        while not find_asked():
            await asyncio.sleep(0.005)
    assert find_asked() == [ZEBRANA]
    setup.model.plays.append(say("A turn of its own."))
    await setup.chat.press("Red", user=ZEBRANA, chat=ZEBRANA, name="Zebrana")
    status, answer = await asking
    assert status == 200
    assert answer["choices"][0]["message"]["content"].endswith("Red it is.")


async def test_what_a_program_says_changes_nothing_without_the_person(setup: Setup) -> None:
    green = '{"action": "add", "target": "user", "text": "Likes green tea"}'
    setup.model.plays = [ask(call("memory", green)), say("I proposed it.")]
    client = setup.connect(setup.olga)
    await client.chat.completions.create(**chat_of("Likes green tea. Remember that."))
    file = setup.home / MEMORIES / "people" / "olga" / "USER.md"
    async with asyncio.timeout(PATIENCE):
        while not any("green tea" in one.text for one in setup.chat.shown):
            await asyncio.sleep(0.005)
    asked = next(one for one in setup.chat.shown if "green tea" in one.text)
    assert (asked.chat_id, "your program `laptop api`" in asked.text) == (OLGA, True)
    assert not file.exists() or "green tea" not in file.read_text()
    await setup.chat.press("Accept", user=OLGA, chat=OLGA, name="Olga")
    async with asyncio.timeout(PATIENCE):
        while not file.exists() or "green tea" not in file.read_text():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("words", ["/erase me", "/whoami", "/claim abc"])
async def test_a_program_gives_no_commands(setup: Setup, words: str) -> None:
    setup.model.plays = [say("Only words.")]
    done = await setup.connect(setup.olga).chat.completions.create(**chat_of(words))
    assert done.choices[0].message.content == "Only words."


async def test_notices_and_reminders_never_go_to_a_program(setup: Setup) -> None:
    setup.model.plays = [say("Yes.")]
    await setup.connect(setup.olga).chat.completions.create(**chat_of("hello"))

    def look(connection: Connection) -> str:
        newest = turns.find(connection, turn_id=turns.find_newest(connection))
        assert newest
        return newest.place.chat.platform

    gateway = setup.served.gateway
    assert await gateway.database.read(look) == "api"

    def find(connection: Connection) -> tuple[Any, Any]:
        olga = people.find_by_account(connection, platform="fake", user_id=OLGA)
        assert olga
        place = find_direct_chat(connection, olga, gateway.platforms.adapters)
        return place, delivery_targets.list_seen(connection, person_id=olga.id)

    place, seen = await gateway.database.read(find)
    assert place.platform == "fake"
    assert {chat.platform for chat in seen} == {"fake"}


async def test_only_the_right_key_opens_the_api(setup: Setup) -> None:
    for_mcp = await make_token(setup.home, "olga", "mcp")
    for key in ("", "talaria_wrong", for_mcp):
        status, answer = await setup.post("chat/completions", key, chat_of("hi"))
        assert (status, answer["error"]["code"]) == (401, "invalid_api_key")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert (await setup.post("../mcp", setup.olga, ping))[0] == 401
    evil = {"Origin": "https://evil.example"}
    async with aiohttp.ClientSession() as session:
        url = f"{setup.url}/models"
        head = {"Authorization": f"Bearer {setup.olga}"}
        async with session.get(url, headers=head | evil) as answer:
            assert answer.status == 403
        async with session.get(url, headers=head) as answer:
            assert answer.status == 200
            assert "Access-Control-Allow-Origin" not in answer.headers
    await talaria_beside(setup.home, "tokens", "revoke", "1")
    assert (await setup.post("chat/completions", setup.olga, chat_of("hi")))[0] == 401


async def test_the_printed_token_is_the_owners(setup: Setup) -> None:
    setup.model.plays = [say("Hello, owner.")]
    done = await setup.connect(setup.served.token).chat.completions.create(**chat_of("hi"))
    assert done.choices[0].message.content == "Hello, owner."


async def test_a_key_ends_with_the_access_of_its_person(home: Path) -> None:
    (home / "config.toml").write_text(f'[access]\nallow = ["fake:{ZEBRANA}"]\n')
    model = FakeModel(say("Still here."))
    async with served(home, adapters={"fake": FakeChat()}, model=model) as running:
        olga, zebrana = await make_token(home, "olga"), await make_token(home, "zebrana")
        setup = Setup(running, FakeChat(), model, home, olga, zebrana)
        assert (await setup.post("chat/completions", olga, chat_of("hi")))[0] == 401
        assert (await setup.post("chat/completions", zebrana, chat_of("hi")))[0] == 200


async def test_what_is_wrong_is_one_clear_error(setup: Setup) -> None:
    rows: list[tuple[str, object, int, str]] = [
        ("chat/completions", b"{", 400, "invalid_request"),
        ("chat/completions", b'{"a": ' + b"[" * 100_000, 400, "bad_request"),
        ("chat/completions", b'{"model": "talaria", "messages": []}', 400, "invalid_request"),
        (
            "chat/completions",
            b'{"model": "talaria", "messages": "\\ud800"}',
            400,
            "invalid_request",
        ),
        (
            "chat/completions",
            {"model": "gpt", "messages": [{"content": "a"}]},
            404,
            "model_not_found",
        ),
        ("chat/completions", chat_of(" "), 400, "no_text"),
        ("chat/completions", chat_of("a" * 100_001), 400, "too_long"),
        (
            "chat/completions",
            chat_of("a") | {"tools": [{"type": "x"}]},
            400,
            "unsupported_parameter",
        ),
        ("chat/completions", chat_of("a") | {"n": 2}, 400, "invalid_request"),
        (
            "chat/completions",
            {"model": "talaria", "messages": [{"content": [{"type": "image_url"}]}]},
            400,
            "unsupported_content",
        ),
        ("chat/completions", b"a" * 4_200_000, 413, "request_entity_too_large"),
        ("responses", {"model": "talaria", "input": []}, 400, "invalid_request"),
        (
            "responses",
            {"model": "talaria", "input": "a", "background": True},
            400,
            "invalid_request",
        ),
        ("nothing", {}, 404, "not_found"),
    ]

    async def check(row: tuple[str, object, int, str]) -> None:
        path, body, *expected = row
        status, answer = await setup.post(path, setup.olga, body)
        assert [status, answer["error"]["code"]] == expected
        assert answer["error"]["message"]
        assert not setup.model.requests

    await await_each(rows, check)


async def test_half_an_emoji_is_a_question_like_any_other(setup: Setup) -> None:
    setup.model.plays = [say("Sunny."), say("Rainy."), say("Foggy.")]
    parts = [{"content": [{"type": "text", "text": "one \ud83d"}]}]
    for path, body in (
        ("chat/completions", {"model": "talaria", "messages": parts}),
        ("chat/completions", chat_of("two \ud83d")),
        ("responses", {"model": "talaria", "input": "three \ud83d"}),
    ):
        status, answer = await setup.post(path, setup.olga, body)
        assert status == 200, answer
    read_words = words_of(setup.model)
    assert all(f"{word} \ufffd" in read_words for word in ("one", "two", "three"))


async def test_a_key_makes_a_limited_number_of_requests(setup: Setup) -> None:
    found = [(await setup.post("responses", setup.olga, {}))[0] for _ in range(121)]
    assert found == [400] * 120 + [429]
    assert (await setup.post("responses", setup.zebrana, {}))[0] == 400


@pytest.mark.parametrize("path", ["/api/docs", "/api/docs.js", "/api/openapi.json"])
async def test_the_description_needs_a_token_or_a_login(setup: Setup, path: str) -> None:
    url = setup.served.address.with_path(path)
    for_mcp = await make_token(setup.home, "olga", "mcp")
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:

        async def ask(key: str = "") -> int:
            head = {"Authorization": f"Bearer {key}"} if key else {}
            async with session.get(url, headers=head) as answer:
                return answer.status

        assert [await ask(), await ask(for_mcp), await ask(setup.zebrana)] == [401, 401, 200]
        assert await ask(setup.served.token) == 200
        async with session.get(setup.served.page):
            assert await ask() == 200
        async with session.get(url, headers={"Host": "evil.example"}) as answer:
            assert answer.status == 403


async def test_other_tokens_are_told_what_an_address_needs(setup: Setup) -> None:
    told = [await read(setup, key, "/metrics") for key in (setup.zebrana, "wrong")]
    assert [one[0] for one in told] == [403, 401]
    assert all("needs the token that `talaria run` prints" in text for _, text, _ in told)
    status, text, _ = await read(setup, "wrong", "/api/openapi.json")
    assert (status, json.loads(text)["error"]["code"]) == (401, "invalid_api_key")
    status, text, _ = await read(setup, setup.olga, "/api/no-such-thing")
    assert (status, "There is nothing at this address" in text) == (404, True)


async def test_what_is_wrong_is_said_in_plain_words(setup: Setup) -> None:
    rows: list[tuple[object, str]] = [
        (b"{", "The body is not valid JSON."),
        ({"model": "talaria"}, "messages is missing."),
        ({"model": "talaria", "messages": []}, "messages needs 1 or more entries."),
        (chat_of("a") | {"messages": "hi"}, "messages must be a list."),
        (chat_of("a") | {"stream": "perhaps"}, "stream must be true or false."),
        ([], "The body must be an object."),
    ]

    async def check(row: tuple[object, str]) -> None:
        status, answer = await setup.post("chat/completions", setup.olga, row[0])
        assert (status, answer["error"]["message"]) == (400, row[1])

    await await_each(rows, check)


async def test_the_description_is_openapi_and_names_no_other_host(setup: Setup) -> None:
    url = setup.served.address.with_path("/api/openapi.json")
    head = {"Authorization": f"Bearer {setup.olga}"}
    async with aiohttp.ClientSession(headers=head) as session:
        async with session.get(url) as answer:
            spec = await answer.json()
        async with session.get(url.with_path("/api/docs")) as answer:
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert spec["openapi"].startswith("3.1")
    assert {"/v1/chat/completions", "/v1/responses", "/v1/models"} <= set(spec["paths"])
    assert "http://" not in json.dumps(spec)
    assert spec["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


async def test_the_printed_token_says_who_has_to_speak_first(tmp_path: Path) -> None:
    async with served(tmp_path / "home", model=FakeModel()) as running:
        setup = Setup(running, FakeChat(), FakeModel(), tmp_path, "", "")
        status, answer = await setup.post("chat/completions", running.token, chat_of("hi"))
    assert (status, answer["error"]["code"]) == (403, "no_owner")


async def test_no_resource_shows_anything_of_another_person(setup: Setup) -> None:
    """Every address of the description, with every id that exists.

    The stream of events never ends; tests/integration/interfaces/test_api_events.py reads it.
    """
    setup.model.plays = [say("bluefishanswer")]
    key = {"Idempotency-Key": "shared"}
    await setup.post("chat/completions", setup.zebrana, chat_of("bluefishrequest"), **key)
    spec = json.loads((await read(setup, setup.olga, "/api/openapi.json"))[1])
    newest = await setup.served.gateway.database.read(turns.find_newest)
    seen = {"olga": "", "zebrana": ""}
    readable = {path for path, methods in spec["paths"].items() if "get" in methods}
    for path in sorted(readable - {"/api/events"}):
        has_ids = "{" in path and "{name}" not in path
        for number in range(1, newest + 2) if has_ids else (0,):
            named = path.replace("{message}", "0" * 64)
            address = re.sub("{[a-z]+}", str(number), named) + "?query=bluefishsaid&limit=20&path=x"
            for name, token in (("olga", setup.olga), ("zebrana", setup.zebrana)):
                status, text, _ = await read(setup, token, address)
                assert status in (200, 403, 404, 409), (address, text)
                if path != "/api/people":
                    seen[name] += text
    for canary in ("bluefish", "Zebrana", ZEBRANA):
        assert canary not in seen["olga"]
    for canary in ("bluefishmemory", "bluefishsaid", "bluefishrequest", "bluefishanswer"):
        assert canary in seen["zebrana"], canary


async def test_an_owner_sees_who_there_is_and_a_member_does_not(setup: Setup) -> None:
    status, text, _ = await read(setup, setup.olga, "/api/people")
    assert status == 200
    assert [one["slug"] for one in json.loads(text)["people"]] == ["zebrana", "olga"]
    assert (await read(setup, setup.zebrana, "/api/people"))[0] == 403
    pages, before = [], ""
    while True:
        _, text, _ = await read(setup, setup.olga, f"/api/people?limit=1{before}")
        page = json.loads(text)
        pages.append([one["slug"] for one in page["people"]])
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert pages == [["zebrana"], ["olga"], []]


async def test_an_export_names_the_conversations_of_programs(setup: Setup, tmp_path: Path) -> None:
    setup.model.plays = [say("Milk.")]
    sent = {"text": "What is missing?", "conversation": "shopping"}
    url = f"{setup.served.address.origin()}/api/messages"
    token = await make_token(setup.home, "zebrana", "manage")
    head = {"Authorization": f"Bearer {token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, headers=head, json=sent) as answer,
    ):
        assert answer.status == 200, await answer.text()
    zebrana, target = await find_named(setup, "zebrana"), tmp_path / "all.zip"
    await setup.served.gateway.exports.write(zebrana, target, lambda _: None)
    with zipfile.ZipFile(target) as archive:
        talks = [archive.read(one) for one in archive.namelist() if one.endswith(".json")]
    assert any(b"Milk." in talk and b"/shopping" in talk for talk in talks)


async def test_another_method_is_refused_with_those_that_each_address_takes(setup: Setup) -> None:
    spec = json.loads((await read(setup, setup.olga, "/api/openapi.json"))[1])
    expected = {
        re.sub("{[a-z_]+}", "1", path): {method.upper() for method in methods}
        for path, methods in spec["paths"].items()
    }
    expected |= {"/health": {"GET", "HEAD"}, "/hooks/x": {"POST"}, "/mcp": {"POST"}}
    head = {"Authorization": f"Bearer {setup.olga}"}
    async with aiohttp.ClientSession() as session:
        for path, methods in expected.items():
            url = f"{setup.served.address.origin()}{path}"
            async with session.request("TRACE", url, headers=head) as answer:
                assert answer.status == 405, path
                assert set(answer.headers["Allow"].split(", ")) >= methods, path


async def test_a_conversation_is_read_in_pages_and_searched(setup: Setup) -> None:
    setup.model.plays = [say(f"heron {number}") for number in range(3)]
    for number in range(3):
        asked = chat_of(f"kingfisher {number}")
        await setup.post("chat/completions", setup.olga, asked, **NAMED)
    _, text, _ = await read(setup, setup.olga, "/api/conversations?limit=1")
    (newest,) = json.loads(text)["conversations"]
    found: list[str] = []
    path = base = f"/api/conversations/{newest['id']}/messages?limit=4"
    while path:
        page = json.loads((await read(setup, setup.olga, path))[1])
        found += [one["text"] for one in page["messages"]]
        path = page["next"] and f"{base}&before={page['next']}"
    assert found == [f"{word} {number}" for number in (2, 1, 0) for word in ("heron", "kingfisher")]
    _, text, _ = await read(setup, setup.olga, "/api/recall?query=kingfisher")
    assert {hit["text"] for hit in json.loads(text)["hits"]} >= {
        f"kingfisher {n}" for n in range(3)
    }
    _, text, _ = await read(setup, setup.zebrana, "/api/recall?query=kingfisher")
    assert json.loads(text) == {"hits": [], "count": 0}
    assert (await read(setup, setup.zebrana, base))[0] == 404


async def test_a_turn_shows_what_the_model_read(setup: Setup) -> None:
    setup.model.plays = [say("noted")]
    await setup.post("chat/completions", setup.olga, chat_of("remember the heron"))
    newest = json.loads((await read(setup, setup.olga, "/api/turns?limit=1"))[1])["turns"][0]
    status, text, _ = await read(setup, setup.olga, f"/api/turns/{newest['id']}/requests")
    shown = json.loads(text)
    assert status == 200
    assert shown["system"]
    assert "remember the heron" in json.dumps(shown["calls"][0]["messages"])
    assert (shown["calls"][0]["doubt"], shown["calls"][0]["is_known"]) == ("", True)


async def test_turns_come_in_pages_and_with_tags(setup: Setup) -> None:
    setup.model.plays = [say(f"answer {number}") for number in range(3)]
    client = setup.connect(setup.olga)
    for number in range(3):
        await client.chat.completions.create(**chat_of(f"question {number}"))
    found: list[int] = []
    path = "/api/turns?limit=2"
    while path:
        status, text, tag = await read(setup, setup.olga, path)
        page = json.loads(text)
        assert status == 200
        found += [turn["id"] for turn in page["turns"]]
        assert (await read(setup, setup.olga, path, **{"If-None-Match": tag}))[0] == 304
        path = page["next"] and f"/api/turns?limit=2&before={page['next']}"
    assert found == sorted(set(found), reverse=True)
    assert len(found) >= 4
    _, text, _ = await read(setup, setup.olga, f"/api/turns/{found[0]}")
    shown = json.loads(text)
    assert (shown["request"], shown["answer"]) == ("question 2", "answer 2")
    assert (shown["state"], shown["input_tokens"]) == ("answered", 10)
    assert shown["micro_dollars"] is None, "the price of fake-1 is unknown"
    lines = json.loads((await read(setup, setup.olga, "/api/usage"))[1])["lines"]
    assert {line["micro_dollars"] for line in lines} == {None}
    assert (await read(setup, setup.olga, "/api/turns?limit=0"))[0] == 400
    assert (await read(setup, setup.olga, f"/api/turns/{2**63}"))[0] == 400
    assert (await read(setup, "talaria_wrong", "/api/me"))[0] == 401
