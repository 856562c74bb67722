"""Long-running commands: their start, output, limits and end.

They end with the gateway. The next gateway process reports each of them as lost, once.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent_core.errors import BackendUnavailable, StoreError, ToolArgumentError, WorkspaceError
from agent_core.execution.contract import Backend, Command, Process
from agent_core.ids import PersonId, ProcessId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import processes
from agent_core.state.jobs.processes import NewProcess, ProcessRow
from agent_core.state.queues import inbox
from agent_core.tools.workspace.command_log import CommandLog
from agent_core.tools.workspace.output import describe_refusals

PROCESS_EVENTS = "process"
"""The inbox platform of events about commands; the payload lists the commands' ids."""
LOGS = ".processes"
"""The workspace folder that holds their outputs."""
KILLED = "killed"
"""The reason for the end of a command that `process` killed."""
_SAVE = 2.0
"""Seconds between two writes of a growing output to its file."""

_MUCH, _PAUSE = 32_768, 0.01
"""After so many bytes at once, the seconds until the next reading: a command that only writes, such
as `yes`, would keep the event loop busy for as long as it runs.
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundLimits:
    """The most running commands per person, and the seconds that each of them may take."""

    most: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class _Running:
    """A running command; `process` is None while it starts."""

    workspace: str
    log: CommandLog
    process: Process | None = None
    reason: str = ""


def name_log(process_id: ProcessId) -> str:
    """Return the path of an output in its person's workspace."""
    return f"{LOGS}/p{process_id}.log"


