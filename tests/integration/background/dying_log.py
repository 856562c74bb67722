"""A process of its own that writes the session log, and is killed at the line of a turn."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from agent_core.agent.replay.session_log import SESSION_LOG_TASK, LogFiles, SessionLog
from agent_core.state.engine.database import Database
from agent_core.state.queues import tasks
from agent_core.tools.secret_scan import SecretMask

MOMENTS = ("before", "torn", "after")
_KILLED_AT = 2
"""The line that is not finished."""


@dataclass(frozen=True, kw_only=True)
class DyingFiles(LogFiles):
    """Kills the process before, within or after its second line."""

    moment: str

    def append(self, slug: str, session: int, line: str) -> None:
        path = self.folder / "people" / slug / f"{session}.jsonl"
        is_last = path.exists() and path.read_bytes().count(b"\n") == _KILLED_AT - 1
        if is_last and self.moment == "torn":
            with path.open("a", encoding="utf-8") as file:
                file.write(line[: len(line) // 2])
        if not is_last or self.moment == "after":
            super().append(slug, session, line)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(home: Path, moment: str) -> None:
    database = await Database.open(home / "state.db")
    files = DyingFiles(folder=home / "sessions", most_bytes=10**6, kept=1, moment=moment)
    log = SessionLog(database, files, SecretMask(), asyncio.Lock())
    queue, later = tasks.Queue(kinds=(SESSION_LOG_TASK,)), 10**14
    while task := await database.write("take", lambda c: tasks.take_due(c, queue=queue, now=later)):
        await log.apply(task)
        done = task.id
        await database.write("done", lambda c, done=done: tasks.finish(c, task_id=done))
