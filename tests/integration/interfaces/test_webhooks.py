"""Webhooks on the command line and over the API."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.state.engine.database import Connection
from tests.emulators.receiver import Plan, Receiver
from tests.fakes.model import say
from tests.integration.interfaces.api_setup import Setup, chat_of, find_named, make_token
from tests.integration.processes import talaria, talaria_beside

VERBS = ("add", "pause", "resume", "change", "rotate", "remove", "restore", "remove")
Answer = tuple[int, Any, str]
"""Status, body and tag."""


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    made = Path(shutil.copytree(filled, tmp_path / "home"))
    with (made / "config.toml").open("a") as file:
        file.write('[webhooks]\nallow_hosts = ["127.0.0.1"]\n')
    return made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as one:
        yield one


async def request(
    setup: Setup, key: str, verb: str, path: str, body: object = None, **headers: str
) -> Answer:
    url = f"{setup.served.address.origin()}/api/webhooks{path}"
    head = {"Authorization": f"Bearer {key}", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.request(verb, url, json=body, headers=head) as answer,
    ):
        text = await answer.text()
        return answer.status, json.loads(text or "null"), answer.headers.get("ETag", "")


async def test_the_command_line_adds_tests_lists_and_removes(
    setup: Setup, receiver: Receiver
) -> None:
    async def run(*words: str) -> str:
        ran = await talaria_beside(setup.home, "webhooks", *words)
        assert ran.code == 0, ran.err
        return ran.out

    assert "There are no webhooks" in await run()
    added = await run(
        *("add", "ends", "--person", "olga", "--url", receiver.url, "--events", "turn.ended")
    )
    secret = next(word for word in added.split() if word.startswith("whsec_"))
    assert "The receiver accepted it (status 204)." in await run("test", "1")
    receiver.received[0].verify(secret)
    setup.model.plays = [say("one")]
    await setup.post("chat/completions", setup.olga, chat_of("hello"))
    await receiver.gets(2)
    listed = await run()
    assert "olga: ends (active) sends turn.ended to" in listed
    assert secret not in listed
    sent = (await run("deliveries", "1")).splitlines()
    assert [line.split()[3] for line in sent] == ["turn.ended", "webhook.test"]
    receiver.answer(Plan(500), Plan(204))
    assert "It failed: it answers with status 500." in await run("test", "1")
    assert "Paused: ends" in await run("pause", "1")
    assert "Resumed: ends" in await run("resume", "1")
    await receiver.gets(4)
    assert "sent again" in await run("redeliver", "1", sent[-1].split()[0])
    await receiver.gets(5)
    assert receiver.received[-1].id == receiver.received[0].id
    assert "Changed: webhook 1." in await run(
        "change", "1", "--name", "all", "--events", "turn.ended"
    )
    assert "olga: all (active) sends turn.ended to" in await run()
    rotated = await run("rotate", "1")
    fresh = next(word for word in rotated.split() if word.startswith("whsec_"))
    assert "The receiver accepted it" in await run("test", "1")
    for key in (secret, fresh):
        (await receiver.gets(6))[5].verify(key)
    await run("remove", "1")
    assert "Restored: all." in await run("restore", "1")
    assert "Removed: all" in await run("remove", "1")
    assert "There are no webhooks" in await run("--person", "olga")

    olga = await find_named(setup, "olga")

    def read_deeds(connection: Connection) -> list[str]:
        rows = connection.execute(
            "SELECT action FROM audit WHERE person_id = :id AND action LIKE 'webhook.%'"
            " ORDER BY id",
            {"id": olga.id},
        )
        return [row[0] for row in rows]

    deeds = await setup.served.gateway.database.read(read_deeds)
    assert deeds == [f"webhook.{verb}" for verb in VERBS]


def test_without_a_gateway_the_command_line_changes_the_database(home: Path) -> None:
    add = ("webhooks", "add", "all", "--person", "olga", "--url")
    added = talaria(home, *add, "http://127.0.0.1:9/")
    assert added.code == 0, added.err
    tested = talaria(home, "webhooks", "test", "1")
    assert tested.out.strip() == "It is sent as soon as Talaria runs and comes to it."
    assert "all (active, 1 waiting)" in talaria(home, "webhooks").out
    assert talaria(home, "webhooks", "pause", "1").code == 0
    resumed = talaria(home, "webhooks", "resume", "1", "--from-now")
    assert resumed.out.strip() == "Resumed: all."
    assert "all (active) sends" in talaria(home, "webhooks").out
    refused = talaria(home, *add, "http://10.0.0.1/")
    assert refused.code == 2
    assert refused.err.strip() == (
        "The address can't be used: it must begin with https://, unless an owner lists its host"
        " in webhooks.allow_hosts."
    )


async def test_the_api_adds_lists_and_changes(setup: Setup, receiver: Receiver) -> None:
    key = await make_token(setup.home, "olga", "manage")
    new = {"name": "all", "url": receiver.url}
    status, made, _ = await request(setup, key, "POST", "", new, **{"Idempotency-Key": "1"})
    assert (status, made["state"]) == (201, "active")
    status, again, _ = await request(setup, key, "POST", "", new, **{"Idempotency-Key": "1"})
    assert (status, again) == (201, made)
    other = new | {"name": "other"}
    status, refused, _ = await request(setup, key, "POST", "", other, **{"Idempotency-Key": "1"})
    assert (status, refused["error"]["code"]) == (422, "idempotency_key_reused")
    path = f"/{made['id']}"
    status, listed, tag = await request(setup, setup.olga, "GET", "")
    assert listed == {"webhooks": [{k: v for k, v in made.items() if k != "secret"}]}
    assert (await request(setup, setup.olga, "GET", "", **{"If-None-Match": tag}))[0] == 304
    for _ in range(2):
        status, _, _ = await request(setup, key, "POST", f"{path}/test", **{"Idempotency-Key": "t"})
        assert status == 202
    (received,) = await receiver.gets(1)
    received.verify(made["secret"])
    status, page, _ = await request(setup, setup.olga, "GET", f"{path}/deliveries?limit=1")
    (delivery,) = page["deliveries"]
    assert delivery["event_id"] == received.id
    again_at = f"{path}/deliveries/{delivery['id']}/redeliver"
    assert (await request(setup, key, "POST", again_at))[0] == 202
    await receiver.gets(2)
    assert (await request(setup, key, "POST", f"{path}/pause"))[1]["state"] == "paused"
    assert (await request(setup, key, "POST", f"{path}/pause"))[0] == 409
    assert (await request(setup, key, "POST", f"{path}/resume"))[1]["state"] == "active"
    status, changed, _ = await request(setup, key, "PATCH", path, {"kinds": ["turn.ended"]})
    assert (status, changed["name"], changed["kinds"]) == (200, "all", ["turn.ended"])
    refused = await request(setup, key, "PATCH", path, {"url": "http://10.0.0.1/"})
    assert refused[0] == 400
    status, rotated, _ = await request(setup, key, "POST", f"{path}/rotate")
    assert (status, rotated["secret"] != made["secret"]) == (200, True)
    await request(setup, key, "POST", f"{path}/test")
    for secret in (made["secret"], rotated["secret"]):
        (await receiver.gets(3))[2].verify(secret)
    assert (await request(setup, key, "POST", f"{path}/restore"))[0] == 404
    assert (await request(setup, key, "DELETE", path))[0] == 204
    assert (await request(setup, key, "POST", f"{path}/restore"))[1]["name"] == "all"
    assert (await request(setup, key, "DELETE", path))[0] == 204
    assert (await request(setup, key, "GET", path))[0] == 404


async def test_events_that_hold_half_a_character_are_refused(
    setup: Setup, receiver: Receiver
) -> None:
    key = await make_token(setup.home, "olga", "manage")
    new = {"name": "all", "url": receiver.url, "kinds": ["\ud83d"]}
    status, answer, _ = await request(setup, key, "POST", "", new)
    assert status == 400
    assert answer["error"]["message"].startswith("kinds.0 holds half of a character")


async def test_nobody_sees_or_changes_those_of_others(setup: Setup, receiver: Receiver) -> None:
    olga = await make_token(setup.home, "olga", "manage")
    zebrana = await make_token(setup.home, "zebrana", "manage")
    new = {"name": "all", "url": receiver.url}
    _, made, _ = await request(setup, olga, "POST", "", new)
    path = f"/{made['id']}"
    assert (await request(setup, olga, "POST", f"{path}/test"))[0] == 202
    assert (await request(setup, zebrana, "GET", ""))[1] == {"webhooks": []}
    for verb, place in (
        ("GET", ""),
        ("GET", "/deliveries"),
        ("POST", "/test"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/rotate"),
        ("POST", "/restore"),
        ("POST", "/deliveries/1/redeliver"),
        ("DELETE", ""),
    ):
        assert (await request(setup, zebrana, verb, path + place))[0] == 404, (verb, place)
    assert (await request(setup, setup.olga, "POST", f"{path}/pause"))[0] == 403
    setup.model.plays = [say("mine")]
    await setup.post("chat/completions", setup.zebrana, chat_of("hello"))
    setup.model.plays = [say("yours")]
    await setup.post("chat/completions", setup.olga, chat_of("hello"))
    await receiver.wait_for(lambda: "turn.ended" in receiver.kinds)
    assert receiver.kinds.count("turn.started") == 1
