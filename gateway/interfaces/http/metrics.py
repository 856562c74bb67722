"""The metrics of a running gateway, in the format of Prometheus."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from agent_core.errors import StoreError
from agent_core.state.backups.places import find_newest
from agent_core.state.conversations import usage
from agent_core.state.conversations.usage import UsageLine
from agent_core.state.engine.database import Connection
from agent_core.state.queues import incidents
from agent_core.state.queues.incidents import Incident
from gateway.app.gateway import Gateway
from gateway.home import BACKUPS, DATABASE
from gateway.interfaces.health import examine

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_DOLLAR = 1_000_000
"""Micro-dollars in a dollar."""


class Metrics:
    """Reads the metrics for Prometheus. Counters begin at zero with the first scrape."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._newest: int | None = None
        self._totals: dict[tuple[str, str], list[float]] = {}
        self._priced: set[tuple[str, str]] = set()

    async def scrape(self) -> bytes:
        """Return the metrics as text. While the store fails, its numbers are missing or old."""
        _, report = await examine(self._gateway)
        found = [*_describe(report), *self._sizes()]
        with suppress(StoreError):  # `talaria_store_up` shows the failure
            found += _describe_incidents(await self._gateway.database.read(incidents.list_all))
            await self._count_calls()
        registry = CollectorRegistry()
        registry.register(_Snapshot([*found, *self._describe_calls()]))
        return generate_latest(registry)

    async def _count_calls(self) -> None:
        after = self._newest

        def work(connection: Connection) -> tuple[int, list[UsageLine]]:
            newest = usage.find_newest(connection)
            if after is None:
                return newest, []
            return newest, usage.list_after(connection, after=after, until=newest)

        newest, lines = await self._gateway.database.read(work)
        if self._newest != after:  # another scrape has already counted them
            return
        self._newest = newest
        for line in lines:
            total = self._totals.setdefault((line.model, line.purpose), [0.0] * 4)
            dollars = line.charged.micro_dollars / _DOLLAR
            if line.charged.known_micro_dollars is not None:
                self._priced.add((line.model, line.purpose))
            found = (line.calls, line.input_tokens, line.output_tokens, dollars)
            self._totals[line.model, line.purpose] = [
                old + new for old, new in zip(total, found, strict=True)
            ]

    def _describe_calls(self) -> Iterable[Metric]:
        names = (
            ("model_calls", "Calls of models."),
            ("input_tokens", "Tokens that models read, cached ones included."),
            ("output_tokens", "Tokens that models wrote."),
            ("cost_dollars", "Cost of calls with a known price, in US dollars."),
        )
        for place, (name, text) in enumerate(names):
            labels = ["model", "purpose"]
            metric = CounterMetricFamily(f"talaria_{name}", text, labels=labels)
            for (model, purpose), total in sorted(self._totals.items()):
                if name != "cost_dollars" or (model, purpose) in self._priced:
                    metric.add_metric([model, purpose], total[place])
            yield metric

    def _sizes(self) -> Iterable[Metric]:
        home = self._gateway.settings.home
        yield _gauge("database_bytes", "Size of state.db.", _size(home / DATABASE))
        newest = find_newest(home / BACKUPS)
        if newest:
            age = time.time() - newest[0] / 1000
            yield _gauge("backup_age_seconds", "Age of the newest backup.", age)


class _Snapshot(Collector):
    """The metrics of one scrape."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics."""
        return self._metrics


def _describe(report: Mapping[str, Any]) -> Iterable[Metric]:
    """Describe the health report: platforms, queues and the store."""
    info = GaugeMetricFamily("talaria_info", "The version.", labels=["version"])
    info.add_metric([report["version"]], 1)
    yield info
    yield _gauge("uptime_seconds", "Time since the start.", report["uptime_seconds"])
    yield _gauge("store_up", "1 while the store works.", report["store"]["state"] == "ok")
    yield _gauge("turns_running", "Turns that run or wait for their lane.", report["turns_running"])
    connected = GaugeMetricFamily(
        "talaria_platform_connected", "1 while a platform is connected.", labels=["platform"]
    )
    silence = GaugeMetricFamily(
        "talaria_platform_silence_seconds",
        "Time since a platform last showed that it is alive.",
        labels=["platform"],
    )
    for name, health in report["platforms"].items():
        connected.add_metric([name], health["state"] == "connected")
        if health["seconds_since_alive"] is not None:
            silence.add_metric([name], health["seconds_since_alive"])
    yield connected
    yield silence
    for name, text in (
        ("owed", "Messages that wait for their delivery."),
        ("undelivered", "Messages that could not be delivered."),
        ("unreadable", "Events of platforms that could not be read."),
    ):
        if report[name] is not None:
            yield _gauge(f"messages_{name}", text, report[name])


def _describe_incidents(found: Iterable[Incident]) -> Iterable[Metric]:
    """Describe open incidents by kind, as in the alerts to owners."""
    kinds = Counter(one.kind for one in found if one.ended_at is None)
    metric = GaugeMetricFamily(
        "talaria_incidents", "What owners have to repair, by kind.", labels=["kind"]
    )
    for kind, count in sorted(kinds.items()):
        metric.add_metric([kind], count)
    yield metric


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"talaria_{name}", text, value=float(value))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
