"""The metrics: for the token only, in Prometheus's format, and right."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import incidents
from agent_core.state.queues.incidents import Details
from gateway.interfaces.http.metrics import CONTENT_TYPE, Metrics
from tests.integration.served import Served, served

DASHBOARD = Path(__file__).resolve().parents[3] / "docs" / "grafana-dashboard.json"
Labels = frozenset[tuple[str, str]]
Samples = dict[tuple[str, Labels], float]


@pytest.fixture
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("h") / "home") as found:
        yield found


def parse(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def scrape(harness: Served) -> Samples:
    headers = {"Authorization": f"Bearer {harness.token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(harness.address / "metrics", headers=headers) as answer,
    ):
        assert (answer.status, answer.headers["Content-Type"]) == (200, CONTENT_TYPE)
        return parse(await answer.text())


async def test_only_the_token_opens_them(harness: Served) -> None:
    async with aiohttp.ClientSession() as session:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            async with session.get(harness.address / "metrics", headers=headers) as answer:
                assert answer.status == 401


async def test_they_show_platforms_queues_and_the_store(harness: Served) -> None:
    found = await scrape(harness)
    assert found["talaria_platform_connected", frozenset({("platform", "console")})] == 1
    for name in ("messages_owed", "messages_undelivered", "messages_unreadable", "turns_running"):
        assert found[f"talaria_{name}", frozenset()] == 0
    assert found["talaria_store_up", frozenset()] == 1
    assert found["talaria_database_bytes", frozenset()] >= 4096
    assert ("talaria_backup_age_seconds", frozenset()) not in found


async def test_incidents_are_counted_by_kind_until_they_are_over(harness: Served) -> None:
    database = harness.gateway.database
    metrics = Metrics(harness.gateway)

    name = harness.gateway.settings.model.name
    details: Details = {"reason": "model_denied", "detail": "x", "after": 2**40}
    await database.write(
        "test",
        lambda c: incidents.begin(c, kind="model", subject=name, details=details, now=1),
    )
    assert await count_incidents(metrics) == {"model": 1}
    await database.write("test", lambda c: incidents.mark_told(c, now=2))
    await database.write("test", lambda c: incidents.end(c, kind="model", subject=name, now=3))
    assert await count_incidents(metrics) == {}


async def count_incidents(metrics: Metrics) -> dict[str, float]:
    found = parse((await metrics.scrape()).decode())
    return {
        dict(labels)["kind"]: value
        for (name, labels), value in found.items()
        if name == "talaria_incidents"
    }


async def test_the_dashboard_shows_every_metric_and_no_other(harness: Served) -> None:
    backups = harness.gateway.settings.home / "backups"
    backups.mkdir(exist_ok=True)
    backups.joinpath("nightly-20261121T110000Z.tar.gz").touch()
    text = (await Metrics(harness.gateway).scrape()).decode()
    offered = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families(text)
    }
    shown = set(re.findall(r"\btalaria_\w+", DASHBOARD.read_text("utf-8")))
    assert shown == offered


def test_the_dashboard_has_a_query_in_each_panel_and_no_panel_hides_another() -> None:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    assert all(target["expr"] for panel in panels for target in panel["targets"])
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24, "Grafana has 24 columns"


async def test_each_call_counts_once_whoever_asks(harness: Served) -> None:
    metrics = Metrics(harness.gateway)
    await record(harness, 5)
    assert read_calls(await metrics.scrape()) == {}, "the counters begin with the first scrape"
    await record(harness, 2)
    assert read_calls(await metrics.scrape()) == {"chat": (2, 20, 10, 0.5)}
    assert read_calls(await metrics.scrape()) == {"chat": (2, 20, 10, 0.5)}
    await record(harness, 1)
    assert read_calls(await metrics.scrape()) == {"chat": (3, 30, 15, 0.75)}
    both = await asyncio.gather(metrics.scrape(), metrics.scrape())
    assert [read_calls(one)["chat"][0] for one in both] == [3, 3]


async def test_a_cost_is_counted_only_where_the_price_is_known(harness: Served) -> None:
    metrics = Metrics(harness.gateway)
    await metrics.scrape()
    await record(harness, 1, micro_dollars=None)
    names = {name for name, _ in parse((await metrics.scrape()).decode())}
    assert "talaria_model_calls_total" in names
    assert "talaria_cost_dollars_total" not in names
    await record(harness, 1)
    assert read_calls(await metrics.scrape()) == {"chat": (2, 20, 10, 0.25)}


def read_calls(text: bytes) -> dict[str, tuple[float, ...]]:
    """The counters by purpose: calls, tokens in and out, dollars."""
    found = parse(text.decode())
    names = ("model_calls", "input_tokens", "output_tokens", "cost_dollars")
    labels = {labels for name, labels in found if name == "talaria_model_calls_total"}
    return {
        dict(one)["purpose"]: tuple(found[f"talaria_{name}_total", one] for name in names)
        for one in labels
    }


async def record(harness: Served, number: int, *, micro_dollars: int | None = 250_000) -> None:
    """Record calls of a person, as turns do."""
    call = ModelCall(
        purpose="chat",
        model="m",
        input_tokens=4,
        cache_read_tokens=5,
        cache_write_tokens=1,
        output_tokens=5,
        micro_dollars=micro_dollars,
    )

    def work(connection: Connection) -> None:
        person = people.find_owner(connection) or people.insert(
            connection, slug="owner", name="Ada", role="owner", now=1
        )
        for _ in range(number):
            usage.insert(connection, call, person_id=person.id, turn_id=None, now=1)

    await harness.gateway.database.write("test", work)
