"""Every execution backend, ready for the behaviour suite; more are added here."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.contract import Backend, Command, Process
from agent_core.execution.docker import ContainerSettings, DockerBackend
from agent_core.execution.local import LocalBackend, find_bubblewrap
from agent_core.execution.reaped.backend import LandlockBackend, UnsandboxedBackend
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.ssh import RemoteSettings, SshBackend
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
from tests.agent_core.execution.accounts import LIMITS, PROVIDERS, open_account
from tests.agent_core.execution.engine import IMAGE, has_engine, remove_containers
from tests.agent_core.execution.plain_user import has_landlock, has_python
from tests.agent_core.execution.sshd import has_server, open_folder

MEGABYTE = 1_000_000


def _has_sandbox() -> bool:
    """Return whether this machine has bubblewrap, and lets this user start it."""
    program = find_bubblewrap()
    if program is None:
        return False
    words = (program, "--unshare-all", "--ro-bind", "/", "/", "/bin/true")
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


needs_bubblewrap = pytest.mark.skipif(not _has_sandbox(), reason="no bubblewrap works here")


def make_local(
    folder: Path,
    *hosts: str,
    limits: SandboxLimits = LIMITS,
    kind: type[LocalBackend] = LocalBackend,
) -> LocalBackend:
    """Make the local backend; everybody may reach these hosts."""
    network = SandboxProxy(("*",), AllowedHosts(hosts)) if hosts else None
    program = find_bubblewrap()
    assert program is not None
    return kind(folder / "workspaces", limits, program=program, network=network)


def make_docker(
    folder: Path, program: str = "docker", limits: SandboxLimits = LIMITS
) -> DockerBackend:
    settings = ContainerSettings(image=IMAGE, environ=os.environ, program=program)
    return DockerBackend(folder / "workspaces", limits, settings)


needs_docker = pytest.mark.skipif(not has_engine(), reason="no engine of containers answers here")
needs_podman = pytest.mark.skipif(
    not (shutil.which("tini") and has_engine("podman")), reason="no podman with tini works here"
)
needs_ssh = pytest.mark.skipif(
    not has_server(), reason="no OpenSSH server for an account that is not root"
)

needs_landlock = pytest.mark.skipif(
    not has_landlock(), reason="no Landlock of Linux 6.12, or no Python for another account"
)

needs_python = pytest.mark.skipif(not has_python(), reason="no Python for another account")

MARKS = {
    "local": [needs_bubblewrap],
    "landlock": [needs_landlock],
    "docker": [needs_docker, pytest.mark.slow, pytest.mark.thorough],
    "podman": [needs_podman, pytest.mark.slow, pytest.mark.thorough],
    "ssh": [needs_ssh, needs_bubblewrap, pytest.mark.slow, pytest.mark.thorough],
}
BACKENDS = [pytest.param(name, marks=marks) for name, marks in MARKS.items()]
"""Every backend, as the parameters of a fixture; more are added here."""
HOSTED = [
    pytest.param(name, marks=[needs_python, pytest.mark.slow, pytest.mark.thorough])
    for name in PROVIDERS
]
"""Those of providers, whose sandboxes are emulated by folders that confine nothing."""
EVERY = [*BACKENDS, pytest.param("unsandboxed", marks=[needs_landlock]), *HOSTED]
"""All of them."""
CONFINED = [
    *BACKENDS,
    *(
        pytest.param(name, marks=[needs_bubblewrap, pytest.mark.slow])
        for name in ("network", "joined")
    ),
]
"""Those that confine; the local one whose commands may reach every public host; and the same where
they enter the network of another command.
"""


class Joined(LocalBackend):
    """Starts every command in the network of one that runs already, of the same conversation."""

    async def start(self, command: Command) -> Process:  # type: ignore[override]
        if not self._running.has(command.workspace):
            argv = ("/bin/sleep", "1000")
            await super().start(Command(workspace=command.workspace, argv=argv, circle="1"))
        return await super().start(replace(command, circle="1"))


@asynccontextmanager
async def open_backend(
    request: pytest.FixtureRequest, folder: Path, limits: SandboxLimits = LIMITS
) -> AsyncIterator[Backend]:
    """Make the backend that a fixture is asked for, with its workspaces below a folder."""
    if request.param in PROVIDERS:
        request.getfixturevalue("plain_user")
        async with open_account(request.param, folder / "sandboxes") as account:
            hosted = account.make(limits)
            yield hosted
            await hosted.close()
        return
    backend: Backend = make_local(folder, limits=limits)
    if request.param == "network":
        backend = make_local(folder, "*", limits=limits)
    elif request.param == "joined":
        backend = make_local(folder, "*", limits=limits, kind=Joined)
    elif request.param in ("docker", "podman"):
        backend = make_docker(folder, request.param, limits)
    elif request.param == "landlock":
        request.getfixturevalue("plain_user")
        backend = LandlockBackend(folder / "workspaces", limits, home=folder)
    elif request.param == "unsandboxed":
        request.getfixturevalue("plain_user")
        backend = UnsandboxedBackend(folder / "workspaces", limits, {"PATH": os.environ["PATH"]})
    elif request.param == "ssh":
        server: RemoteSettings = request.getfixturevalue("sshd")
        backend = SshBackend(limits, replace(server, root=str(open_folder(folder / "workspaces"))))
    yield backend
    await backend.close()
    if request.param in ("docker", "podman"):
        remove_containers(folder, request.param)
