"""The health report of a running gateway, for monitors."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from adapters.contract import Health
from agent_core.errors import StoreError
from agent_core.memory.external.client import ExternalMemory
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import inbox, outbox
from gateway.app.gateway import Gateway

_VERSION = version("talaria")
_PROBE = "health.probe"


async def examine(gateway: Gateway) -> tuple[bool, Mapping[str, Any]]:
    """Return whether the gateway is healthy, and the report.

    It is healthy if every enabled platform is connected and the store is writable.
    """
    platforms = gateway.platforms.health()
    counts, fault = await _look_into(gateway.database)
    now = time.monotonic()
    problems = [
        f"{name} is {health.state}{f': {health.detail}' if health.detail else ''}"
        for name, health in platforms.items()
        if health.state != "connected"
    ]
    if fault:
        problems.append(f"the store is failing: {fault}")
    report = {
        "status": "failing" if problems else "ok",
        "problems": problems,
        "version": _VERSION,
        "uptime_seconds": round(now - gateway.started, 1),
        "model": f"{gateway.settings.model.provider}: {gateway.settings.model.name}",
        "platforms": {name: _describe(health, now) for name, health in platforms.items()},
        "store": {"state": "failing" if fault else "ok", "detail": fault},
        "outside_memory": await _describe_outside(gateway.external_memory),
        "turns_running": len(gateway.lanes),
        **counts,
    }
    return not problems, report


async def _look_into(database: Database) -> tuple[dict[str, int | None], str]:
    """Return counts of queued and failed work, and the store's error, if any."""

    def count(connection: Connection) -> dict[str, int | None]:
        return {
            "owed": outbox.count(connection, state="owed"),
            "undelivered": outbox.count(connection, state="dead"),
            "unreadable": inbox.count_dead(connection),
        }

    counts: dict[str, int | None] = {"owed": None, "undelivered": None, "unreadable": None}
    try:
        counts = await database.read(count)
        if database.failure():
            # The last write failed. Try another one: the store may work again.
            await database.write(_PROBE, meta.put, key=_PROBE, value=str(time.time_ns()))
    except StoreError as error:
        return counts, database.failure() or str(error)
    return counts, database.failure()


async def _describe_outside(external_memory: ExternalMemory | None) -> dict[str, Any] | None:
    """Describe the external memory. Its outage does not make the gateway unhealthy."""
    if external_memory is None:
        return None
    try:
        return asdict(await external_memory.report())
    except StoreError:
        return asdict(external_memory.describe(()))


def _describe(health: Health, now: float) -> dict[str, Any]:
    alive_at = health.alive_at
    return {
        "state": health.state,
        "detail": health.detail,
        "seconds_since_alive": None if alive_at is None else round(now - alive_at, 1),
    }
