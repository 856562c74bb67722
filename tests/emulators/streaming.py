"""What both model emulators share: faults, hooks, streams that go wrong on purpose, a main."""

import argparse
import asyncio
import contextlib
import signal
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import uvloop
from aiohttp import web

Json = dict[str, Any]
Hook = Callable[[Json], Awaitable[None]]
"""Called with the request's body; the call continues when it returns."""

LARGEST_REQUEST = 64 * 1024 * 1024
IMAGE_TOKENS = 1600
"""Tokens of a picture of any size."""
WORDS_JOINT = " | "
FACTS = "<facts>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model answer: content blocks in the API's own form, and its stop reason.

    A tool_use block may hold `input_json` (text, whole or not) in place of `input`.
    """

    blocks: Sequence[Json]
    stop: str = "end_turn"
    stop_details: Json | None = None
    deltas: int | None = None
    """Pieces per block; None for the emulator's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of one call.

    With a `status`, the call is answered by that error. Without one, `answer` streams until
    `after_events` events or `after_bytes` bytes of the body have left (0 with neither), and
    `then` happens: the socket is `cut` in mid-body, the body ends early but in good order
    (`end`), nothing comes any more (`hang`), or an `error` event follows.
    """

    status: int = 0
    error: str = "api_error"
    message: str = "an emulated fault"
    error_code: str = ""
    retry_after: str = ""
    """The header's value: seconds or an HTTP date."""
    answer: Answer | None = None
    after_events: int | None = None
    after_bytes: int | None = None
    then: Literal["cut", "end", "hang", "error"] = "cut"


Reply = Answer | Fault


def text_answer(text: str, *, stop: str = "end_turn") -> Answer:
    """An answer of one text."""
    return Answer(blocks=[{"type": "text", "text": text}], stop=stop)


def cut(text: str, pieces: int) -> list[str]:
    """Return `text` in at most `pieces` parts of similar length; none for an empty text."""
    if not text:
        return []
    size = -(-len(text) // max(1, pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


def count_tokens(text: str) -> int:
    """The emulators' tokenizer: four characters are a token."""
    return -(-len(text) // 4)


class Emulator:
    """A loopback server of one model API: plans, records, hooks. The API itself is a subclass'.

    `plan` queues replies for the next calls; then `answer` is asked for each; without it, the
    default answer is given. `before` is awaited when a request was read and found good, before
    anything leaves; `during` when the first event left; `after` when all of it left.
    `latency` and `pace` are seconds: before the first event, and between events.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        pace: float = 0.0,
        deltas: int = 2,
        key: str | None = None,
        keep: int | None = None,
    ) -> None:
        self.latency = latency
        self.pace = pace
        self.deltas = deltas
        self.key = key
        self.requests: deque[Json] = deque(maxlen=keep)
        self.headers: deque[Mapping[str, str]] = deque(maxlen=keep)
        self.usages: deque[Json] = deque(maxlen=keep)
        self.calls: Counter[str] = Counter()
        self.answer: Callable[[Json], Reply] | None = None
        self.before: Hook | None = None
        self.during: Hook | None = None
        self.after: Hook | None = None
        self.peers: set[tuple[str, int]] = set()
        """The client addresses of all connections with a request."""
        self.disconnects = 0
        """How many running calls the client abandoned."""
        self._plan: deque[Reply] = deque()
        self._runner: web.ServerRunner | None = None
        self._ended = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def plan(self, *replies: Reply) -> None:
        """Use these replies for the next calls, one each."""
        self._plan.extend(replies)

    @abstractmethod
    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one HTTP request."""

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 takes a free one."""
        self._runner = web.ServerRunner(
            web.Server(
                self._serve,
                handler_cancellation=True,
                access_log=None,
                request_factory=_make_request,
            ),
            shutdown_timeout=0.2,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=2048)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Cancel hanging requests and close the port."""
        self._ended.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.calls[f"{request.method} {request.path}"] += 1
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        try:
            return await self.respond(request)
        except (ConnectionError, asyncio.CancelledError):
            self.disconnects += 1
            raise

    def note(self, body: Json, headers: Mapping[str, str]) -> None:
        """Record a request."""
        self.requests.append(body)
        self.headers.append(headers)

    def take_reply(self, body: Json, default: Callable[[Json], Answer]) -> Reply:
        """Return this call's reply."""
        if self._plan:
            return self._plan.popleft()
        return self.answer(body) if self.answer is not None else default(body)

    async def stream(
        self,
        request: web.BaseRequest,
        body: Json,
        events: Sequence[bytes],
        fault: Fault | None = None,
    ) -> web.StreamResponse:
        """Send an event stream, complete or until its fault."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        if fault is None and not self.pace and self.during is None and self.after is None:
            await response.write_eof(b"".join(events))
            return response
        for number, piece in enumerate(events if fault is None else _until(events, fault)):
            if number and self.pace:
                await asyncio.sleep(self.pace)
            await response.write(piece)
            if number == 0 and self.during is not None:
                await self.during(body)
        if fault is not None and not await self._go_wrong(request, fault):
            return response
        if self.after is not None:
            await self.after(body)
        await response.write_eof()
        return response

    async def _go_wrong(self, request: web.BaseRequest, fault: Fault) -> bool:
        """Perform the fault; True if the body may still end normally."""
        if fault.then == "hang":
            await self._ended.wait()
        elif fault.then == "cut":
            if request.transport is not None:
                request.transport.close()
            return False
        return True


def _make_request(
    message: Any, payload: Any, protocol: Any, writer: Any, task: Any
) -> web.BaseRequest:
    """Allow requests as large as the real servers do; aiohttp's default is 1 MB."""
    return web.BaseRequest(
        message,
        payload,
        protocol,
        writer,
        task,
        asyncio.get_running_loop(),
        client_max_size=LARGEST_REQUEST,
    )


def _until(events: Sequence[bytes], fault: Fault) -> list[bytes]:
    if fault.after_bytes is not None:
        whole = b"".join(events)[: fault.after_bytes]
        return [whole] if whole else []
    return list(events[: fault.after_events or 0])


async def _stand(emulator: Emulator, port: int) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    await emulator.start(port)
    print(f"listening on {emulator.url}", flush=True)
    await ended.wait()
    await emulator.stop()


def main(make: Callable[..., Emulator], name: str) -> None:
    """Run as a process: `python -m tests.emulators.<name> --port N --latency S`."""
    parser = argparse.ArgumentParser(prog=f"tests.emulators.{name}")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between events")
    parser.add_argument("--deltas", type=int, default=2, help="pieces an answer comes in")
    parser.add_argument("--key", default=None, help="the one good key; any key when left out")
    given = parser.parse_args()
    emulator = make(
        latency=given.latency, pace=given.pace, deltas=given.deltas, key=given.key, keep=0
    )
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(_stand(emulator, given.port))
