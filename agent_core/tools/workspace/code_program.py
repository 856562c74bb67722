"""The program around the model's code: it runs in the sandbox, on a plain Python 3.9 or newer.

It forks. The child runs the code, and can import `talaria_tools`. The parent passes on the child's
output and calls, as one JSON object per line. Everything that this program writes is untrusted: the
gateway checks each call as if the model had made it.
"""

from __future__ import annotations

import codecs
import json
import linecache
import os
import select
import signal
import socket
import sys
import threading
import types
from code import InteractiveInterpreter
from collections.abc import Callable

_PIECE = 65536
_NAME = "<code>"


def _make_module(channel: socket.socket) -> types.ModuleType:
    """Make the module `talaria_tools`, which sends its calls over a socket."""
    module = types.ModuleType("talaria_tools", "Call the assistant's tools from code.")
    lock = threading.Lock()
    stream = channel.makefile("rwb")

    class ToolError(Exception):
        """A tool did not run, or failed."""

    def call(name: str, /, **arguments: object) -> str:
        """Call a tool, and return its result as text. Raises `ToolError`."""
        line = json.dumps({"call": name, "arguments": arguments})
        with lock:
            stream.write(line.encode() + b"\n")
            stream.flush()
            answer = stream.readline()
        if not answer:
            raise ToolError("nobody answers any more")
        result = json.loads(answer)
        if result["is_error"]:
            raise ToolError(result["text"])
        return str(result["text"])

    def find(name: str) -> Callable[..., str]:
        """Return a tool's function, so that `from talaria_tools import read_file` works."""
        if name.startswith("_"):
            raise AttributeError(name)

        def tool(**arguments: object) -> str:
            return call(name, **arguments)

        return tool

    vars(module).update(ToolError=ToolError, call=call, __getattr__=find)
    return module


class _Interpreter(InteractiveInterpreter):
    """Runs code, and remembers whether it failed."""

    status = 0

    def write(self, data: str) -> None:
        """Write a line of a traceback; tracebacks appear only after a failure."""
        self.status = 1
        super().write(data)


def _run(code: str, module: types.ModuleType) -> int:
    """Run the code like a main program; return its exit status."""
    sys.modules[module.__name__] = module
    sys.path.append(".")
    sys.argv = [_NAME]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    linecache.cache[_NAME] = (len(code), None, code.splitlines(keepends=True), _NAME)
    interpreter = _Interpreter(vars(main))
    try:
        interpreter.runcode(compile(code, _NAME, "exec"))
    except (SyntaxError, ValueError, OverflowError):
        interpreter.showsyntaxerror(_NAME)
    except SystemExit as error:
        interpreter.status = error.code if isinstance(error.code, int) else int(bool(error.code))
        if interpreter.status and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    return interpreter.status & 0xFF


def _fork(code: str) -> tuple[int, int, socket.socket]:
    """Start the child; return its process id, its output and the socket for its calls."""
    ours, theirs = socket.socketpair()
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        theirs.close()
        os.close(writes)
        return child, reads, ours
    ours.close()
    os.close(reads)
    empty = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((empty, writes, writes)):
        os.dup2(descriptor, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.stdout.reconfigure(line_buffering=True)
    os._exit(_run(code, _make_module(theirs)))


class _Switchboard:
    """Passes the child's output and calls to the gateway, and results back, without blocking."""

    def __init__(self, child: int, output: int, channel: socket.socket, pending: bytes) -> None:
        self.child, self.output, self.channel = child, output, channel
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.to_gateway, self.to_child, self.calls = b"", pending, b""
        self.sources = {0, output, channel.fileno()}

    def run(self) -> int:
        """Pass on all data until the child has ended; return its exit status."""
        woken, wake = os.pipe()
        for descriptor in (0, 1, self.output, self.channel.fileno(), woken, wake):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ended, state = os.waitpid(self.child, os.WNOHANG)
            if ended:
                break
            self._pass_once({woken})
        os.set_blocking(1, True)
        self._read_output()
        self.show(self.decoder.decode(b"", final=True))
        return os.waitstatus_to_exitcode(state)

    def _pass_once(self, woken: set[int]) -> None:
        # No further output is read until the gateway has taken the output read so far.
        held = {self.output, self.channel.fileno()} if self.to_gateway else set()
        writable = ({1} if self.to_gateway else set()) | (
            {self.channel.fileno()} if self.to_child else set()
        )
        readable, ready, _ = select.select((self.sources - held) | woken, writable, ())
        for descriptor in woken & set(readable):
            os.read(descriptor, _PIECE)
        if 0 in readable:
            piece = os.read(0, _PIECE)
            self.to_child += piece
            if not piece:
                self.sources.discard(0)
        if self.output in readable:
            self._read_output(once=True)
        if self.channel.fileno() in readable:
            self._read_calls()
        if 1 in ready:
            self.to_gateway = self.to_gateway[os.write(1, self.to_gateway) :]
        if self.channel.fileno() in ready:
            try:
                self.to_child = self.to_child[self.channel.send(self.to_child) :]
            except OSError:
                self.to_child = b""

    def _read_output(self, *, once: bool = False) -> None:
        while self.output in self.sources:
            try:
                piece = os.read(self.output, _PIECE)
            except BlockingIOError:
                return
            if not piece:
                self.sources.discard(self.output)
            self.show(self.decoder.decode(piece))
            if once:
                return

    def _read_calls(self) -> None:
        try:
            piece = self.channel.recv(_PIECE)
        except ConnectionError:  # the child has ended without reading its last answer
            piece = b""
        if not piece:
            self.sources.discard(self.channel.fileno())
        *lines, self.calls = (self.calls + piece).split(b"\n")
        for line in lines:
            self.to_gateway += line + b"\n"

    def show(self, text: str) -> None:
        """Pass on output."""
        if text:
            self.to_gateway += json.dumps({"output": text}).encode() + b"\n"


def _main() -> None:
    given = b""
    while b"\n" not in given:
        piece = os.read(0, _PIECE)
        if not piece:
            return
        given += piece
    first, _, pending = given.partition(b"\n")
    board = _Switchboard(*_fork(json.loads(first)["code"]), pending)
    status = board.run()
    left = board.to_gateway + json.dumps({"status": status}).encode() + b"\n"
    while left:
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    _main()
