"""Gateways whose model servers are odd."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.app.timings import Timings
from gateway.turns.presenter import PresenterTimings
from tests.emulators.dialects import NEXT, DialectServer
from tests.emulators.raw_answers import POISON, RawAnswer, RawServer
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.stage import Harness, Stage

PACE = 0.005
"""Test seconds per second of an outage."""
QUICK = Timings(alerts=0.02, outage_pace=PACE, display=PresenterTimings(first_outage=20 * PACE))
NO_REVIEWS = {"TALARIA_LEARNING__TURNS": "0", "TALARIA_LEARNING__STEPS": "0"}
"""Only the chat's own requests reach the server."""
AT_MOST = 60.0
"""Seconds for all that one raw answer leads to, on a busy machine."""
FIRST = "hello, my cat is called Mimi"


def make_settings(server: DialectServer, api: str) -> dict[str, Any]:
    return {
        **NO_REVIEWS,
        "TALARIA_MODEL__PROVIDER": api,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "ANTHROPIC_BASE_URL": server.url,
    }


@dataclass
class World:
    """An open gateway whose model server sends raw answers."""

    api: str
    stage: Stage
    server: RawServer
    harness: Harness
    count: int = 0

    async def check(self, answer: RawAnswer, most: int = 1) -> str:
        """Let one person meet a raw answer while another writes; return what they read."""
        self.count += 1
        async with asyncio.timeout(AT_MOST):
            if self.count % 8 == 1:
                await self.harness.ask(ANNA, "/new")
                assert await self.harness.ask(ANNA, FIRST) == NEXT
            self.server.sent = 0
            self.server.plan(answer, most)
            telegram = self.stage.telegram
            before = len(telegram.messages(BEN))
            await telegram.says(BEN, f"hello {self.count}")
            said = await self.harness.ask(ANNA, f"{POISON} {self.count}")
            self.server.answer = None
            assert [one.text for one in telegram.messages(BEN)[before:]] == [NEXT]
            assert said, "silence"
            assert "Something went wrong" not in said
            following = await self.harness.ask(ANNA, f"and then {self.count}?")
        assert following.startswith(NEXT), following
        last = json.dumps(self.server.requests[-1])
        assert "Mimi" in last, "an earlier message is lost"
        return said


@asynccontextmanager
async def open_world(home: Path, api: str) -> AsyncIterator[World]:
    given: dict[str, Any] = {
        "TALARIA_LEARNING__TURNS": "0",
        "TALARIA_LEARNING__STEPS": "0",
        "TALARIA_MODEL__PROVIDER": api,
        "TALARIA_MODEL__TIMEOUT": "1",
    }
    async with Stage(home) as stage, RawServer() as server:
        given |= {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}
        async with stage.open(timings=QUICK, **given) as harness:
            yield World(api, stage, server, harness)


def measure_memory() -> int:
    """Return the resident bytes of this process."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096
