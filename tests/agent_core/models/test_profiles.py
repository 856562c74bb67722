"""What is known of a model: stored, of the source that holds, and tried again in time."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.models.profiles import Profiles
from agent_core.state import model_facts
from agent_core.state.engine.database import Database
from agent_core.state.model_facts import FactSource

SERVER, MODEL = "http://127.0.0.1:11434/v1", "qwen"
DAY = 86_400_000


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100 * DAY

    def __call__(self) -> int:
        return self.now


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "talaria.db")
    yield database
    await database.close()


async def opened(database: Database, clock: Clock) -> Profiles:
    """The profiles of a fresh process."""
    profiles = Profiles(clock)
    await profiles.open(database)
    return profiles


async def test_what_was_learned_is_known_after_a_restart(database: Database) -> None:
    clock = Clock()
    profiles = await opened(database, clock)
    await profiles.learn(SERVER, MODEL, {"takes_tools": False, "most_tokens": 4096})
    assert profiles.find(SERVER, MODEL).values == {"takes_tools": False, "most_tokens": 4096}
    later = await opened(database, clock)
    assert later.find(SERVER, MODEL).values == {"takes_tools": False, "most_tokens": 4096}
    assert not later.find("http://elsewhere/v1", MODEL).values
    assert not later.find(SERVER, "llama").values
    await later.learn(SERVER, MODEL, {"takes_tools": None})
    assert (await opened(database, clock)).find(SERVER, MODEL).values == {"most_tokens": 4096}


async def test_what_was_learned_is_tried_again_after_thirty_days(database: Database) -> None:
    clock = Clock()
    profiles = await opened(database, clock)
    await profiles.learn(SERVER, MODEL, {"takes_tools": False})
    await profiles.learn(SERVER, MODEL, {"mode": "guided"}, "fitness")
    clock.now += 29 * DAY
    assert profiles.find(SERVER, MODEL).values["takes_tools"] is False
    clock.now += 2 * DAY
    assert profiles.find(SERVER, MODEL).values == {"mode": "guided"}
    await profiles.learn(SERVER, MODEL, {"takes_tools": False})
    assert profiles.find(SERVER, MODEL).values["takes_tools"] is False


async def test_what_another_version_learned_is_tried_again(database: Database) -> None:
    clock = Clock()
    profiles = await opened(database, clock)
    await profiles.learn(SERVER, MODEL, {"takes_tools": False})
    await profiles.learn(SERVER, MODEL, {"mode": "unfit"}, "owner")
    for fact in await database.read(model_facts.list_all):
        await database.write("test", model_facts.put, replace(fact, version="0.0.1"))
    assert (await opened(database, clock)).find(SERVER, MODEL).values == {"mode": "unfit"}


async def test_an_owner_knows_better_than_a_test_and_a_test_than_an_answer() -> None:
    profiles = Profiles()
    words: list[tuple[FactSource, str]] = [
        ("owner", "tools"),
        ("fitness", "guided"),
        ("learned", "unfit"),
    ]
    for source, mode in words:
        await profiles.learn(SERVER, MODEL, {"mode": mode}, source)
    assert profiles.find(SERVER, MODEL).mode == "tools"
    await profiles.learn(SERVER, MODEL, {"mode": None}, "owner")
    assert profiles.find(SERVER, MODEL).mode == "guided"
    assert profiles.find(SERVER, MODEL).facts["mode"].source == "fitness"


async def test_a_forgotten_model_is_unknown(database: Database) -> None:
    clock = Clock()
    profiles = await opened(database, clock)
    await profiles.learn(SERVER, MODEL, {"takes_tools": False, "id_form": "nine"})
    await profiles.learn(SERVER, "other", {"takes_tools": False})
    gone = await profiles.forget(profiles.find(SERVER, MODEL))
    assert {fact.kind for fact in gone} == {"takes_tools", "id_form"}
    for known in (profiles, await opened(database, clock)):
        assert not known.find(SERVER, MODEL).values
        assert [profile.model for profile in known.list_known()] == ["other"]
