"""A gateway of its own that is killed while it sends an alert.

Run as `python -m tests.integration.scheduler.dying HOME`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from tests.fakes.chat import FakeChat
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import greeted
from tests.integration.scheduler.test_alerts import DOWN, GRACE, ON, START, looked, own


class DyingChat(FakeChat):
    """Kills the process when it is to send an alert."""

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if "other is disconnected" in message.text:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().send(message)


async def main(home: Path) -> None:
    clock, other = Clock(*START), FakeChat(name="other")
    others = {"other": other}
    async with running(
        home, greeted(), chat=DyingChat(), now=clock, others=others, **ON
    ) as harness:
        await own(harness)
        other.state = DOWN
        await looked(harness)
        clock.move(harness, **GRACE)
        await asyncio.sleep(45)  # the kill comes before


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
