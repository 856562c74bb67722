"""Reads the events of a stream of the Messages API as plain dictionaries."""

import json
from collections import deque

import anthropic
from anthropic import AsyncStream

_ERROR = b"error"
_PING = b"ping"


class Events:
    """The events of one call, in order.

    The SDK's own reader looks at every line by itself, and takes twice as long.
    """

    def __init__(self, stream: AsyncStream[object]) -> None:
        """`stream` is read here from its beginning, and by nobody else."""
        self._response = stream.response
        self._chunks = self._response.aiter_bytes()
        self._rest = b""
        self._ready: deque[object] = deque()
        self._fault: Exception | None = None

    async def next(self) -> object | None:
        """The next event; None at the end.

        Raises `anthropic.APIStatusError` at an event that tells of an error, `ValueError` at
        one that is not JSON, and what reading raises.
        """
        while not self._ready:
            if self._fault:
                raise self._fault
            chunk = await anext(self._chunks, None)
            if chunk is None:
                return None
            self._take(chunk)
        return self._ready.popleft()

    async def close(self) -> None:
        """Let go of the call; a second call does nothing."""
        await self._response.aclose()

    def _take(self, chunk: bytes) -> None:
        """Read the events that are whole by now; one without its blank line is not."""
        text = self._rest + chunk
        if b"\r" in text:  # JSON holds none of its own
            text = text.replace(b"\r\n", b"\n")
        *whole, self._rest = text.split(b"\n\n")
        try:
            for lines in whole:
                self._read(lines)
        except (anthropic.APIStatusError, ValueError) as error:
            self._fault = error  # what came before it counts

    def _read(self, lines: bytes) -> None:
        name, data = b"", b""
        for line in lines.split(b"\n"):
            if line.startswith(b"data:"):
                data += line[5:]
            elif line.startswith(b"event:"):
                name = line[6:].strip()
        if name == _ERROR:
            raise self._tell(data.decode(errors="replace").strip())
        if data and name != _PING:
            self._ready.append(json.loads(data.decode()))

    def _tell(self, said: str) -> anthropic.APIStatusError:
        """The same error that a call gets that fails before its stream."""
        try:
            body = json.loads(said)
        except ValueError:
            body = said
        return anthropic.APIStatusError(str(body), response=self._response, body=body)
