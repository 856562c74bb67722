"""A process that forks lives of a gateway: each plays steps with approvals, and may be killed.

An order goes in as a line of JSON. Out come `born PID`, and `over` with the status when the life
has ended. A life opens the database, answers and uses approvals as the gateway does, and notes each
effect right after the approval was used.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.engine.database import Database
from agent_core.tools.policy.approval_requests import USE_WITHIN
from tests.agent_core.state.conversations.approval_requests import ANA, REQUESTS


@dataclass(frozen=True, slots=True)
class Order:
    """What a life does: steps of (verb, request, time), and the point at which it kills itself.

    There are three points in each step: before it, after its commit, and after its effect.
    """

    folder: str
    steps: list[tuple[str, int, int]]
    killed_at: int


def serve() -> None:
    """Fork a life for each line, until the input ends."""
    for line in sys.stdin:
        order = Order(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            asyncio.run(_live(order))
            os._exit(0)
        print(f"born {pid}", flush=True)
        _, status = os.waitpid(pid, 0)
        print(f"over {os.waitstatus_to_exitcode(status)}", flush=True)


async def _live(order: Order) -> None:
    folder, points = Path(order.folder), iter(range(3 * len(order.steps)))

    def pass_point() -> None:
        if next(points) == order.killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    database = await Database.open(folder / "state.db")
    for verb, number, now in order.steps:
        request = REQUESTS[number]
        pass_point()
        if verb == "allow":
            new = NewApproval(
                person_id=request.person_id,
                decided_by=ANA,
                scope="once",
                subject=request.digest,
                expires_at=now + USE_WITHIN,
            )
            await database.write("allow", lambda c, n=new, t=now: approvals.insert(c, n, now=t))
            pass_point()
        else:
            owner, digest = request.person_id, request.digest
            used = await database.write(
                "use",
                lambda c, p=owner, d=digest, t=now: approvals.use(c, person_id=p, digest=d, now=t),
            )
            pass_point()
            if used:
                _note(folder / "effects", f"{number} {now}\n")
        _note(folder / "done", ".")
        pass_point()
    await database.close()


def _note(path: Path, text: str) -> None:
    """Add to a file in one write, which a kill can't cut."""
    with path.open("ab", buffering=0) as file:
        file.write(text.encode())


if __name__ == "__main__":
    serve()
