"""The sandbox provider Modal, through its own SDK.

Names and tags hold only hashes: the provider learns no person's name. A sandbox lives for a day at
most. The files of a workspace stay in a volume, which the next sandbox mounts.
"""

import asyncio
from contextlib import suppress

import modal
from grpclib.exceptions import StreamTerminatedError
from modal.container_process import ContainerProcess
from modal.exception import (
    AuthError,
    ConflictError,
    Error,
    NotFoundError,
    PermissionDeniedError,
    SandboxTimeoutError,
)
from modal.io_streams import StreamReader

from agent_core.errors import BackendUnavailable
from agent_core.execution.hosted.accounts import ModalSettings, hash_name
from agent_core.execution.hosted.channel import Take
from agent_core.execution.hosted.faults import Faults
from agent_core.execution.hosted.script import Layout

_APP = "talaria"
_MOUNTED = "/workspace"
_PYTHON = "3.12"
"""The Python of Modal's own image; every image builder that an account may have supports it."""
_MIB = 2**20
_SECONDS = 30.0
_CHECK_SECONDS = 10.0
"""Seconds; the SDK itself would try for a minute to reach a server."""
_WAKE_SECONDS = 120.0
"""Seconds; more than Modal takes to start a sandbox from a known image."""
_STOP_SECONDS = 60.0
"""Seconds; Modal writes the volume before a sandbox has ended."""
_LIFETIME = 24 * 3600
"""The longest that Modal lets a sandbox live, in seconds."""
_IDLE_STOP = 900
"""Seconds after which the provider ends a sandbox without commands, in case the gateway died."""
_HOME_TAG, _SETTINGS_TAG = "talaria-home", "talaria-settings"
_FAULTS = Faults(
    (AuthError, PermissionDeniedError),
    "Modal rejects the token; check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET",
    (Error, StreamTerminatedError, OSError),
)


class ModalProvider:
    """An account with Modal; see `Provider`."""

    layout = Layout(place="", is_text=False, is_volume=True)

    def __init__(self, settings: ModalSettings) -> None:
        self._settings = settings
        self._home = hash_name(settings.gateway)
        told = (settings.image, settings.region, str(settings.has_network))
        size = (settings.cpus, settings.gpu, settings.memory, settings.secrets)
        self._kind = hash_name("/".join(told) + (f"/{size}" if any(size) else ""))
        """A hash that distinguishes sandboxes with these settings from older ones."""
        self._client: modal.Client | None = None
        self._opening = asyncio.Lock()

    async def wake(self, workspace: str) -> "ModalSandbox":
        """Find the running sandbox of a workspace, or create one; see `Provider`."""
        name = f"talaria-{hash_name(f'{self._settings.gateway}/{workspace}')}"
        async with _FAULTS.of("Modal", _WAKE_SECONDS):
            client = await self._open()
            try:
                found = await modal.Sandbox.from_name.aio(_APP, name, client=client)
            except NotFoundError:
                return ModalSandbox(await self._create(name))
            if (await found.get_tags.aio()).get(_SETTINGS_TAG) == self._kind:
                return ModalSandbox(found)
        await ModalSandbox(found).stop()
        async with _FAULTS.of("Modal", _WAKE_SECONDS):
            return ModalSandbox(await self._create(name))

    async def _create(self, name: str) -> modal.Sandbox:
        settings = self._settings
        if settings.image:
            image = modal.Image.from_registry(settings.image)
        else:
            image = modal.Image.debian_slim(_PYTHON)
        volume = modal.Volume.from_name(name, create_if_missing=True, version=2)
        return await modal.Sandbox.create.aio(
            *("sleep", "infinity"),
            app=await self._look_up(),
            name=name,
            tags={_HOME_TAG: self._home, _SETTINGS_TAG: self._kind},
            image=image,
            volumes={_MOUNTED: volume},
            region=settings.region or None,
            cpu=settings.cpus or None,
            memory=settings.memory // _MIB or None,
            gpu=settings.gpu or None,
            secrets=[modal.Secret.from_name(name) for name in settings.secrets],
            block_network=not settings.has_network,
            timeout=_LIFETIME,
            idle_timeout=_IDLE_STOP,
            client=await self._open(),
        )

    async def end_abandoned(self) -> int:
        """End the running sandboxes of earlier gateways; see `Provider`."""
        async with _FAULTS.of("Modal", _WAKE_SECONDS):
            app = await self._look_up()
            found = [
                ModalSandbox(sandbox)
                async for sandbox in modal.Sandbox.list.aio(
                    app_id=app.app_id, tags={_HOME_TAG: self._home}, client=await self._open()
                )
            ]
        for sandbox in found:
            await sandbox.stop()
        return len(found)

    async def check(self) -> None:
        """Look up the app, which needs the token; see `Provider`."""
        async with _FAULTS.of("Modal", _CHECK_SECONDS):
            await self._look_up()

    async def close(self) -> None:
        """Close the connections; see `Provider`."""
        if self._client:
            await self._client.close.aio()

    async def _look_up(self) -> modal.App:
        return await modal.App.lookup.aio(_APP, client=await self._open(), create_if_missing=True)

    async def _open(self) -> modal.Client:
        async with self._opening:
            if self._client is None:
                self._client = await modal.Client.from_credentials.aio(
                    self._settings.token_id, self._settings.token_secret
                )
            return self._client


