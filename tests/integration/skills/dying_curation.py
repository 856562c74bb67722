"""A gateway of its own whose curator is killed while its model answers.

Run as `python -m tests.integration.skills.dying_curation HOME`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs.test_skills import START, ZONE
from tests.integration.skills.test_curation import SOON, begin, working


async def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(home: Path) -> None:
    clock = Clock(*START)
    async with running(home, working([die]), now=clock, timings=SOON, **ZONE) as harness:
        await begin(harness, home)
        clock.move(harness, days=2)
        await asyncio.sleep(90)  # the kill comes before


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
