"""Changes over the API: whose token may make them, and what a repeated request does."""

import asyncio
import io
import itertools
import json
from typing import Any

import aiohttp
import pytest

from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import approvals, questions
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.memory import ledger
from tests.fakes.model import Gate, say
from tests.integration.interfaces.api_setup import (
    OLGA,
    ZEBRANA,
    Setup,
    ask_about_tea,
    find_named,
    make_token,
    read,
)
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.held_notes import hold
from tests.patience import PATIENCE
from tests.tables import await_each

JOB = {"kind": "prompt", "text": "Water the plants", "cron": "0 9 * * *", "zone": "Europe/Berlin"}


async def send(
    setup: Setup, key: str, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, Any]:
    """The status and the body of a change."""
    url = f"{setup.served.address.origin()}/api/{path}"
    head = {"Authorization": f"Bearer {key}", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, json=body, headers=head) as answer,
    ):
        text = await answer.text()
        return answer.status, json.loads(text) if text else None


@pytest.fixture
async def manager(setup: Setup) -> str:
    """A token that changes Olga's data."""
    return await make_token(setup.home, "olga", "manage")


@pytest.fixture
async def stranger(setup: Setup) -> str:
    """A token that changes Zebrana's data."""
    return await make_token(setup.home, "zebrana", "manage")


