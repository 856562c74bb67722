"""Turns on the command line, with and without a running gateway."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_core.state.engine.database import Connection, Database
from gateway.app.settings import load
from gateway.errors import Declined
from gateway.home import DATABASE
from gateway.interfaces.client import perform
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import give_job, greet, greeted, looked
from tests.integration.processes import talaria
from tests.integration.served import served

Ask = Callable[..., Awaitable[Mapping[str, Any]]]
SAID = "remember that the key is with Ada\nwhat do you remember?\n"


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which two turns ran."""
    home = tmp_path_factory.mktemp("h")
    assert talaria(home, "chat", given=SAID).code == 0
    return home


@asynccontextmanager
async def user_prompts(home: Path, how: str) -> AsyncIterator[Ask]:
    async def ask(operation: str, **asked: object) -> Mapping[str, Any]:
        settings = load({"TALARIA_HOME": str(home)})
        return await asyncio.to_thread(
            perform, home, operation, asked, load_settings=lambda: settings
        )

    if how == "running":
        async with served(home):
            yield ask
    else:
        yield ask


async def write(home: Path, sql: str) -> None:
    """Change the file by hand."""
    database = await Database.open(home / DATABASE)

    def work(connection: Connection) -> None:
        connection.execute(sql)

    await database.write("by hand", work)
    await database.close()


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_turn_shows_and_verifies_its_requests(talked: Path, how: str) -> None:
    async with user_prompts(talked, how) as ask:
        shown = await ask("turns.requests", id=1)
        assert "# Memory of this person" in shown["system"]
        assert "memory" in [tool["name"] for tool in shown["tools"]]
        first, second = shown["calls"]
        assert [call["doubt"] for call in shown["calls"]] == ["", ""]
        assert [message["role"] for message in first["messages"]] == ["user"]
        assert "the key is with Ada" in first["messages"][0]["parts"][-1]["text"]
        assert second["same"] == 1
        assert [message["role"] for message in second["messages"]] == ["assistant", "tool"]
        with pytest.raises(Declined, match="There is no turn with the number 99"):
            await ask("turns.requests", id=99)
        with pytest.raises(Declined, match="Give the number of a turn"):
            await ask("turns.replay", id="1")


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_turn_that_is_played_again_is_identical(talked: Path, how: str) -> None:
    async with user_prompts(talked, how) as ask:
        for turn, calls in ((1, 2), (2, 1)):
            played = await ask("turns.replay", id=turn)
            assert (played["verdict"], played["compared"], played["calls"]) == (
                "identical",
                calls,
                calls,
            )


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_a_replay_with_current_memory_shows_the_difference(talked: Path, how: str) -> None:
    async with user_prompts(talked, how) as ask:
        played = await ask("turns.compare", id=1)
    assert played["is_rest_same"]
    assert "+- the key is with Ada" in played["prompt"]
    assert "-## MEMORY.md [0/2,200 characters]" in played["prompt"]


def test_the_command_line_prints_it_all(talked: Path) -> None:
    shown = talaria(talked, "turns", "show", "1", "--prompt")
    assert shown.code == 0, shown.err
    assert "== call 2 of 2: stand-in" in shown.out
    assert shown.out.count(": identical to what was sent") == 2
    assert "(the first 1 messages of call 1, then)" in shown.out
    assert 'memory {"action":"add"' in shown.out
    played = talaria(talked, "turns", "replay", "1")
    assert played.out.startswith("Replaying turn 1 ...\nidentical: 2 requests, ")
    changed = talaria(talked, "turns", "replay", "1", "--memory", "now")
    assert "the prompt would differ" in changed.out
    assert "+- the key is with Ada" in changed.out


