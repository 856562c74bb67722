"""A separate program that opens a socket in the network of a sandbox, and passes it on.

The gateway can't do this itself: a process with several threads can't enter a namespace of another
user. The sandbox needs no program for it, and this socket is its only way out.
"""

import ctypes
import fcntl
import os
import socket
import sys
from errno import EPERM

_GET_USERS = 0xB701
"""`NS_GET_USERNS`: the user namespace that a namespace belongs to (ioctl_ns(2))."""
_FREE_BIND = 15
"""`IP_FREEBIND`: needed because the waiting sandbox has no address yet (ip(7))."""
_WAITING = 64

_libc = ctypes.CDLL(None, use_errno=True)


def main(words: list[str]) -> int:
    """Listen in the network namespace of a process.

    The words are the process id, the port, and the descriptor of a Unix socket that receives the
    open socket.
    """
    pid, port, channel = map(int, words)
    try:
        enter(os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC))
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.IPPROTO_IP, _FREE_BIND, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_WAITING)
        with socket.socket(fileno=channel) as sender:
            socket.send_fds(sender, [b"."], [listener.fileno()])
    except OSError as error:
        os.write(2, (error.strerror or "it gives no reason").encode())
        return 1
    return 0


def enter(namespace: int) -> None:
    """Enter a network namespace; without root, first enter the user namespace that owns it."""
    try:
        _join(namespace)
    except OSError as error:
        if error.errno != EPERM:
            raise
        _join(fcntl.ioctl(namespace, _GET_USERS))
        _join(namespace)


def _join(namespace: int) -> None:
    if _libc.setns(namespace, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
