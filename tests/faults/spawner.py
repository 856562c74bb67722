"""Start gateways quickly: fork a process for each order.

One connection to the socket is one gateway. The order goes in as one line of JSON; out come
`born PID`, `ready`, and `ended` or `failed`. The stream ends when the process does, whatever
killed it: no other process holds the connection.
"""

import os
import signal
import socket
import sys
import traceback
from multiprocessing.connection import Connection

from tests.faults import process
from tests.faults.orders import Order


def serve(path: str, ready: Connection) -> None:
    """Take one order per connection, until killed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps children
    with socket.socket(socket.AF_UNIX) as channel:
        channel.bind(path)
        channel.listen(64)
        ready.send(None)
        while True:
            line, _ = channel.accept()
            with line:
                if os.fork() == 0:
                    channel.close()
                    _live(line)


def _live(line: socket.socket) -> None:
    """Run one forked gateway process; never returns."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_BLOCK, process.KEPT)
        with line.makefile("r", encoding="utf-8") as incoming:
            order = Order.parse(incoming.readline())
        log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)

        def publish(words: str) -> None:
            line.sendall(f"{words}\n".encode())

        publish(f"born {os.getpid()}")
        process.live(order, publish)
        publish("ended")
        status = 0
    except BaseException:
        traceback.print_exc()
        line.sendall(b"failed\n")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
