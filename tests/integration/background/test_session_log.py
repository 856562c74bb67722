"""The session log: a line for each turn, exactly once, and nothing of what people deleted."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_core.agent.replay.session_log import SESSION_LOG_TASK, LogFiles
from agent_core.state.engine.database import now as wall_clock
from gateway.texts import privacy
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount
from tests.integration.background import dying_log
from tests.integration.harness import Harness, quick, running
from tests.integration.privacy.deletions import settled
from tests.integration.processes import be_killed
from tests.patience import PATIENCE

ON = {"TALARIA_SESSION_LOG__ENABLED": "true"}
SOON = replace(quick(), task_poll=0.02)
SECRET = "ghp_" + "a1B2" * 9


def read(home: Path, slug: str) -> list[dict[str, Any]]:
    """Return the documents of a person, in the order in which their turns ended."""
    folder = home / "sessions" / "people" / slug
    lines = [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return sorted(lines, key=lambda line: line["turn"])


def said(document: dict[str, Any]) -> list[str]:
    """Return the texts of a turn, without the facts in front of them."""
    return [
        part["text"]
        for message in document["messages"]
        for part in message["parts"]
        if part.get("text") and not part.get("is_fact")
    ]


async def logged(harness: Harness) -> None:
    """Return once every ended turn has its line."""
    query = "SELECT COUNT(*) FROM tasks WHERE kind = ? AND state <> 'done'"
    async with asyncio.timeout(PATIENCE):
        while await harness.read(lambda c: c.execute(query, (SESSION_LOG_TASK,)).fetchone()[0]):
            await asyncio.sleep(0.02)


def answers(count: int) -> FakeModel:
    return FakeModel(*(say(f"Answer {number}.") for number in range(1, count + 1)))


def two(harness: Harness) -> tuple[ChatAccount, ChatAccount]:
    return ChatAccount(harness, "1", "Ana"), ChatAccount(harness, "2", "Ben")


async def test_every_turn_of_every_person_is_a_document(tmp_path: Path) -> None:
    async with running(tmp_path, answers(4), timings=SOON, **ON) as harness:
        ana, ben = two(harness)
        await ana.says("one")
        await ben.says("two")
        await ana.says(f"the key is {SECRET}")
        await ana.says("/new")
        await ana.says("four")
        await logged(harness)
    mine = read(tmp_path, "ana")
    assert [said(one)[-1] for one in mine] == ["Answer 1.", "Answer 3.", "Answer 4."]
    assert [said(one)[-1] for one in read(tmp_path, "ben")] == ["Answer 2."]
    assert {one["state"] for one in mine} == {"answered"}
    assert mine[0]["session"] == mine[1]["session"] != mine[2]["session"]
    assert "the key is [hidden]" in "".join(said(mine[1]))
    folder = tmp_path / "sessions"
    assert SECRET not in "".join(path.read_text() for path in folder.rglob("*.jsonl"))
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)


async def test_nothing_is_written_without_the_setting(tmp_path: Path) -> None:
    async with running(tmp_path, answers(1), timings=SOON) as harness:
        ana, _ = two(harness)
        await ana.says("one")
        query = "SELECT COUNT(*) FROM tasks WHERE kind = ?"
        queued = await harness.read(lambda c: c.execute(query, (SESSION_LOG_TASK,)).fetchone()[0])
    assert queued == 0
    assert not (tmp_path / "sessions").exists()


@pytest.mark.process
@pytest.mark.parametrize("moment", dying_log.MOMENTS)
async def test_every_turn_is_there_once_after_a_kill(tmp_path: Path, moment: str) -> None:
    obstacle = tmp_path / "sessions"
    obstacle.write_text("")
    async with running(tmp_path, answers(3), timings=SOON, **ON) as harness:
        ana, _ = two(harness)
        for text in ("one", "two", "three"):
            await ana.says(text)
    obstacle.unlink()
    await be_killed(dying_log.main, tmp_path, moment)
    later = wall_clock() + 3_600_000
    async with running(tmp_path, answers(0), timings=SOON, now=lambda: later, **ON) as harness:
        await logged(harness)
    assert [said(one)[-1] for one in read(tmp_path, "ana")] == [
        "Answer 1.",
        "Answer 2.",
        "Answer 3.",
    ]


async def test_forget_removes_the_turns_with_the_words(tmp_path: Path) -> None:
    async with running(tmp_path, answers(4), timings=SOON, **ON) as harness:
        ana, ben = two(harness)
        for account in (ana, ben):
            await account.says("about a bluefish")
            await account.says("about the weather")
        await logged(harness)
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert [said(one)[-1] for one in read(tmp_path, "ana")] == ["Answer 2."]
        assert "bluefish" not in "".join(
            path.read_text() for path in (tmp_path / "sessions" / "people" / "ana").iterdir()
        )
        assert len(read(tmp_path, "ben")) == 2


async def test_erase_removes_the_folder_of_the_person(tmp_path: Path) -> None:
    async with running(tmp_path, answers(2), timings=SOON, **ON) as harness:
        owner, ben = two(harness)
        await owner.says("hello")
        await ben.says("hello")
        await logged(harness)
        await ben.says("/erase me")
        await ben.presses(privacy.ERASE_YES())
        await ben.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert [path.name for path in (tmp_path / "sessions" / "people").iterdir()] == ["ana"]


async def test_a_turn_in_a_group_is_with_who_asked(tmp_path: Path) -> None:
    room = {"chat": "room", "direct": False, "room_title": "Kitchen", "addressed": True}
    async with running(tmp_path, answers(3), timings=SOON, **ON) as harness:
        ana, ben = two(harness)
        await ana.says("hello")
        await ana.says("from ana", **room)
        await ben.says("from ben", **room)
        await logged(harness)
    mine, theirs = read(tmp_path, "ana")[1:], read(tmp_path, "ben")
    assert (len(mine), len(theirs)) == (1, 1)
    assert "from ana" in "".join(said(mine[0]))
    assert "from ana" not in "".join(said(theirs[0]))


async def test_a_link_leaves_the_lines_and_erase_finds_them_all(tmp_path: Path) -> None:
    async with running(tmp_path, answers(4), timings=SOON, **ON) as harness:
        owner, ben = two(harness)
        cem = ChatAccount(harness, "3", "Cem")
        for account in (owner, ben, cem):
            await account.says("hello")
        await ben.joins(cem)
        await cem.says("and again")
        await logged(harness)
        assert len(read(tmp_path, "ben")) == 2
        assert len(read(tmp_path, "cem")) == 1
        await ben.says("/erase me")
        await ben.presses(privacy.ERASE_YES())
        await ben.presses(privacy.ERASE_SURE())
        await settled(harness)
        assert [path.name for path in (tmp_path / "sessions" / "people").iterdir()] == ["ana"]


def test_a_full_file_is_rotated_and_the_oldest_go(tmp_path: Path) -> None:
    files = LogFiles(folder=tmp_path, most_bytes=100, kept=2)
    lines = [
        f'{{"turn":{number},"started_at":5,"state":"answered","text":"{"x" * 30}"}}'
        for number in range(9)
    ]
    for line in lines:
        files.append("ana", 7, line)
    files.append("ana", 7, lines[-2])  # in a full file
    folder = tmp_path / "people" / "ana"
    assert sorted(path.name for path in folder.iterdir()) == [
        "7.7.jsonl",
        "7.8.jsonl",
        "7.jsonl",
    ]
    assert [path.read_text().splitlines() for path in sorted(folder.iterdir())] == [
        [line] for line in lines[-3:]
    ]