class BackgroundCommands:
    """The long-running commands of all people."""

    def __init__(
        self,
        database: Database,
        backend: Backend,
        limits: BackgroundLimits,
        now: Callable[[], int],
    ) -> None:
        self.limits = limits
        self.has_news = asyncio.Event()
        """Set when a conversation has to learn that a command ended."""
        self._database = database
        self._backend = backend
        self._now = now
        self._running: dict[ProcessId, _Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._recording = asyncio.Lock()

    async def start(
        self, command: Command, text: str, new: NewProcess, person_id: PersonId
    ) -> ProcessId:
        """Start a command; `text` is the command as its person or model wrote it.

        Raises `ToolArgumentError` if the person has too many commands, and the backend's errors.
        """
        running = _Running(workspace=command.workspace, log=CommandLog(text))
        async with self._recording:
            process_id = await self._database.write("processes.start", self._record, new, person_id)
            self._running[process_id] = running
        try:
            process = await self._backend.start(command)
        except BaseException:
            del self._running[process_id]
            await asyncio.shield(
                self._database.write("processes.drop", processes.drop, process_id=process_id)
            )
            raise
        running.process = process
        self._keep(self._supervise(process_id, running, process))
        return process_id

    def _record(self, connection: Connection, new: NewProcess, person_id: PersonId) -> ProcessId:
        mine = processes.list_of_person(connection, person_id=person_id)
        count = sum(one.state == "running" for one in mine)
        if count >= self.limits.most:
            raise ToolArgumentError(
                f"{count} commands run in the background already; wait for one with `process`, or"
                " kill it"
            )
        return processes.insert(connection, process=new, person_id=person_id, now=self._now())

    async def find(self, process_id: ProcessId, person_id: PersonId) -> ProcessRow | None:
        """Return a command of a person."""
        return await self._database.read(processes.find, process_id=process_id, person_id=person_id)

    async def list(self, person_id: PersonId) -> Sequence[ProcessRow]:
        """List the commands of a person, newest first."""
        return await self._database.read(processes.list_of_person, person_id=person_id)

    def find_log(self, process_id: ProcessId) -> CommandLog | None:
        """Return the output of a running command; None after its end."""
        running = self._running.get(process_id)
        return running.log if running else None

    async def write(self, process_id: ProcessId, data: bytes) -> None:
        """Send input, or close the input if it is b""; may wait until the command reads.

        Raises `WorkspaceError` if the command no longer reads.
        """
        running = self._running.get(process_id)
        if running is None or running.process is None:
            raise WorkspaceError("the command has ended")
        await running.process.write(data)

    async def kill(self, process_id: ProcessId) -> None:
        """Kill a command, and wait until its end is recorded; no turn reports that end."""
        running = self._running.get(process_id)
        if running and running.process:
            running.reason = KILLED
            await running.process.kill()
            await running.log.over.wait()

    async def recover(self) -> None:
        """Mark the commands of an earlier process as lost. Raises `StoreError`."""
        async with self._recording:
            if await self._database.write("processes.lose", self._lose):
                self.has_news.set()

    def _lose(self, connection: Connection) -> bool:
        now = self._now()
        lost = processes.lose(connection, known=list(self._running), now=now)
        lost.sort(key=lambda one: one.conversation_id)
        for _, group in groupby(lost, key=lambda one: one.conversation_id):
            _store_event(connection, [one.id for one in group], f"lost:{now}", now)
        return bool(lost)

    async def close(self) -> None:
        """Kill every command; the next start reports them as lost."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def kill_erased(self) -> None:
        """Kill the commands of an erased person, in the background."""
        self._keep(self._kill_erased())

    async def _kill_erased(self) -> None:
        ids = list(self._running)
        kept = await self._database.read(processes.find_any, process_ids=ids)
        for process_id in set(ids) - {row.id for row, _ in kept}:
            running = self._running.get(process_id)
            if running and running.process:
                await running.process.kill()

    def _keep(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _supervise(self, process_id: ProcessId, running: _Running, process: Process) -> None:
        """Collect a command's output, and record its end."""
        status: int | None = None
        reason = ""
        reading = asyncio.create_task(_collect(process, running.log))
        waiting = asyncio.create_task(process.wait())
        try:
            try:
                async with asyncio.timeout(self.limits.seconds):
                    while (await asyncio.wait((reading, waiting), timeout=_SAVE))[1]:
                        await self._save(process_id, running)
                reason = waiting.result().limit
            except TimeoutError:
                reason = "time"
            except BackendUnavailable as error:
                _log.error("background command %d was lost: %s", process_id, error)
                reason = "backend"
            finally:
                await process.kill()
                await asyncio.wait((reading, waiting))
            if not waiting.exception():
                status = waiting.result().status
                for line in describe_refusals(waiting.result().refusals):
                    running.log.add(f"{line}\n".encode())
            await self._save(process_id, running)
            await self._database.retry_while_unavailable(
                lambda: self._end(process_id, status, running.reason or reason),
                "the end of a background command",
            )
        except StoreError:
            _log.exception("the end of background command %d is not recorded", process_id)
        finally:
            del self._running[process_id]
            running.log.close()

    async def _end(self, process_id: ProcessId, status: int | None, reason: str) -> None:
        def work(connection: Connection) -> bool:
            now = self._now()
            ended = processes.end(
                connection, process_id=process_id, status=status, reason=reason, now=now
            )
            if ended is None or not ended.wants_note or reason == KILLED:
                return False
            _store_event(connection, [process_id], f"end:{ended.started_at}", now)
            return True

        if await self._database.write("processes.end", work):
            self.has_news.set()

    async def _save(self, process_id: ProcessId, running: _Running) -> None:
        """Save an output; if that fails, try again at the next save."""
        if running.log.is_saved:
            return
        running.log.is_saved = True
        data = running.log.dump()
        try:
            await self._backend.write_file(running.workspace, name_log(process_id), data)
        except (WorkspaceError, BackendUnavailable) as error:
            running.log.is_saved = False
            _log.info(
                "the output of background command %d can't be saved yet: %s", process_id, error
            )


async def _collect(process: Process, log: CommandLog) -> None:
    while piece := await process.read():
        log.add(piece)
        if len(piece) >= _MUCH:
            await asyncio.sleep(_PAUSE)


def _store_event(connection: Connection, ids: Sequence[ProcessId], cause: str, now: int) -> None:
    """Store one event about commands of one conversation, in the transaction of its cause."""
    payload = json.dumps({"processes": list(ids)})
    inbox.store(
        connection, platform=PROCESS_EVENTS, events=[(f"{ids[0]}:{cause}", payload)], now=now
    )