async def test_manual_changes_are_reported(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("h")
    assert talaria(home, "chat", given=SAID).code == 0
    before = talaria(home, "turns", "replay", "1").out
    await write(home, "UPDATE steps SET outcome = 'Something else.' WHERE turn_id = 1")
    differs = talaria(home, "turns", "replay", "1").out
    assert before.splitlines()[1].startswith("identical")
    assert differs.splitlines()[1].startswith("Request 2 of 2 differs")
    assert "+tool " in differs
    assert "Something else." in differs
    await write(home, "UPDATE usage SET request_hash = NULL WHERE turn_id = 2")
    assert "can't be compared" in talaria(home, "turns", "replay", "2").out
    assert "no fingerprint was recorded" in talaria(home, "turns", "show", "2", "--prompt").out
    await write(home, "UPDATE prompts SET system = 'gone'")
    gone = talaria(home, "turns", "replay", "1")
    assert (gone.code, gone.err) == (1, "The prompt of that turn was deleted or altered.\n")
    shown = talaria(home, "turns", "show", "1", "--prompt").out
    assert "(deleted or altered since)" in shown
    assert shown.count("the prompt was deleted or altered since") == 2


async def test_a_jobs_own_message_is_no_model_call_and_is_complete(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 11, 0)
    async with running(tmp_path, greeted(), now=clock) as harness:
        await greet(harness)
        await give_job(harness, "Take the bread out.", "2026-11-20T12:30")
        clock.move(harness, hours=1)
        await harness.chat.sees_text("Take the bread out.")
        await looked(harness)
    async with user_prompts(tmp_path, "beside") as ask:
        for operation in ("turns.requests", "turns.replay", "turns.compare"):
            assert (await ask(operation, id=1))["calls"]
            with pytest.raises(Declined, match="No model was used for that: a job sent"):
                await ask(operation, id=2)


@pytest.mark.parametrize("how", ["running", "beside"])
async def test_conversations_are_exported_to_a_new_private_file(
    talked: Path, tmp_path: Path, how: str
) -> None:
    target = tmp_path / "talks.jsonl"
    async with user_prompts(talked, how) as ask:
        wish = {"target": str(target), "format": "openai"}
        assert (await ask("turns.export", **wish))["count"] == 1
        with pytest.raises(Declined, match="exists already"):
            await ask("turns.export", **wish)
        late = {"target": str(tmp_path / "none.jsonl"), "since": 1 << 50}
        assert (await ask("turns.export", **late))["count"] == 0
        with pytest.raises(Declined, match=r"There is no person bob; "):
            await ask("turns.export", target=str(tmp_path / "bob.jsonl"), person="bob")
        with pytest.raises(Declined, match="can't be written: No such file or directory"):
            await ask("turns.export", target=str(tmp_path / "no" / "where.jsonl"))
        with pytest.raises(Declined, match="not an absolute path"):
            await ask("turns.export", target="talks.jsonl")
        with pytest.raises(Declined, match="The format must be one of jsonl, openai"):
            await ask("turns.export", target=str(tmp_path / "a.txt"), format="text")
    assert target.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "bob.jsonl").exists()
    (line,) = target.read_text().splitlines()
    said = [one["content"] for one in json.loads(line)["messages"] if one["role"] == "user"]
    assert [words.rpartition("\n")[2] for words in said] == SAID.splitlines()


async def test_an_export_that_fails_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir()
    assert talaria(home, "chat", given=SAID).code == 0
    await write(home, "UPDATE messages SET text = 'other' WHERE role = 'assistant'")
    target = tmp_path / "talks.jsonl"
    done = talaria(home, "turns", "export", str(target))
    assert done.code != 0
    assert "is damaged" in done.err
    assert not target.exists()


def test_the_command_line_exports_from_a_day_on(talked: Path, tmp_path: Path) -> None:
    done = talaria(talked, "turns", "export", str(tmp_path / "a"), "--since", "2026-11-01")
    assert done.out == f"Wrote 1 conversation to {tmp_path / 'a'}.\n"
    done = talaria(talked, "turns", "export", str(tmp_path / "b"), "--since", "yesterday")
    assert done.code == 2
    assert "'yesterday' is not a date like 2026-11-01" in done.err
