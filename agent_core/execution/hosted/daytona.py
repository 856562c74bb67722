"""The sandbox provider Daytona, through its own SDK.

Names and labels hold only hashes: the provider learns no person's name.
"""

import math
import secrets
from base64 import b64decode
from binascii import Error as NoBase64
from contextlib import suppress
from shlex import quote
from typing import Any

import aiohttp
from daytona import (
    AsyncDaytona,
    AsyncSandbox,
    CreateSandboxFromImageParams,
    CreateSandboxFromSnapshotParams,
    DaytonaAuthenticationError,
    DaytonaConfig,
    DaytonaError,
    DaytonaNotFoundError,
    ListSandboxesQuery,
    Resources,
    SessionExecuteRequest,
)
from daytona_api_client_async import SandboxState

from agent_core.errors import BackendUnavailable
from agent_core.execution.hosted.accounts import DaytonaSettings, hash_name
from agent_core.execution.hosted.channel import Take
from agent_core.execution.hosted.faults import Faults
from agent_core.execution.hosted.script import Layout

_GIB = 2**30
_SECONDS = 30.0
_WAKE_SECONDS = 120.0
"""Seconds; more than an archived sandbox takes to start."""
_HOME_LABEL = "talaria.home"
_SESSION = "talaria-"
_AUTO_STOP_MINUTES = 15
"""Minutes after which the provider stops a sandbox by itself, in case the gateway died."""
_ARCHIVE_MINUTES = 7 * 24 * 60
_BROKEN = (SandboxState.ERROR, SandboxState.BUILD_FAILED, SandboxState.DESTROYED)
_FAULTS = Faults(
    (DaytonaAuthenticationError,),
    "Daytona rejects the key; check DAYTONA_API_KEY",
    (DaytonaError, aiohttp.ClientError, OSError),
)


class DaytonaProvider:
    """An account with Daytona; see `Provider`."""

    layout = Layout(place="workspace", is_text=True, is_volume=False)

    def __init__(self, settings: DaytonaSettings) -> None:
        self._settings = settings
        self._daytona = AsyncDaytona(
            DaytonaConfig(
                api_key=settings.api_key,
                api_url=settings.api_url or None,
                target=settings.target or None,
            )
        )
        self._home = hash_name(settings.gateway)

    async def wake(self, workspace: str) -> "DaytonaSandbox":
        """Find or create the sandbox of a workspace, and make it run; see `Provider`."""
        name = f"talaria-{hash_name(f'{self._settings.gateway}/{workspace}')}"
        async with _FAULTS.of("Daytona", _WAKE_SECONDS):
            try:
                sandbox = await self._daytona.get(name, request_timeout=_SECONDS)
            except DaytonaNotFoundError:
                sandbox = await self._create(name)
            if sandbox.state in _BROKEN:
                raise BackendUnavailable(
                    f"its sandbox at Daytona is broken ({sandbox.error_reason or sandbox.state});"
                    f" the owner can repair or delete {name} there"
                )
            if sandbox.state != SandboxState.STARTED:
                await sandbox.start(timeout=_WAKE_SECONDS)
            if sandbox.network_block_all is self._settings.has_network:
                await sandbox.update_network_settings(
                    network_block_all=not self._settings.has_network
                )
        return DaytonaSandbox(sandbox)

    async def _create(self, name: str) -> AsyncSandbox:
        settings = self._settings
        common: dict[str, Any] = {
            "name": name,
            "labels": {_HOME_LABEL: self._home},
            "network_block_all": not settings.has_network,
            "auto_stop_interval": _AUTO_STOP_MINUTES,
            "auto_archive_interval": _ARCHIVE_MINUTES,
        }
        if settings.image:
            size = Resources(
                cpu=settings.cpus or None,
                gpu=settings.gpus or None,
                memory=math.ceil(settings.memory / _GIB) or None,
            )
            asked = CreateSandboxFromImageParams(image=settings.image, resources=size, **common)
            return await self._daytona.create(asked, timeout=_WAKE_SECONDS)
        snapshot = settings.snapshot or None
        return await self._daytona.create(
            CreateSandboxFromSnapshotParams(snapshot=snapshot, **common), timeout=_WAKE_SECONDS
        )

    async def end_abandoned(self) -> int:
        """End the sessions of earlier gateways in sandboxes that run; see `Provider`."""
        ended = 0
        async with _FAULTS.of("Daytona", _WAKE_SECONDS):
            query = ListSandboxesQuery(labels={_HOME_LABEL: self._home})
            async for sandbox in self._daytona.list(query, request_timeout=_SECONDS):
                if sandbox.state == SandboxState.STARTED:
                    for session in await sandbox.process.list_sessions(_SECONDS):
                        if session.session_id.startswith(_SESSION):
                            await sandbox.process.delete_session(session.session_id, _SECONDS)
                            ended += 1
        return ended

    async def check(self) -> None:
        """List one sandbox, which needs the key; see `Provider`."""
        async with _FAULTS.of("Daytona", _SECONDS):
            async for _ in self._daytona.list(ListSandboxesQuery(limit=1)):
                break

    async def close(self) -> None:
        """Close the connections; see `Provider`."""
        await self._daytona.close()  # type: ignore[no-untyped-call]


