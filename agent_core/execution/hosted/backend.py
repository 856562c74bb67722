"""The backends whose sandboxes a provider hosts: one for each person, asleep when idle."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.hosted.channel import Channel, OutputLine
from agent_core.execution.hosted.remote import RemoteWorkspaces
from agent_core.execution.hosted.script import SCRIPT, Layout, make_hosted_setup
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.subprocesses.spawning import complete_start
from agent_core.execution.supervised_process import SupervisedProcess
from agent_core.execution.timed_command import RunningCommands

PATIENCE = 90
"""Seconds without a message from the gateway after which a command ends: more than three beats."""

_log = logging.getLogger(__name__)


class Sandbox(Protocol):
    """The running sandbox of one person. Every method raises `BackendUnavailable`."""

    async def open(self, script: str) -> OutputLine:
        """Start bash with a script; cancellation leaves nothing running."""

    async def stop(self) -> None:
        """End all processes in it, and stop its cost until it is woken; its files stay."""


class Provider(Protocol):
    """An account with a provider of sandboxes. Every method raises `BackendUnavailable`."""

    layout: Layout

    async def wake(self, workspace: str) -> Sandbox:
        """Find or create the sandbox of a workspace, and make it run."""

    async def end_abandoned(self) -> int:
        """End what earlier gateways left in running sandboxes; return the number."""

    async def check(self) -> None:
        """Send the provider a request, to see whether it answers."""

    async def close(self) -> None:
        """Close connections; raises nothing."""


@dataclass(slots=True)
class _KnownSandbox:
    """The sandbox of one person, as this process knows it.

    `sandbox` is None while it sleeps, or while its state is uncertain.
    """

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    sandbox: Sandbox | None = None
    is_doubtful: bool = False
    timer: asyncio.TimerHandle | None = None


class HostedBackend(RemoteWorkspaces):
    """Runs commands in a provider's sandboxes, and lets idle sandboxes sleep."""

    is_confined = True

    def __init__(
        self,
        name: str,
        limits: SandboxLimits,
        load: Callable[[], Awaitable[Provider]],
        *,
        idle_seconds: float,
        patience: int,
        has_network: bool,
    ) -> None:
        """`load` opens the account at first use; it raises `BackendUnavailable` if it can't.

        A sandbox sleeps after `idle_seconds`. A command ends if its supervisor hears nothing for
        `patience` seconds.
        """
        super().__init__(limits)
        self.name = name
        self._load = load
        self._idle_seconds = idle_seconds
        self._patience = patience
        self._has_network = has_network
        self._provider: Provider | None = None
        self._places: dict[str, _KnownSandbox] = {}
        self._running = RunningCommands(self._note_end)
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def has_wall(self, workspace: str) -> bool:
        """Return False: no list of hosts bounds these commands."""
        return False

    def has_network(self, workspace: str) -> bool:
        """Return whether the sandboxes have a network."""
        return self._has_network

    async def _end_there(self) -> int:
        return await (await self._open_account()).end_abandoned()

    async def _start_in(self, command: Command, folder: str) -> SupervisedProcess:
        place = self._places.setdefault(command.workspace, _KnownSandbox())
        async with place.lock:
            self._running.require_privacy(command)
            was_awake = place.sandbox is not None
            try:
                process = await self._start(command, folder, place)
            except BackendUnavailable:
                if not was_awake:
                    raise
                place.sandbox = None  # the provider may have stopped or removed it
                process = await self._start(command, folder, place)
            self._running.add(command.workspace, process, is_alone=command.is_alone)
        return process

    async def _start(
        self, command: Command, folder: str, place: _KnownSandbox
    ) -> SupervisedProcess:
        provider = await self._open_account()
        sandbox = await self._wake(provider, command.workspace, place)
        line = await complete_start(sandbox.open(SCRIPT), lambda line: line.end())
        process = SupervisedProcess(Channel(line), partial(self._force, place))
        setup = make_hosted_setup(command, folder, self._limits, provider.layout, self._patience)
        await process.begin(setup)
        return process

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._running.stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Let an idle sandbox sleep; see `Backend`."""
        place = self._places.get(workspace)
        if place is None:
            return
        async with place.lock:
            if place.sandbox is not None and not self._running.has(workspace):
                sandbox, place.sandbox = place.sandbox, None
                await sandbox.stop()

    async def close(self) -> None:
        """Kill every command, and let every sandbox sleep; see `Backend`."""
        for workspace, place in self._places.items():
            await self.stop(workspace)  # which starts the timer
            if place.timer:
                place.timer.cancel()
            await self._try_to_sleep(workspace)
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._provider:
            await self._provider.close()

    async def health(self) -> None:
        """Ask the provider only: a command would wake a sandbox, which costs money."""
        await (await self._open_account()).check()

    async def _open_account(self) -> Provider:
        async with self._opening:
            if self._provider is None:
                self._provider = await self._load()
            return self._provider

    async def _wake(self, provider: Provider, workspace: str, place: _KnownSandbox) -> Sandbox:
        """Make the sandbox run. The caller holds its lock."""
        if place.timer:
            place.timer.cancel()
        if place.is_doubtful and not self._running.has(workspace):
            # A command ended without a report of its supervisor, so parts of it may still run.
            doubtful = place.sandbox or await provider.wake(workspace)
            place.sandbox = None
            await doubtful.stop()
            place.is_doubtful = False
        if place.sandbox is None:
            place.sandbox = await provider.wake(workspace)
        return place.sandbox

    def _note_end(self, workspace: str, process: SupervisedProcess) -> None:
        place = self._places[workspace]
        place.is_doubtful = place.is_doubtful or not process.has_reported
        if place.timer:
            place.timer.cancel()
        if not self._running.has(workspace):
            loop = asyncio.get_running_loop()
            place.timer = loop.call_later(self._idle_seconds, self._fall_asleep, workspace)

    def _fall_asleep(self, workspace: str) -> None:
        task = asyncio.create_task(self._try_to_sleep(workspace))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _try_to_sleep(self, workspace: str) -> None:
        try:
            await self.sleep(workspace)
        except BackendUnavailable as error:  # the provider stops the sandbox later
            _log.warning("an idle sandbox can't be stopped: %s", error)

    async def _force(self, place: _KnownSandbox, pid: int) -> None:
        """Stop a sandbox, with all its processes, if a supervisor does not answer."""
        if place.sandbox:
            sandbox, place.sandbox = place.sandbox, None
            await sandbox.stop()
