"""A kill within `/forget` or `/export`: the next start completes it, and nothing stays."""

import sqlite3
from contextlib import closing

import pytest

from tests.faults.deployment import Deployment, Process
from tests.patience import until

ANNA = 4711
SAID = 22
"""More messages than one transaction removes."""
POINTS = (
    "begin:forget.messages:1",
    "committed:forget.messages:1",
    "committed:forget.messages:2",
    "begin:forget.traces:1",
    "begin:data_requests.done:1",
    "committed:data_requests.done:1",
    "committed:index.merge:1",
    "begin:scrub.done:1",
)
LINES = ("I'm working on it", "Searching", "Deleting", "Packing")


def count(deployment: Deployment, sql: str) -> int:
    with closing(sqlite3.connect(deployment.home / "state.db")) as connection:
        (found,) = connection.execute(sql).fetchone()
    return int(found)


def shows(deployment: Deployment, words: str) -> bool:
    return any(words in text for text in deployment.telegram.texts(ANNA))


async def say_much(deployment: Deployment, *kills: str) -> Process:
    process = await deployment.open_process(*kills)
    await process.ready()
    deployment.telegram.user(ANNA)
    for number in range(SAID):
        await deployment.telegram.says(ANNA, f"hello lisbon, bluefish{number}")
    sql = "SELECT COUNT(*) FROM messages WHERE text LIKE '%bluefish%'"
    await until(lambda: count(deployment, sql) == SAID)
    await until(lambda: not count(deployment, "SELECT COUNT(*) FROM turns WHERE state = 'running'"))
    return process


async def survive_a_kill_while_forgetting(deployment: Deployment, point: str) -> None:
    process = await say_much(deployment, point)
    await deployment.telegram.says(ANNA, "/forget lisbon")
    await until(lambda: shows(deployment, "What should I delete?"))
    await deployment.telegram.presses(ANNA, "Notes and messages")
    await process.died()
    await deployment.telegram.says(ANNA, "what is new?")
    process = await deployment.open_process()
    await until(lambda: shows(deployment, "Deleted:"))
    left = "SELECT COUNT(*) FROM meta WHERE key = 'scrub' OR key LIKE 'owed:%'"
    await until(lambda: not count(deployment, left))
    process.terminate()
    await process.died()
    assert not any(text.startswith(LINES) for text in deployment.telegram.texts(ANNA))
    assert sum("Deleted:" in text for text in deployment.telegram.texts(ANNA)) == 1
    for path in deployment.home.rglob("*"):
        assert not path.is_file() or b"bluefish" not in path.read_bytes(), path


async def test_a_removal_survives_a_kill(deployment: Deployment) -> None:
    await survive_a_kill_while_forgetting(deployment, "committed:forget.messages:1")


@pytest.mark.thorough
@pytest.mark.parametrize("point", POINTS)
async def test_a_removal_survives_a_kill_at_each_of_its_commits(
    deployment: Deployment, point: str
) -> None:
    await survive_a_kill_while_forgetting(deployment, point)


async def test_an_export_survives_a_kill(deployment: Deployment) -> None:
    process = await say_much(deployment)
    await deployment.telegram.says(ANNA, "/export")
    await until(lambda: list(deployment.home.glob(".export-*")))
    process.kill()
    await process.died()
    process = await deployment.open_process()
    await until(lambda: shows(deployment, "This is everything I have about you."))
    process.terminate()
    await process.died()
    texts = deployment.telegram.texts(ANNA)
    assert sum("This is everything" in text for text in texts) == 1
    assert not any(text.startswith(LINES) for text in texts)
    assert list(deployment.home.glob(".export-*")) == []