class DaytonaSandbox:
    """A running sandbox; see `Sandbox`."""

    def __init__(self, sandbox: AsyncSandbox) -> None:
        self._sandbox = sandbox

    async def open(self, script: str) -> "DaytonaLine":
        """Start a session that runs the script; see `Sandbox`."""
        session = f"{_SESSION}{secrets.token_hex(8)}"
        process = self._sandbox.process
        line = DaytonaLine(self._sandbox, session)
        try:
            async with _FAULTS.of("the sandbox", _SECONDS):
                await process.create_session(session, _SECONDS)
                # The session's shell reads this command; `exec` would end that shell before it
                # reports the status.
                request = SessionExecuteRequest(
                    command=f"bash --norc --noprofile -c {quote(script)} supervisor",
                    run_async=True,
                    suppress_input_echo=True,
                )
                started = await process.execute_session_command(
                    session, request, timeout=int(_SECONDS)
                )
        except BackendUnavailable:
            with suppress(BackendUnavailable):
                await line.end()
            raise
        line.command = started.cmd_id
        return line

    async def stop(self) -> None:
        """Stop the sandbox. A stopped sandbox costs only its disk, and is archived later."""
        async with _FAULTS.of("Daytona", _WAKE_SECONDS):
            await self._sandbox.stop(timeout=_WAKE_SECONDS, force=True)


class DaytonaLine:
    """A supervisor in a separate session; see `Line`."""

    def __init__(self, sandbox: AsyncSandbox, session: str) -> None:
        self.command = ""
        self._sandbox = sandbox
        self._session = session

    async def follow(self, take_output: Take, take_words: Take) -> None:
        """Pass on the log, whose output is lines of base64; see `Line`."""
        rest = ""

        async def decode(text: str) -> None:
            nonlocal rest
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                await take_output(b64decode(line))

        async def hear(text: str) -> None:
            await take_words(text.encode())

        try:
            async with _FAULTS.of("the sandbox", None):
                await self._sandbox.process.get_session_command_logs_async(
                    self._session, self.command, decode, hear
                )
        except NoBase64 as error:
            raise BackendUnavailable("the sandbox sends something else than output") from error

    async def send(self, data: bytes) -> None:
        """Send lines to the command; see `Line`."""
        async with _FAULTS.of("the sandbox", _SECONDS):
            await self._sandbox.process.send_session_command_input(
                self._session, self.command, data.decode("ascii"), _SECONDS
            )

    async def stay(self) -> None:
        """Keep Daytona from stopping the sandbox; see `Line`."""
        async with _FAULTS.of("Daytona", _SECONDS):
            await self._sandbox.refresh_activity(_SECONDS)

    async def end(self) -> None:
        """Delete the session with its processes and its log; see `Line`."""
        async with _FAULTS.of("the sandbox", _SECONDS):
            with suppress(DaytonaNotFoundError):
                await self._sandbox.process.delete_session(self._session, _SECONDS)
