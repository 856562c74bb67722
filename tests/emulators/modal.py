"""Modal's API on loopback: the control plane, and the worker of each sandbox, which really runs
commands.

A sandbox is a folder and the processes of its worker. As in Modal, a volume is copied in at the
start, and written back only by `sync` and when the sandbox ends in order. A command's outputs and
its input have offsets, so that a broken stream can go on. Nothing ends a command but its own end,
the end of its input, or that of the sandbox. One connection serves both services.
"""

import asyncio
import itertools
import json
import os
import time
from asyncio.subprocess import Process
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from grpclib import GRPCError, Status
from grpclib.const import Cardinality, Handler
from grpclib.protocol import H2Protocol
from grpclib.server import Server
from modal_proto import api_pb2, task_command_router_pb2

from tests.emulators.adopted import end_adopter, start_adopted

TOKEN = ("ak-only-a-test", "as-only-a-test")
_PIECE = 65_536
_MOST_WAITING = 1 << 20
"""Bytes of output without a reader; then the command waits."""
_RESULT = api_pb2.GenericResult
_SYNC = """#!/bin/bash
exec 9> '{place}/lock' && flock 9
rm -rf '{volume}.new' && cp -a '{place}/workspace' '{volume}.new' 2> /dev/null
rm -rf '{volume}' && mv '{volume}.new' '{volume}'
"""
"""Writes a volume back. Files that change meanwhile are not told of."""

Answer = Callable[[Any], Awaitable[Any]]


@dataclass(eq=False)
class Output:
    """One output of a command, from its beginning."""

    data: bytearray = field(default_factory=bytearray)
    sent: int = 0
    is_over: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def end(self) -> None:
        """Note that no more of it is sent."""
        async with self.changed:
            self.is_over = True
            self.changed.notify_all()


@dataclass(eq=False)
class Command:
    """A command of a sandbox: its outputs, and how much input it has got."""

    words: list[str]
    adopter: Process
    reports: int
    """The pipe that its adopter reports to; nobody reads it here."""
    outputs: dict[int, Output]
    received: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


@dataclass(eq=False)
class Sandbox:
    """A sandbox: how it was asked for, its folder and its commands."""

    id: str
    definition: api_pb2.Sandbox
    app: str
    tags: dict[str, str]
    place: Path
    is_old: bool = False
    """Whether it is of the first kind, as Modal makes all sandboxes with a graphics card."""
    commands: dict[str, Command] = field(default_factory=dict)
    result: api_pb2.GenericResult | None = None

    @property
    def workspace(self) -> Path:
        """The mounted volume."""
        return self.place / "workspace"

    @property
    def has_network(self) -> bool:
        """Whether its commands reach anything."""
        access = self.definition.network_access.network_access_type
        return access != api_pb2.NetworkAccess.BLOCKED

    @property
    def task(self) -> str:
        """The name of what its worker runs."""
        return f"ta-{self.id}" if self.is_old else f"ta-{self.id}V"


class _Server(Server):
    """Knows its connections, which grpclib leaves to their clients."""

    def __init__(self, handlers: list[Any]) -> None:
        super().__init__(handlers)
        self._protocols: list[H2Protocol] = []

    def _protocol_factory(self) -> H2Protocol:
        protocol = super()._protocol_factory()
        self._protocols.append(protocol)
        return protocol

    def hang_up(self) -> None:
        for protocol in self._protocols:
            protocol.processor.close()


