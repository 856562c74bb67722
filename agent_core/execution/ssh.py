"""The ssh backend: commands in bubblewrap on another machine, through the system's ssh client."""

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.hosted.remote import RemoteWorkspaces
from agent_core.execution.sandbox import (
    SandboxLimits,
    list_remote_words,
    make_remote_values,
)
from agent_core.execution.supervised_process import SupervisedProcess, call, start_supervised
from agent_core.execution.supervisor_script import REMOTE, make_setup
from agent_core.execution.timed_command import RunningCommands

_SECONDS = 30.0
_SHOWN = 300
_HEALTH = ".health"
"""The name of a workspace for health checks; it belongs to no person."""
_CONNECT_SECONDS = 10
_PASSED_ON = ("PATH", "HOME", "SSH_AUTH_SOCK")
_BASH = "bash --norc --noprofile"
_ABANDONED = r"""
mark=$1 top=$(realpath -m -- "$2") ended=0
for file in /proc/[0-9]*/cmdline; do
    [ -O "$file" ] && mapfile -d '' words < "$file" || continue
    pid=${file#/proc/} pid=${pid%/cmdline} is_ours=
    # Those of an earlier version have fewer words.
    [ "${words[5]}" != "$mark" ] && [ "${words[3]}" != "$mark" ] || is_ours=1
    # Without a supervisor, a sandbox waits for good if it had no user yet.
    IFS= read -r stat < "/proc/$pid/stat" && read -r _ parent _ <<< "${stat##*) }"
    if [ "${words[0]}" = bwrap ] && [ "$parent" = 1 ]; then
        for word in "${words[@]}"; do case $word in "$top"/*) is_ours=1 ;; esac; done
    fi
    [ -z "$is_ours" ] || { kill -KILL "$pid" && ended=$((ended + 1)); }
done 2> /dev/null
echo "$ended"
"""
"""Kills this gateway's supervisors, whose sandboxes the kernel then ends (`--die-with-parent`), and
sandboxes that have lost their supervisor. Prints the number of killed processes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings:
    """The machine, its account and its workspaces folder; with a key, or the ssh agent.

    `known_hosts` is a file with the machine's key; "" for ssh's own files. Unknown machines are
    refused. `environ` has the variables with which the client finds its home and its agent.
    `gateway` distinguishes this gateway's commands from others on the machine.
    """

    host: str
    root: str
    user: str = ""
    port: int = 22
    key: str = ""
    known_hosts: str = ""
    name: str = "ssh"
    gateway: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)


class SshBackend(RemoteWorkspaces):
    """Runs commands in a sandbox on another machine, which needs bash and bubblewrap."""

    is_confined = True

    def __init__(self, limits: SandboxLimits, settings: RemoteSettings) -> None:
        super().__init__(limits)
        self._settings = settings
        self.name = settings.name
        self._environ = {
            name: value for name, value in settings.environ.items() if name in _PASSED_ON
        }
        self._folder = Path(tempfile.gettempdir()) / f"talaria-ssh-{os.getpid()}-{id(self):x}"
        """The folder of the connection's socket; the path must be short."""
        self._mark = f"supervisor-{settings.gateway}"
        self._running = RunningCommands[SupervisedProcess]()

    def has_wall(self, workspace: str) -> bool:
        """Return False: no list of hosts bounds these commands."""
        return False

    def has_network(self, workspace: str) -> bool:
        """Return False: commands on the other machine have no network."""
        return False

    async def _end_there(self) -> int:
        """End commands whose connection broke without the other machine noticing."""
        words = (self._mark, self._settings.root)
        script = f"exec {_BASH} -c {shlex.quote(_ABANDONED)} end {shlex.join(words)}"
        status, output, errors = await call(self._ssh(script), self._environ, _SECONDS)
        if status or not output.strip().isdecimal():
            raise BackendUnavailable(errors.strip()[-_SHOWN:] or "ssh gives no reason")
        return int(output)

    async def _start_in(self, command: Command, folder: str) -> SupervisedProcess:
        limits = self._limits
        setup = make_setup(
            {
                "has_input": int(command.has_input),
                "memory": limits.memory,
                "processes": limits.processes,
                "disk": limits.workspace,
                "place": f"{self._settings.root}/{command.workspace}",
                "folder": folder,
                **make_remote_values(),
            },
            {"argv": command.argv, **list_remote_words(limits, folder)},
        )
        argv = self._ssh(f"exec {_BASH} -c {shlex.quote(REMOTE)} {self._mark}")
        process = await start_supervised(argv, setup, self._environ, self._force)
        self._running.add(command.workspace, process)
        return process

    async def stop(self, workspace: str) -> None:
        """Kill every command of a workspace; see `Backend`."""
        await self._running.stop(workspace)

    async def sleep(self, workspace: str) -> None:
        """Do nothing: an idle workspace costs nothing on the other machine."""

    async def close(self) -> None:
        """Kill every command, and close the connection; see `Backend`."""
        await self._running.stop_all()
        if self._folder.exists():
            await call(self._ssh(options=("-O", "exit")), self._environ, _SECONDS)
            shutil.rmtree(self._folder, ignore_errors=True)

    async def health(self) -> None:
        """Run a command on the other machine; see `Backend`."""
        process = await self.start(Command(workspace=_HEALTH, argv=("/bin/true",)))
        try:
            ended = await process.wait()
        finally:
            await process.kill()
        if ended.status:
            raise BackendUnavailable("the sandbox does not start there")

    async def _force(self, pid: int) -> None:
        """Kill a command if its supervisor does not end it."""
        script = f"read -r first _ < /proc/{pid}/task/{pid}/children; kill -KILL ${{first:-{pid}}}"
        await call(self._ssh(f"{_BASH} -c {shlex.quote(script)}"), self._environ, _SECONDS)

    def _ssh(self, *command: str, options: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the client's command line; all commands share one connection."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        settings = self._settings
        given = {
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "UpdateHostKeys": "no",
            "ForwardAgent": "no",
            "ForwardX11": "no",
            "ClearAllForwardings": "yes",
            "PermitLocalCommand": "no",
            "ConnectTimeout": str(_CONNECT_SECONDS),
            "ServerAliveInterval": "10",
            "ServerAliveCountMax": "3",
            "ControlMaster": "auto",
            "ControlPath": str(self._folder / "s"),
            "ControlPersist": "60",
        }
        if settings.key:
            given |= {"IdentityFile": settings.key, "IdentitiesOnly": "yes"}
        if settings.known_hosts:
            given |= {"UserKnownHostsFile": settings.known_hosts, "GlobalKnownHostsFile": "none"}
        words = [word for name, value in given.items() for word in ("-o", f"{name}={value}")]
        user = ("-l", settings.user) if settings.user else ()
        return (
            *("ssh", "-T", "-p", str(settings.port), *user, *words, *options, "--"),
            *(settings.host, *command),
        )
