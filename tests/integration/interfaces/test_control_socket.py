"""Operations work alike through a running gateway's socket and on its database."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.chats import Chat
from agent_core.state.engine.database import Connection, Database, now
from agent_core.state.people import codes, people
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.errors import Declined, StartError
from gateway.home import CONTROL_SOCKET, DATABASE
from gateway.interfaces import client
from gateway.interfaces.client import perform, perform_typed
from gateway.operations.job_types import ListedJobs, ListJobs
from gateway.people.onboarding import hash_code
from tests.fakes.chat import FakeChat
from tests.integration.processes import talaria, talaria_beside
from tests.integration.served import served
from tests.patience import PATIENCE

CODE = "ABCD-EFGH"
Ask = Callable[..., Awaitable[Mapping[str, Any]]]


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h")


def fill(connection: Connection) -> None:
    """Store a stranger with a code, and an undeliverable message."""
    codes.insert(
        connection,
        purpose="pairing",
        code_hash=hash_code(CODE),
        asker=codes.CodeAsker(
            platform="fake", user_id="7", display_name="Ben", chat='["7",null,true]'
        ),
        now=now(),
        expires_at=now() + 60_000,
    )
    row = outbox.enqueue(
        connection,
        NewOutboxMessage(chat=Chat(platform="fake", address="c"), body="long\nlost"),
        now=now(),
    )
    outbox.mark_dead(connection, outbox_id=row.id, reason="the chat is gone")


@asynccontextmanager
async def user_prompts(home: Path, how: str) -> AsyncIterator[Ask]:
    """Run operations with or without a running gateway."""

    async def ask(operation: str, **asked: object) -> Mapping[str, Any]:
        return await asyncio.to_thread(perform, home, operation, asked)

    if how == "running":
        async with served(home) as harness:
            await harness.gateway.database.write("fill", fill)
            yield ask
    else:
        database = await Database.open(home / DATABASE)
        await database.write("fill", fill)
        await database.close()
        yield ask


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_person_is_approved_once(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        assert (await ask("people.list"))["people"] == []
        assert await ask("people.approve", code="abcd efgh") == {"name": "Ben"}
        assert (await ask("people.list"))["people"] == [
            {"name": "Ben", "role": "member", "folder": "ben", "accounts": ["fake:7"]}
        ]
        with pytest.raises(Declined, match="can talk to me already"):
            await ask("people.approve", code=CODE)
        with pytest.raises(Declined, match="The code is missing"):
            await ask("people.approve", code=" ")


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_new_claim_code_ends_the_one_before(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        first = (await ask("people.claim"))["code"]
        second = (await ask("people.claim"))["code"]

    def is_good(connection: Connection, code: str) -> bool:
        digest = hash_code(code)
        found = codes.find(connection, code_hash=digest, purpose="claim", now=now())
        return found is not None

    database = await Database.open(home / DATABASE)
    try:
        assert not await database.read(lambda c: is_good(c, first))
        assert await database.read(lambda c: is_good(c, second))
    finally:
        await database.close()


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_half_of_a_character_is_one_sentence(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        half = "The soul holds half of a character; perhaps an emoji was cut in two."
        with pytest.raises(Declined, match=half):
            await ask("agents.write", action="create", name="spy", soul="caf\udce9")
        assert not (home / "agents").exists()


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_failed_messages_are_listed(home: Path, how: str) -> None:
    async with user_prompts(home, how) as ask:
        (row,) = (await ask("turns.undelivered", limit=5))["undelivered"]
        assert (row["reason"], row["text"], row["turn"]) == ("the chat is gone", "long\nlost", None)
        with pytest.raises(Declined, match="from 1 to 1000"):
            await ask("turns.undelivered", limit=0)


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_backup_is_complete_and_leaves_no_other_file(home: Path, how: str) -> None:
    target = home / "copy.db"
    async with user_prompts(home, how) as ask:
        assert await ask("backup", target=str(target)) == {"target": str(target)}
        with pytest.raises(Declined, match="belongs to the running database"):
            await ask("backup", target=str(home / DATABASE))
        with pytest.raises(Declined, match="not an absolute path"):
            await ask("backup", target="copy.db")
    copy = await Database.open(target)
    try:
        assert await copy.read(lambda c: outbox.count(c, state="dead")) == 1
    finally:
        await copy.close()


async def test_a_person_approved_by_command_is_welcomed_at_once(home: Path) -> None:
    chat = FakeChat()
    async with served(home, adapters={"fake": chat}) as harness:
        await harness.gateway.database.write("fill", fill)
        done = await talaria_beside(home, "people", "approve", CODE)
        assert (done.code, done.out) == (0, "Ben can talk to Talaria now.\n")
        async with asyncio.timeout(PATIENCE):
            while not chat.shown:
                await asyncio.sleep(0.005)
        assert chat.shown[0].text.startswith("Hi Ben! I answer questions")


async def test_an_approved_stranger_is_known_after_the_command(home: Path) -> None:
    """The gateway caches people, so the command must refresh it."""
    async with served(home) as harness:
        database = harness.gateway.database
        await database.write("fill", fill)
        await asyncio.to_thread(perform, home, "people.approve", {"code": CODE})
        person = await database.read(
            lambda c: people.find_by_account(c, platform="fake", user_id="7")
        )
        assert person
        assert person.name == "Ben"


async def test_turns_are_shown_on_the_command_line(home: Path) -> None:
    assert talaria(home, "chat", given="remember that the key is with Ada\n").code == 0
    listed = talaria(home, "turns", "list")
    assert listed.code == 0
    assert "console" in listed.out
    assert "answered" in listed.out
    shown = talaria(home, "turns", "show", "1")
    assert shown.code == 0
    assert "> remember that the key is with Ada" in shown.out
    assert "1. memory: " in shown.out
    assert "Model calls: 2. Tokens: " in shown.out
    missing = talaria(home, "turns", "show", "99")
    assert (missing.code, missing.err) == (1, "There is no turn with the number 99.\n")
    assert talaria(home, "turns", "undelivered").out == "Every message was delivered.\n"
    people_reported = talaria(home, "people", "list").out
    assert "(owner): console:local" in people_reported


def test_commands_before_the_first_start_create_nothing(home: Path) -> None:
    for words in (("people", "list"), ("turns", "list"), ("backup", str(home / "copy.db"))):
        done = talaria(home, *words)
        assert done.code == 2
        assert done.err == f"{home} has no database yet; `talaria run` creates it.\n"
    assert list(home.iterdir()) == []


def test_a_backup_overwrites_nothing(home: Path) -> None:
    target = home / "mine.txt"
    target.write_text("mine")
    done = talaria(home, "backup", str(target))
    assert (done.code, target.read_text()) == (2, "mine")
    assert "exists already" in done.err


async def test_a_gateway_that_does_not_answer_is_reported(home: Path) -> None:
    """It listens and never answers."""
    server = await asyncio.start_unix_server(_hold, home / CONTROL_SOCKET)
    async with server:
        with pytest.raises(StartError, match="did not answer: timed out"):
            await asyncio.to_thread(client.ask, home, "people.list", {}, timeout=0.2)


async def _hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


def test_a_socket_without_a_gateway_is_ignored(home: Path) -> None:
    with pytest.raises(client.NoGateway):
        client.ask(home, "people.list", {})


async def test_the_control_socket_is_private_and_declines_unknown_operations(
    home: Path,
) -> None:
    async with served(home):
        assert home.joinpath(CONTROL_SOCKET).stat().st_mode & 0o777 == 0o600
        connector = aiohttp.UnixConnector(str(home / CONTROL_SOCKET))
        async with aiohttp.ClientSession(connector=connector) as session:
            for path, body in (
                ("people.everything", "{}"),
                ("people.list", "no json"),
                ("people.list", json.dumps([1])),
                ("turns.everything", "{}"),
            ):
                async with session.post(f"http://talaria/control/{path}", data=body) as response:
                    assert response.status == 400, path
                    assert (await response.json())["error"].endswith((".", "?"))


async def test_an_answer_of_another_version_is_a_sentence(home: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.0 200 OK\r\n\r\n{"jobs": [{"id": 1}]}')
        writer.close()

    server = await asyncio.start_unix_server(answer, home / CONTROL_SOCKET)
    async with server:
        with pytest.raises(StartError, match="of another version"):
            await asyncio.to_thread(perform_typed, home, "jobs.list", ListJobs(), ListedJobs)
