"""An OpenSSH server on a port of this machine, with keys and settings of its own."""

import getpass
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_core.execution import RemoteSettings, find_bubblewrap

_SERVER = Path("/usr/sbin/sshd")


def has_server() -> bool:
    """Return whether a server can be started here, with bubblewrap beside it.

    The backend refuses the account of root, and only this user's own is at hand.
    """
    programs = _SERVER.exists() and Path("/usr/bin/ssh").exists()
    return os.geteuid() != 0 and programs and find_bubblewrap() is not None


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
                user=getpass.getuser(),
                key=str(folder / "user"),
                known_hosts=str(folder / "known"),
                root=str(folder / "workspaces"),
                environ=os.environ,
            )
        finally:
            server.terminate()
            server.stderr.close()