class ModalSandbox:
    """A running sandbox; see `Sandbox`."""

    def __init__(self, sandbox: modal.Sandbox) -> None:
        self._sandbox = sandbox

    async def open(self, script: str) -> "ModalLine":
        """Start the script in the workspace; see `Sandbox`."""
        async with _FAULTS.of("the sandbox", _SECONDS):
            process = await self._sandbox.exec.aio(
                *("bash", "--norc", "--noprofile", "-c", script, "supervisor"),
                workdir=_MOUNTED,
                text=False,
            )
        return ModalLine(process)

    async def stop(self) -> None:
        """End the sandbox for good; its volume stays, and costs only its size."""
        async with _FAULTS.of("Modal", _STOP_SECONDS):
            with suppress(NotFoundError, SandboxTimeoutError):  # the sandbox has already ended
                await self._sandbox.terminate.aio()
                await self._sandbox.wait.aio(raise_on_termination=False)
            await self._sandbox.detach.aio()  # type: ignore[no-untyped-call]


class ModalLine:
    """A supervisor as a process in its sandbox; see `Line`."""

    def __init__(self, process: ContainerProcess[bytes]) -> None:
        self._process = process
        self._has_ended = False

    async def follow(self, take_output: Take, take_words: Take) -> None:
        """Pass on both outputs; see `Line`."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pass_on(self._process.stdout, take_output))
                group.create_task(_pass_on(self._process.stderr, take_words))
        except* BackendUnavailable as faults:
            raise faults.exceptions[0] from None
        self._has_ended = True

    async def send(self, data: bytes) -> None:
        """Send lines to the process; see `Line`."""
        async with _FAULTS.of("the sandbox", _SECONDS):
            self._process.stdin.write(data)
            await self._process.stdin.drain.aio()

    async def stay(self) -> None:
        """Do nothing: a running process keeps its sandbox alive."""

    async def end(self) -> None:
        """Close the process's input, which ends it; see `Line`."""
        if self._has_ended:
            return
        async with _FAULTS.of("the sandbox", _SECONDS):
            self._process.stdin.write_eof()
            with suppress(ConflictError, NotFoundError):  # the process has already ended
                await self._process.stdin.drain.aio()


async def _pass_on(stream: StreamReader[bytes], take: Take) -> None:
    async with _FAULTS.of("the sandbox", None):
        async for data in stream:
            await take(data)