async def test_a_job_is_created_once_changed_run_and_deleted(setup: Setup, manager: str) -> None:
    key = {"Idempotency-Key": "plants"}
    status, job = await send(setup, manager, "POST", "jobs", JOB, **key)
    assert (status, job["title"], job["state"]) == (201, "Water the plants", "active")
    assert await send(setup, manager, "POST", "jobs", JOB, **key) == (201, job)
    other = {**JOB, "text": "Feed the cat"}
    status, answer = await send(setup, manager, "POST", "jobs", other, **key)
    assert (status, answer["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(json.loads((await read(setup, manager, "/api/jobs"))[1])["jobs"]) == 1
    address = f"jobs/{job['id']}"
    status, changed = await send(setup, manager, "PATCH", address, {"every_minutes": 90})
    assert (status, changed["timing"] != job["timing"]) == (200, True)
    status, undone = await send(setup, manager, "POST", f"{address}/undo")
    assert (status, undone["timing"]) == (200, job["timing"])
    status, paused = await send(setup, manager, "POST", f"{address}/pause")
    assert (status, paused["state"], paused["reason"]) == (200, "paused", "as asked")
    assert (await send(setup, manager, "POST", f"{address}/resume"))[1]["state"] == "active"
    setup.model.plays = [say("Done.")]
    for _ in range(2):
        assert (await send(setup, manager, "POST", f"{address}/run", **key))[0] == 200
    runs = json.loads((await read(setup, manager, f"/api/{address}/runs"))[1])["runs"]
    assert len(runs) == 1
    assert await send(setup, manager, "DELETE", address) == (204, None)
    assert json.loads((await read(setup, manager, "/api/jobs"))[1]) == {"jobs": []}
    assert (await send(setup, manager, "POST", f"{address}/run"))[0] == 409


async def test_a_wrong_job_is_one_clear_error(setup: Setup, manager: str) -> None:
    rows: list[tuple[object, str]] = [
        ({**JOB, "cron": "99 9 * * *"}, "99"),
        ({**JOB, "kind": "script"}, "kind"),
        ({**JOB, "zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"kind": "prompt", "text": "x"}, "say when"),
        ({**JOB, "to": ["telegram:1"]}, "to"),
    ]

    async def check(row: tuple[object, str]) -> None:
        status, answer = await send(setup, manager, "POST", "jobs", row[0])
        assert status == 400
        assert row[1] in answer["error"]["message"]

    await await_each(rows, check)


async def test_only_a_token_to_manage_changes_anything(setup: Setup, manager: str) -> None:
    _, job = await send(setup, manager, "POST", "jobs", JOB)
    for method, path, body in (
        ("POST", "jobs", JOB),
        ("DELETE", f"jobs/{job['id']}", None),
        ("POST", "memory/ledger/1/undo", None),
        ("POST", "questions/1/answer", {"choice": "yes"}),
        ("DELETE", "approvals/1", None),
    ):
        status, answer = await send(setup, setup.olga, method, path, body)
        assert (status, answer["error"]["code"]) == (403, "insufficient_scope")
        assert "--scope manage" in answer["error"]["message"]
    assert len(json.loads((await read(setup, manager, "/api/jobs"))[1])["jobs"]) == 1
    assert (await send(setup, setup.served.token, "POST", "jobs", JOB))[0] == 201


async def test_nothing_of_another_person_is_changed(
    setup: Setup, manager: str, stranger: str
) -> None:
    """Zebrana's memory has entries, and Olga's token names each of them."""
    _, job = await send(setup, stranger, "POST", "jobs", JOB)
    zebrana = await find_named(setup, "zebrana")
    database, now = setup.served.gateway.database, setup.served.gateway.now()
    allowed = NewApproval(
        person_id=zebrana.id,
        decided_by=zebrana.id,
        scope="always",
        subject='{"tool": "shell"}',
        expires_at=now + 1_000_000,
    )
    await database.write("test", lambda c: approvals.insert(c, allowed, now=now))
    asked = await database.write("test", lambda c: ask_about_tea(c, zebrana, now))
    rows = await database.read(lambda c: ledger.list_recent_of(c, person_id=zebrana.id, limit=50))
    assert rows
    changes = [
        *((("POST", f"memory/ledger/{row.id}/undo", None)) for row in rows),
        ("PATCH", f"jobs/{job['id']}", {"title": "mine"}),
        ("POST", f"jobs/{job['id']}/run", None),
        ("DELETE", f"jobs/{job['id']}", None),
        ("POST", f"questions/{asked}/answer", {"choice": "yes"}),
        *(("DELETE", f"approvals/{number}", None) for number in range(1, 4)),
    ]
    for method, path, body in changes:
        status, answer = await send(setup, manager, method, path, body)
        assert (status, answer["error"]["code"]) == (404, "not_found"), path
    known = json.loads((await read(setup, stranger, "/api/jobs"))[1])["jobs"]
    assert job["id"] in [one["id"] for one in known]
    assert (await send(setup, stranger, "POST", f"questions/{asked}/answer", {"choice": "no"}))[
        0
    ] == 204


async def test_a_question_is_answered_once(setup: Setup, manager: str) -> None:
    gateway = setup.served.gateway
    olga, now = await find_named(setup, "olga"), gateway.now()
    number = await gateway.database.write("test", lambda c: ask_about_tea(c, olga, now))
    (shown,) = json.loads((await read(setup, manager, "/api/questions"))[1])["questions"]
    assert (shown["id"], shown["text"]) == (number, "Tea?")
    path = f"questions/{number}/answer"
    assert (await send(setup, manager, "POST", path, {"choice": "coffee"}))[0] == 409
    assert await send(setup, manager, "POST", path, {"choice": "yes"}) == (204, None)
    assert (await send(setup, manager, "POST", path, {"choice": "no"}))[0] == 409
    stored = await gateway.database.read(lambda c: questions.find(c, question_id=shown["id"]))
    assert stored is not None
    assert (stored.state, stored.answer) == ("answered", "yes")


async def test_a_change_of_memory_is_undone_by_its_person(setup: Setup, stranger: str) -> None:
    changes = json.loads((await read(setup, stranger, "/api/memory/ledger"))[1])["changes"]
    added = next(one for one in changes if one["operation"] == "add" and one["target"] != "skill")
    status, undone = await send(setup, stranger, "POST", f"memory/ledger/{added['id']}/undo")
    assert status == 200
    newest = json.loads((await read(setup, stranger, "/api/memory/ledger"))[1])["changes"][0]
    assert (newest["id"], newest["undoes"]) == (undone["id"], added["id"])
    assert newest["actor"] == "person"
    again, answer = await send(setup, stranger, "POST", f"memory/ledger/{added['id']}/undo")
    assert again == 409
    assert "already undone" in answer["error"]["message"]


async def test_a_message_is_sent_waited_for_and_streamed(setup: Setup) -> None:
    setup.model.plays = [say("one"), say("tw", "o"), say("three")]
    key = {"Idempotency-Key": "first"}
    status, sent = await send(setup, setup.olga, "POST", "messages", {"text": "hi"}, **key)
    assert (status, sent["state"], sent["answer"]) == (200, "answered", "one")
    body = {"text": "hi"}
    assert await send(setup, setup.olga, "POST", "messages", body, **key) == (200, sent)
    assert await send(setup, setup.olga, "GET", f"messages/{sent['id']}") == (200, sent)
    assert (await send(setup, setup.zebrana, "GET", f"messages/{sent['id']}"))[0] == 404
    url = f"{setup.served.address.origin()}/api/messages"
    head = {"Authorization": f"Bearer {setup.olga}"}
    asked = {"text": "more", "reply": "stream"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=asked, headers=head) as answer,
    ):
        events = (await answer.text()).split("\n\n")
    pieces = [json.loads(one.partition("data: ")[2]) for one in events if "data: " in one]
    assert "".join(one["text"] for one in pieces[:-1]) == pieces[-1]["answer"] == "two"
    later = {"text": "last", "reply": "later"}
    status, sent = await send(setup, setup.olga, "POST", "messages", later)
    assert status == 202
    async with asyncio.timeout(PATIENCE):
        while sent["state"] in ("waiting", "running"):
            _, sent = await send(setup, setup.olga, "GET", f"messages/{sent['id']}")
    assert sent["answer"] == "three"


async def test_a_chat_does_not_wait_for_its_persons_programs(setup: Setup) -> None:
    gate = Gate()
    held, done = [gate.hold, *say("done")], say("done")
    setup.model.plays = [held, held, say("At once."), *(done for _ in range(4))]
    for number in range(6):
        body = {"text": "work", "conversation": f"batch{number}", "reply": "later"}
        assert (await send(setup, setup.zebrana, "POST", "messages", body))[0] == 202
    async with asyncio.timeout(PATIENCE):
        while len(setup.model.requests) < 2:
            await asyncio.sleep(0.005)
    await setup.chat.says("hi", user=ZEBRANA, chat=ZEBRANA, name="Zebrana", id=900)
    await setup.chat.until(lambda: any("At once." in shown.texts for shown in setup.chat.shown))
    assert len(setup.model.requests) == 3
    gate.open.set()
    async with asyncio.timeout(PATIENCE):
        while len(setup.model.requests) < 7:
            await asyncio.sleep(0.005)


async def test_a_dismissed_change_comes_back_to_its_person_alone(
    setup: Setup, manager: str, stranger: str
) -> None:
    olga, database = await find_named(setup, "olga"), setup.served.gateway.database
    review, turn = await database.write("test", lambda c: hold(c, olga))
    async with (
        browse_as(setup.served, setup.chat, OLGA) as session,
        session.post(f"/memory/held/{review}/1/dismiss") as answer,
    ):
        assert answer.status == 200
    assert json.loads((await read(setup, manager, "/api/questions"))[1]) == {"questions": []}
    status, text, _ = await read(setup, manager, "/api/questions/dismissed")
    listed = json.loads(text)["questions"]
    assert (status, [one["turn_id"] for one in listed]) == (200, [turn])
    address = f"questions/{listed[0]['id']}/restore"
    assert (await send(setup, stranger, "POST", address))[0] == 404
    assert (await send(setup, setup.olga, "POST", address))[0] == 403
    assert (await send(setup, manager, "POST", address))[0] == 204
    assert (await send(setup, manager, "POST", address))[0] == 404
    waiting = json.loads((await read(setup, manager, "/api/questions"))[1])["questions"]
    assert [one["id"] for one in waiting] == [listed[0]["id"]]


async def test_only_owners_make_agents_and_teams(setup: Setup, stranger: str, manager: str) -> None:
    for path, body in (
        ("agents", {"name": "spy", "soul": "You look."}),
        ("teams", {"name": "desk", "supervisor": "spy", "members": ["spy"]}),
    ):
        status, answer = await send(setup, stranger, "POST", path, body)
        assert (status, answer["error"]["code"]) == (403, "owner_only")
    assert (await send(setup, stranger, "POST", "agents/spy/archive"))[0] == 403
    assert (await send(setup, manager, "POST", "agents", {"name": "spy"}))[0] == 201
    assert (await send(setup, stranger, "PATCH", "agents/spy", {"soul": "Mine."}))[0] == 403
    status, answer = await send(setup, manager, "POST", "agents", {"name": "spy", "sole": "x"})
    assert (status, "sole" in json.dumps(answer)) == (400, True)


async def get(setup: Setup, key: str, path: str) -> Any:
    """A resource that there is, or None."""
    status, text, _ = await read(setup, key, f"/api/{path}")
    assert status in (200, 404), text
    return json.loads(text) if status == 200 else None


async def make_agents(setup: Setup, manager: str, *names: str) -> None:
    for name in names:
        body = {"name": name, "soul": f"You are {name}."}
        assert (await send(setup, manager, "POST", "agents", body))[0] == 201


async def test_an_owner_changes_an_agent_and_puts_it_away(
    setup: Setup, manager: str, stranger: str
) -> None:
    given = {"name": "writer", "soul": "You write.", "tags": ["press"], "tools": ["recall"]}
    status, made = await send(setup, manager, "POST", "agents", given)
    assert (status, made["name"], made["tags"], made["tools"]) == (
        201,
        "writer",
        ["press"],
        ["recall"],
    )
    assert await get(setup, manager, "agents/writer") == made
    rule = {"tool": "memory", "most_per_turn": 2}
    change = {"description": "Writes", "any_tools": True, "rules": [rule]}
    status, changed = await send(setup, manager, "PATCH", "agents/writer", change)
    (shown,) = changed["rules"]
    assert (status, shown["tool"], shown["most_per_turn"]) == (200, "memory", 2)
    assert changed == made | {"description": "Writes", "tools": None, "rules": [shown]}
    soul = setup.home / "agents" / "writer" / "SOUL.md"
    assert soul.read_text() == "You write."
    status, wrong = await send(setup, manager, "PATCH", "agents/writer", {"tools": ["recal"]})
    assert (status, "did you mean recall?" in wrong["error"]["message"]) == (409, True)
    assert await get(setup, stranger, "agents") == {"agents": [changed], "archived": []}
    for _ in range(2):  # a repeat changes nothing
        assert await send(setup, manager, "POST", "agents/writer/archive") == (204, None)
    assert await get(setup, manager, "agents") == {"agents": [], "archived": ["writer"]}
    assert await get(setup, stranger, "agents") == {"agents": [], "archived": []}
    assert await get(setup, manager, "agents/writer") is None
    assert await send(setup, manager, "POST", "agents/writer/restore") == (204, None)
    assert await get(setup, manager, "agents") == {"agents": [changed], "archived": []}


async def test_an_owner_changes_a_team_and_puts_it_away(
    setup: Setup, manager: str, stranger: str
) -> None:
    await make_agents(setup, manager, "editor", "writer", "checker")
    given = {"name": "desk", "supervisor": "editor", "members": ["writer", "checker"]}
    status, made = await send(setup, manager, "POST", "teams", given)
    assert (status, made["manager"], made["supervisor"]) == (201, "supervisor", "editor")
    assert made["members"] == ["writer", "checker"]
    assert await get(setup, manager, "teams/desk") == made
    change = {"rounds": 5, "dollars": 0.5, "members": ["writer"]}
    status, changed = await send(setup, manager, "PATCH", "teams/desk", change)
    assert (status, changed) == (200, made | change)
    status, wrong = await send(setup, manager, "PATCH", "teams/desk", {"rounds": 99})
    assert (status, "from 1 to 20" in wrong["error"]["message"]) == (409, True)
    assert await get(setup, stranger, "teams") == {"teams": [changed], "archived": []}
    for _ in range(2):
        assert await send(setup, manager, "POST", "teams/desk/archive") == (204, None)
    assert await get(setup, manager, "teams") == {"teams": [], "archived": ["desk"]}
    assert await get(setup, stranger, "teams") == {"teams": [], "archived": []}
    assert await get(setup, manager, "teams/desk") is None
    assert await send(setup, manager, "POST", "teams/desk/restore") == (204, None)
    assert await get(setup, manager, "teams") == {"teams": [changed], "archived": []}


async def test_a_member_and_a_reader_change_no_agent_and_no_team(
    setup: Setup, manager: str, stranger: str
) -> None:
    await make_agents(setup, manager, "editor", "writer", "checker")
    for name, members in (("desk", ["writer", "checker"]), ("radio", ["checker"])):
        team = {"name": name, "supervisor": "editor", "members": members}
        assert (await send(setup, manager, "POST", "teams", team))[0] == 201
    before = [await get(setup, manager, path) for path in ("agents", "teams")]
    for method, path, body in (
        ("PATCH", "agents/writer", {"soul": "Mine."}),
        ("POST", "agents/writer/move", {"source": "desk", "target": "radio"}),
        ("POST", "agents/writer/archive", None),
        ("POST", "agents/writer/restore", None),
        ("POST", "teams", {"name": "mine", "supervisor": "editor", "members": ["writer"]}),
        ("PATCH", "teams/desk", {"rounds": 9}),
        ("POST", "teams/desk/archive", None),
        ("POST", "teams/desk/restore", None),
    ):
        for key, code in ((stranger, "owner_only"), (setup.olga, "insufficient_scope")):
            status, answer = await send(setup, key, method, path, body)
            assert (status, answer["error"]["code"]) == (403, code), path
    assert [await get(setup, manager, path) for path in ("agents", "teams")] == before
    assert (setup.home / "agents" / "writer" / "SOUL.md").read_text() == "You are writer."


async def test_an_agent_that_moves_keeps_its_memory_and_its_conversation(
    setup: Setup, manager: str
) -> None:
    await make_agents(setup, manager, "editor", "writer", "checker")
    for name, members in (("desk", ["writer", "checker"]), ("radio", ["checker"])):
        team = {"name": name, "supervisor": "editor", "members": members}
        assert (await send(setup, manager, "POST", "teams", team))[0] == 201

    ids = itertools.count(900)

    async def ask(text: str, answer: str) -> ModelRequest:
        setup.model.plays = [say(answer)]
        await setup.chat.says(text, user=OLGA, chat=OLGA, name="Olga", id=next(ids))
        await setup.chat.sees_text(answer)
        return setup.model.requests[-1]

    note = {"target": "user", "text": "Drinks green tea"}
    assert (await send(setup, manager, "POST", "memory/entries", note))[0] == 201
    await setup.chat.says("/agents use writer", user=OLGA, chat=OLGA, name="Olga", id=next(ids))
    await setup.chat.sees_text("The agent “writer” now answers here")
    before = await ask("my cat is Tom", "A fine cat.")
    for _ in range(2):
        way = {"source": "desk", "target": "radio"}
        status, moved = await send(setup, manager, "POST", "agents/writer/move", way)
        assert (status, moved["teams"]) == (200, ["radio"])
    assert (await get(setup, manager, "teams/desk"))["members"] == ["checker"]
    assert (await get(setup, manager, "teams/radio"))["members"] == ["checker", "writer"]
    after = await ask("what is my cat called?", "Tom.")
    assert "Drinks green tea" in after.system
    assert after.messages[: len(before.messages)] == before.messages


async def test_only_a_token_sends_large_agent_files(setup: Setup, manager: str) -> None:
    url = f"{setup.served.address.origin()}/api/agents/import"
    head = {"Content-Type": "application/octet-stream"}
    async with aiohttp.ClientSession(headers=head) as session:
        for key, status in ((manager, 409), ("wrong", 413)):
            data = io.BytesIO(b" " * 5_000_000)
            token = {"Authorization": f"Bearer {key}"}
            async with session.post(url, data=data, headers=token) as answer:
                assert answer.status == status, await answer.text()
