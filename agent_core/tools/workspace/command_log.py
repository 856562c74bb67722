"""The output of a long-running command: its newest part, and how far it was read."""

import asyncio

MOST_KEPT = 500_000
"""Bytes of output; older ones are dropped."""


class CommandLog:
    """Collects the output of one command, and records how far it was read."""

    def __init__(self, text: str) -> None:
        """`text` is the command itself, which becomes the first line of the file."""
        self._head = f"$ {text}\n".encode(errors="replace")
        self._data = bytearray()
        self._dropped = 0
        self._read = 0
        self._grown = asyncio.Event()
        self.over = asyncio.Event()
        """Set once the command has ended and its end is recorded."""
        self.is_saved = False
        """True while the file holds the whole output."""

    def add(self, piece: bytes) -> None:
        """Add output."""
        self._data += piece
        excess = max(0, len(self._data) - MOST_KEPT)
        del self._data[:excess]
        self._dropped += excess
        self.is_saved = False
        self._grown.set()

    def close(self) -> None:
        """Wake all who wait for output: no more output will follow."""
        self.over.set()
        self._grown.set()

    async def wait_for_output(self) -> None:
        """Wait until there is unread output, or the command has ended."""
        while not self.over.is_set() and self._read == self._dropped + len(self._data):
            self._grown.clear()
            await self._grown.wait()

    def take(self) -> tuple[bytes, int]:
        """Return the output since the last call, and how many bytes before it were dropped."""
        start = max(self._read, self._dropped)
        missing = start - self._read
        self._read = self._dropped + len(self._data)
        return bytes(self._data[start - self._dropped :]), missing

    def dump(self) -> bytes:
        """Return the content of the file."""
        note = f"[{self._dropped:,} bytes left out]\n".encode() if self._dropped else b""
        return self._head + note + self._data
