"""`talaria models`, and limits in dollars on models without a price."""

import json
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agent_core.ids import PersonId
from agent_core.models.profiles import Profiles
from agent_core.schedule.job_editor import InvalidJob, JobOwner, JobRequest, draft_job
from agent_core.schedule.triggers import read_every
from agent_core.state.engine.database import Database
from agent_core.state.jobs.jobs import Options
from gateway.app.job_rules import make_rules
from gateway.app.settings import load
from gateway.home import DATABASE
from tests.integration.processes import free_port, talaria, talaria_beside

LOCAL = {
    "TALARIA_MODEL__PROVIDER": "openai",
    "TALARIA_MODEL__NAME": "qwen3:8b",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
}


def complete() -> str:
    """A complete table in which a model has another price than in the package's."""
    entry = {"litellm_provider": "openai", "mode": "chat", "output_cost_per_token": 9e-06}
    many = {f"model-{number}": entry | {"input_cost_per_token": 1e-06} for number in range(60)}
    return json.dumps(many | {"gpt-5-mini": entry | {"input_cost_per_token": 7e-06}})


OPENAI = {"OPENAI_API_KEY": "key", "TALARIA_MODEL__CHOICES": "openai:my-own"}


def test_prices_come_with_the_package_and_unknown_ones_say_so(tmp_path: Path) -> None:
    done = talaria(tmp_path, "models", "list", **OPENAI)
    assert "gpt-5-mini: $0.25 per million tokens read, $2.00 per million written" in done.out
    assert "openai:my-own: price unknown" in done.out


async def test_what_was_learned_of_models_is_listed_and_forgotten(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / DATABASE)
    profiles = Profiles()
    await profiles.open(database)
    server = LOCAL["OPENAI_BASE_URL"]
    learned = {"takes_tools": False, "most_tokens": 4096, "fills": ["a", "b"]}
    await profiles.learn(server, "qwen3:8b", learned)
    await profiles.learn(server, "qwen3:8b", {"mode": "guided", "novel": 7}, "owner")
    await database.close()
    done = await talaria_beside(tmp_path, "models", **LOCAL)
    assert f"qwen3:8b: free, as it runs on this machine\n  At {server}:\n" in done.out
    for words in ("  takes no tools (learned on", "at most 4096 tokens (", "  wants a, b in each"):
        assert words in done.out
    assert "  works in the guided mode (set by an owner on " in done.out
    assert "  novel: 7 (set by an owner on " in done.out
    other = await talaria_beside(tmp_path, "models", **OPENAI)
    assert "Known of other models:\nqwen3:8b, at " in other.out
    wrong = await talaria_beside(tmp_path, "models", "forget", "qwen3:80b", **LOCAL)
    assert "did you mean qwen3:8b?" in wrong.err
    gone = await talaria_beside(tmp_path, "models", "forget", "openai:qwen3:8b", **LOCAL)
    assert "  takes no tools (" in gone.out
    after = await talaria_beside(tmp_path, "models", "list", **LOCAL)
    assert "takes no tools" not in after.out


async def test_an_update_replaces_the_prices(tmp_path: Path) -> None:
    async def serve(_: web.Request) -> web.Response:
        return web.Response(text=complete())

    application = web.Application()
    application.router.add_get("/table.json", serve)
    async with TestServer(application) as server:
        address = str(server.make_url("/table.json"))
        done = await talaria_beside(tmp_path, "models", "update", "--from", address)
    assert done.code == 0, done.err
    assert "61 prices were written" in done.out
    assert (
        "gpt-5-mini: $7.00 per million tokens read"
        in talaria(tmp_path, "models", "list", **OPENAI).out
    )
    own = {"TALARIA_COST__PRICES": "gpt-5-mini in=1 out=2 date=2026-11-01"}
    assert (
        "gpt-5-mini: $1.00 per million tokens read"
        in talaria(tmp_path, "models", "list", **OPENAI, **own).out
    )


def test_a_failed_update_keeps_the_prices(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    done = talaria(tmp_path, "models", "update", "--from", "~nobody-here/p.json")
    assert done.err.endswith(": there is no home directory for ~nobody-here/p.json.\n")
    done = talaria(tmp_path, "models", "update", "--from", str(wrong))
    assert done.code == 1
    assert "The prices were not updated" in done.err
    assert not (tmp_path / "models.json").exists()


UNKNOWN = {"OPENAI_API_KEY": "key", "TALARIA_MODEL__NAME": "my-own"}


@pytest.mark.parametrize("name", ["PERSON_DAY_USD", "HOUSE_DAY_USD"])
def test_a_daily_limit_in_dollars_without_a_price_is_refused(tmp_path: Path, name: str) -> None:
    limit = {f"TALARIA_COST__{name}": "0.00001", "TALARIA_HTTP__PORT": str(free_port())}
    done = talaria(tmp_path, "run", **UNKNOWN, **limit)
    assert done.code == 2
    assert f"cost.{name.lower()} is set, but the price of my-own is unknown" in done.err


@pytest.mark.parametrize("setting", ["FALLBACKS", "CHEAP", "CHOICES"])
def test_a_limit_in_dollars_is_for_every_configured_model(tmp_path: Path, setting: str) -> None:
    chain = {"OPENAI_API_KEY": "key", f"TALARIA_MODEL__{setting}": "openai:my-own"}
    chain |= {"TALARIA_TURNS__MAX_COST_USD": "1", "TALARIA_HTTP__PORT": str(free_port())}
    done = talaria(tmp_path, "run", **chain)
    assert done.code == 2
    said = "turns.max_cost_usd is set, but the price of openai:my-own is unknown"
    assert said in done.err


FALLBACK = {"OPENAI_API_KEY": "key", "TALARIA_MODEL__FALLBACKS": "openai:my-own"}


@pytest.mark.parametrize("models", [UNKNOWN, FALLBACK])
def test_a_daily_limit_of_a_job_without_a_price_is_refused(
    tmp_path: Path, models: dict[str, str]
) -> None:
    rules = make_rules(load({"TALARIA_HOME": str(tmp_path), **models}))
    wish = JobRequest(
        body="weather", timing=read_every(3600, 0), options=Options(day_micro_dollars=10)
    )
    whose = JobOwner(person_id=PersonId(1), room_id=None, actor="test")
    with pytest.raises(InvalidJob, match="price of the model is unknown"):
        draft_job(wish, whose, zone="UTC", rules=rules, now=0)
    free = make_rules(load({"TALARIA_HOME": str(tmp_path), **LOCAL}))
    assert draft_job(wish, whose, zone="UTC", rules=free, now=0), "it costs nothing"
