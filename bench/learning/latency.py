"""What learning adds to a turn: `python -m bench.learning.latency [turns]`.

Two gateways in one process answer in turn: one learns by default, the other never. A turn is
measured from the person's message to the shown answer; the next one begins at once, so that a
review which delayed anybody would be seen. The model answers at once, reviews included.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import Harness, running

_WARM = 20
"""First turns, which are not counted."""


class _Answering(FakeModel):
    """Answers every request at once; a review claims the newest message."""

    def __init__(self) -> None:
        super().__init__()
        self.reviews = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if any(one.name == "judge" for one in request.tools):
            pass  # the fake agrees by itself
        elif request.system.startswith("You review"):
            self.reviews += 1
            given = {"target": "user", "text": f"Owns boat {self.reviews}", "message": 1}
            self.plays.append(ask(call("memory", json.dumps(given | {"quote": "I own boat"}))))
        else:
            self.plays.append(say("Fine."))
        async for piece in super().stream(request):
            yield piece


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.learning.latency", description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=400)
    asyncio.run(_measure(parser.parse_args().turns))


async def _measure(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="talaria-latency-") as folder:
        homes = [Path(folder) / name for name in ("with", "without")]
        for home in homes:
            home.mkdir()
        learner, other = _Answering(), _Answering()
        async with (
            running(
                homes[0], learner, TALARIA_LEARNING__TURNS="10", TALARIA_LEARNING__STEPS="10"
            ) as learning,
            running(homes[1], other) as idle,
        ):
            taken: dict[str, list[float]] = {"with": [], "without": []}
            for number in range(_WARM + count):
                for name, harness in (("with", learning), ("without", idle)):
                    seconds = await _ask(harness, f"I own boat number {number}.")
                    if number >= _WARM:
                        taken[name].append(seconds * 1000)
    for name, times in taken.items():
        times.sort()
        p99 = times[-max(len(times) // 100, 1)]
        print(f"{name:8} learning: p50 {statistics.median(times):6.2f} ms, p99 {p99:7.2f} ms")
    print(f"{learner.reviews} reviews ran")


async def _ask(harness: Harness, text: str) -> float:
    """Write, and return the seconds until the answer is shown."""
    count = len(harness.chat.shown)
    began = time.perf_counter()
    await harness.chat.says(text)
    await harness.until(lambda: any(shown.text == "Fine." for shown in harness.chat.shown[count:]))
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
