"""An OpenSSH server on a port of this machine, with keys and settings of its own."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.execution.local import find_bubblewrap
from agent_core.execution.ssh import RemoteSettings

_SERVER = Path("/usr/sbin/sshd")
_SERVER_FOLDER = Path("/run/sshd")
"""An empty folder that a server of root needs."""
_ACCOUNT = "talaria-ssh-test"
"""The account for tests that root runs: the backend refuses root's own. `.ci/run` makes it."""


def has_server() -> bool:
    """Return whether a server can be started here, with bubblewrap beside it."""
    programs = _SERVER.exists() and Path("/usr/bin/ssh").exists()
    return programs and find_bubblewrap() is not None and (os.geteuid() != 0 or _has_account())


def _has_account() -> bool:
    try:
        return bool(pwd.getpwnam(_ACCOUNT))
    except KeyError:
        return False


def open_folder(folder: Path) -> Path:
    """Make the folder of the workspaces, where the server's account may write."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, _ACCOUNT)
        _let_through(folder)
    return folder


def _let_through(folder: Path) -> None:
    """Let the account pass the folders above one, which pytest made for root alone."""
    for path in folder.parents:
        if not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o011)


@contextmanager
def run_server(folder: Path) -> Iterator[RemoteSettings]:
    """Run a server that lets this user in by a key; yield how to reach it."""
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "allowed").write_text((folder / "user.pub").read_text())
    (folder / "allowed").chmod(0o644)  # the account reads it, whatever the umask is
    user = getpass.getuser()
    if os.geteuid() == 0:
        user = _ACCOUNT
        _SERVER_FOLDER.mkdir(mode=0o755, exist_ok=True)
        _let_through(folder / "allowed")
    public = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known").write_text(f"[127.0.0.1]:{port} {public}\n")
    settings = folder / "config"
    settings.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder / 'host'}\nUsePAM no\n"
        f"AuthorizedKeysFile {folder / 'allowed'}\nStrictModes no\nPidFile {folder / 'pid'}\n"
        "PasswordAuthentication no\nMaxSessions 100\n"
    )
    words = [str(_SERVER), "-D", "-e", "-f", str(settings)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        try:
            while "listening" not in (line := server.stderr.readline()):
                assert line, "the server does not start"
            yield RemoteSettings(
                host="127.0.0.1",
                port=port,
                user=user,
                key=str(folder / "user"),
                known_hosts=str(folder / "known"),
                root=str(folder / "workspaces"),
                environ=os.environ,
            )
        finally:
            server.terminate()
            server.stderr.close()
