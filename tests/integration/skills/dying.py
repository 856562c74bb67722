"""A gateway of its own that tests a skill, and is killed at a call of the model on the way.

Run as `python -m tests.integration.skills.dying HOME CALL`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.fakes.model import Play
from tests.integration.harness import running
from tests.integration.skills.test_tests import (
    GAIN,
    SOON,
    use_it,
    working,
    write_it,
)


async def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(home: Path, number: int) -> None:
    plays: list[Play] = [*GAIN[:number], [die]]
    async with running(home, working(*plays), timings=SOON) as harness:
        await write_it(harness)
        await use_it(harness)
        await asyncio.sleep(45)  # the kill comes before


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