class ModalEmulator:
    """The server. With `is_down` it refuses; with `is_silent` the workers answer nothing."""

    def __init__(self, folder: Path) -> None:
        self.sandboxes: dict[str, Sandbox] = {}
        self.is_down = self.is_silent = False
        self.url = ""
        self._folder = folder
        self._numbers = itertools.count(1)
        self._cuts = 0
        self._server = _Server([self])

    def __mapping__(self) -> dict[str, Handler]:
        control = {
            "AppGetOrCreate": self._get_app,
            "AuthTokenGet": self._get_token,
            "EnvironmentGetOrCreate": self._get_environment,
            "ImageGetOrCreate": self._get_image,
            "SandboxCreate": self._create_old,
            "SandboxCreateV2": self._create,
            "SandboxGetCommandRouterAccess": self._get_access,
            "SandboxGetFromName": partial(self._find_by_name, is_old=True),
            "SandboxGetFromNameV2": self._find_by_name,
            "SandboxGetTaskId": self._get_task,
            "SandboxGetTaskIdV2": self._get_task,
            "SandboxListV2": self._list,
            "SandboxTagsGet": self._get_tags,
            "SandboxTagsGetV2": self._get_tags,
            "SandboxTerminate": self._terminate,
            "SandboxTerminateV2": self._terminate,
            "SandboxWait": self._wait,
            "SandboxWaitV2": self._wait,
            "TaskGetCommandRouterAccess": self._get_old_access,
            "SecretGetOrCreate": self._get_secret,
            "VolumeGetOrCreate": self._get_volume,
        }
        worker = {"TaskExecStart": self._start, "TaskExecStdinWrite": self._write}
        found = {}
        for module, service, answers, check in (
            (api_pb2, "ModalClient", control, self._check_token),
            (task_command_router_pb2, "TaskCommandRouter", worker, self._check_access),
        ):
            methods = module.DESCRIPTOR.services_by_name[service]
            for name, answer in answers.items():
                found[f"/{methods.full_name}/{name}"] = _make_handler(methods, name, answer, check)
        read = task_command_router_pb2
        found["/modal.task_command_router.TaskCommandRouter/TaskExecStdioRead"] = Handler(
            self._read,
            Cardinality.UNARY_STREAM,
            read.TaskExecStdioReadRequest,
            read.TaskExecStdioReadResponse,
        )
        return found

    async def __aenter__(self) -> Self:
        (self._folder / "volumes").mkdir(parents=True)
        await self._server.start("127.0.0.1", 0)
        listening = self._server._server
        assert isinstance(listening, asyncio.Server)
        port = listening.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        for sandbox in self.list_running():
            await self.halt(sandbox)
        self._server.close()
        self._server.hang_up()
        await self._server.wait_closed()

    def list_running(self) -> list[Sandbox]:
        """Return the sandboxes that cost something."""
        return [sandbox for sandbox in self.sandboxes.values() if sandbox.result is None]

    async def halt(self, sandbox: Sandbox) -> None:
        """End a sandbox in order, as Modal itself does with an idle one."""
        await self._end(sandbox, _RESULT.GENERIC_STATUS_TERMINATED)
        sync = await asyncio.create_subprocess_exec(sandbox.place / "bin/sync")
        await sync.wait()

    async def lose(self, sandbox: Sandbox) -> None:
        """End a sandbox with its worker: what its volume was not told to keep is gone."""
        await self._end(sandbox, _RESULT.GENERIC_STATUS_INTERNAL_FAILURE)

    async def cut(self) -> None:
        """Break every stream of output once; each can go on where it was."""
        self._cuts += 1
        for sandbox in self.list_running():
            for command in sandbox.commands.values():
                for output in command.outputs.values():
                    async with output.changed:
                        output.changed.notify_all()

    async def _end(self, sandbox: Sandbox, status: "_RESULT.GenericStatus.ValueType") -> None:
        sandbox.result = api_pb2.GenericResult(status=status, exitcode=137)
        for command in sandbox.commands.values():
            await end_adopter(command.adopter)
            os.close(command.reports)
            for output in command.outputs.values():
                await output.end()
            await asyncio.gather(*command.tasks)

    def _check_token(self, metadata: Any) -> None:
        if self.is_down:
            raise GRPCError(Status.RESOURCE_EXHAUSTED, "no runner is available")
        if (metadata.get("x-modal-token-id"), metadata.get("x-modal-token-secret")) != TOKEN:
            raise GRPCError(Status.UNAUTHENTICATED, "Token ID is malformed")

    def _check_access(self, metadata: Any) -> None:
        if not str(metadata.get("authorization")).startswith("Bearer "):
            raise GRPCError(Status.UNAUTHENTICATED, "no token of a sandbox")

    async def _get_app(self, request: Any) -> Any:
        return api_pb2.AppGetOrCreateResponse(app_id=f"ap-{request.app_name}")

    async def _get_token(self, request: Any) -> Any:
        return api_pb2.AuthTokenGetResponse(token=_make_token())

    async def _get_environment(self, request: Any) -> Any:
        found = api_pb2.EnvironmentGetOrCreateResponse(environment_id="en-1")
        found.metadata.settings.image_builder_version = "2025.06"
        return found

    async def _get_image(self, request: Any) -> Any:
        words = " ".join(request.image.dockerfile_commands)
        made = _RESULT(status=_RESULT.GENERIC_STATUS_SUCCESS)
        return api_pb2.ImageGetOrCreateResponse(image_id=f"im-{words.split()[1]}", result=made)

    async def _get_secret(self, request: Any) -> Any:
        return api_pb2.SecretGetOrCreateResponse(secret_id=f"st-{request.deployment_name}")

    async def _get_volume(self, request: Any) -> Any:
        (self._folder / "volumes" / request.deployment_name).mkdir(exist_ok=True)
        return api_pb2.VolumeGetOrCreateResponse(
            volume_id=f"vo-{request.deployment_name}",
            version=request.version,
            metadata=api_pb2.VolumeMetadata(version=request.version, name=request.deployment_name),
        )

    async def _create(self, request: Any) -> Any:
        assert not request.definition.resources.gpu_config.count
        sandbox = await self._make(request, f"sb-{next(self._numbers)}", is_old=False)
        return api_pb2.SandboxCreateV2Response(sandbox_id=sandbox.id, task_id=sandbox.task)

    async def _create_old(self, request: Any) -> Any:
        number = f"sb-{next(self._numbers):022}"
        sandbox = await self._make(request, number, is_old=True)
        return api_pb2.SandboxCreateResponse(sandbox_id=sandbox.id)

    async def _make(self, request: Any, number: str, *, is_old: bool) -> Sandbox:
        definition = request.definition
        if any(each.definition.name == definition.name for each in self.list_running()):
            raise GRPCError(Status.ALREADY_EXISTS, "a sandbox with this name runs")
        assert list(definition.entrypoint_args) == ["sleep", "infinity"]
        (mount,) = definition.volume_mounts
        place = self._folder / number
        sandbox = Sandbox(
            id=number,
            definition=definition,
            app=request.app_id,
            tags={tag.tag_name: tag.tag_value for tag in request.tags},
            place=place,
            is_old=is_old,
        )
        volume = self._folder / "volumes" / mount.volume_id.removeprefix("vo-")
        (place / "bin").mkdir(parents=True)
        program = place / "bin/sync"
        program.write_text(_SYNC.format(place=place, volume=volume))
        program.chmod(0o755)
        copy = await asyncio.create_subprocess_exec("cp", "-a", volume, sandbox.workspace)
        assert await copy.wait() == 0
        self.sandboxes[number] = sandbox
        return sandbox

    async def _get_access(self, request: Any) -> Any:
        self._find(request.sandbox_id)
        return api_pb2.SandboxGetCommandRouterAccessResponse(url=self.url, jwt=_make_token())

    async def _get_old_access(self, request: Any) -> Any:
        self._find_task(request.task_id)
        return api_pb2.TaskGetCommandRouterAccessResponse(url=self.url, jwt=_make_token())

    async def _find_by_name(self, request: Any, *, is_old: bool = False) -> Any:
        for sandbox in self.list_running():
            if sandbox.is_old is is_old and sandbox.definition.name == request.sandbox_name:
                return api_pb2.SandboxGetFromNameResponse(sandbox_id=sandbox.id)
        raise GRPCError(Status.NOT_FOUND, "no running sandbox has this name")

    async def _get_task(self, request: Any) -> Any:
        return api_pb2.SandboxGetTaskIdResponse(task_id=self._find(request.sandbox_id).task)

    async def _list(self, request: Any) -> Any:
        """List the sandboxes of both kinds, as the SDK says of the list that it asks for."""
        if request.before_timestamp:
            return api_pb2.SandboxListResponse()
        wanted = {tag.tag_name: tag.tag_value for tag in request.tags}
        found = [
            api_pb2.SandboxInfo(id=sandbox.id, created_at=1.0)
            for sandbox in self.list_running()
            if sandbox.app == request.app_id and wanted.items() <= sandbox.tags.items()
        ]
        return api_pb2.SandboxListResponse(sandboxes=found)

    async def _get_tags(self, request: Any) -> Any:
        tags = self._find(request.sandbox_id).tags.items()
        return api_pb2.SandboxTagsGetResponse(
            tags=[api_pb2.SandboxTag(tag_name=name, tag_value=value) for name, value in tags]
        )

    async def _terminate(self, request: Any) -> Any:
        sandbox = self.sandboxes[request.sandbox_id]
        if sandbox.result is None:
            await self.halt(sandbox)
        return api_pb2.SandboxTerminateResponse()

    async def _wait(self, request: Any) -> Any:
        return api_pb2.SandboxWaitResponse(result=self.sandboxes[request.sandbox_id].result)

    async def _start(self, request: Any) -> Any:
        sandbox = self._find_task(request.task_id)
        (mount,) = sandbox.definition.volume_mounts
        assert request.workdir == mount.mount_path
        adopter, reports = await start_adopted(
            request.command_args, sandbox.place, sandbox.workspace, programs=f"{sandbox.place}/bin"
        )
        outputs: dict[int, Output] = {
            task_command_router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDOUT: Output(),
            task_command_router_pb2.TASK_EXEC_STDIO_FILE_DESCRIPTOR_STDERR: Output(),
        }
        words = list(request.command_args)
        command = Command(words=words, adopter=adopter, reports=reports, outputs=outputs)
        for output, stream in zip(outputs.values(), (adopter.stdout, adopter.stderr), strict=True):
            assert stream
            command.tasks.append(asyncio.create_task(_record(output, stream)))
        sandbox.commands[request.exec_id] = command
        return task_command_router_pb2.TaskExecStartResponse()

    async def _write(self, request: Any) -> Any:
        if self.is_silent:
            await asyncio.Event().wait()
        command = self._find_command(request)
        stdin = command.adopter.stdin
        assert stdin
        stdin.write(request.data[command.received - request.offset :])
        command.received = max(command.received, request.offset + len(request.data))
        with suppress(ConnectionError):
            await stdin.drain()
        if request.eof:
            stdin.close()
        return task_command_router_pb2.TaskExecStdinWriteResponse()

    async def _read(self, stream: Any) -> None:
        request = await stream.recv_message()
        self._check_access(stream.metadata)
        output = self._find_command(request).outputs[request.file_descriptor]
        at, cuts = request.offset, self._cuts
        while True:
            async with output.changed:
                while len(output.data) <= at and not output.is_over and self._cuts == cuts:
                    await output.changed.wait()
            if self.is_silent:
                await asyncio.Event().wait()
            if self._cuts != cuts:
                raise GRPCError(Status.UNAVAILABLE, "the connection to the worker broke")
            piece = bytes(output.data[at : at + _PIECE])
            if not piece:
                self._find_task(request.task_id)
                return
            await stream.send_message(task_command_router_pb2.TaskExecStdioReadResponse(data=piece))
            at += len(piece)
            async with output.changed:
                output.sent = max(output.sent, at)
                output.changed.notify_all()

    def _find(self, number: str) -> Sandbox:
        sandbox = self.sandboxes.get(number)
        if sandbox is None or sandbox.result:
            raise GRPCError(Status.NOT_FOUND, "the sandbox does not run")
        return sandbox

    def _find_task(self, task: str) -> Sandbox:
        return self._find(task.removeprefix("ta-").removesuffix("V"))

    def _find_command(self, request: Any) -> Command:
        return self._find_task(request.task_id).commands[request.exec_id]


async def _record(output: Output, stream: asyncio.StreamReader) -> None:
    while data := await stream.read(_PIECE):
        async with output.changed:
            output.data += data
            output.changed.notify_all()
            while len(output.data) - output.sent >= _MOST_WAITING and not output.is_over:
                await output.changed.wait()
    await output.end()


def _make_handler(methods: Any, name: str, answer: Answer, check: Callable[[Any], None]) -> Handler:
    async def handle(stream: Any) -> None:
        request = await stream.recv_message()
        check(stream.metadata)
        await stream.send_message(await answer(request))

    method = methods.methods_by_name[name]
    return Handler(
        handle,
        Cardinality.UNARY_UNARY,
        method.input_type._concrete_class,
        method.output_type._concrete_class,
    )


def _make_token() -> str:
    claims = json.dumps({"exp": time.time() + 3600}).encode()
    return f"x.{urlsafe_b64encode(claims).decode().rstrip('=')}.x"
