"""A chat through a pipe: it prints the answer to each line before it reads the next line."""

import asyncio
import codecs
import os
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TextIO

import aiohttp

from gateway.home import CONSOLE_SOCKET, CONTROL_SOCKET
from gateway.interfaces.terminal.socket_client import ConsoleLink, Gone, News, Shown

PATIENCE = 120.0
"""Seconds to wait for one answer."""
LOCAL_PATIENCE = 900.0
"""The same, if a server of this machine answers. A turn ends after this time by itself."""
_BLOCK = 65_536
_QUIET = "http://localhost/quiet?platform=console"


class PipeChat:
    """Collects an answer until it is final, and prints it once."""

    def __init__(
        self, home: Path, out: TextIO, *, saves_to: Path | None = None, patience: float = PATIENCE
    ) -> None:
        """`saves_to` is an existing folder in which files of answers are saved; `patience` are the
        seconds to wait for one answer.
        """
        self._patience = patience
        self._home = home
        self._out = out
        self._link = ConsoleLink(home / CONSOLE_SOCKET, self._hear, saves_to=saves_to)
        self._waiting: dict[str, Shown] = {}
        self._printed: dict[str, str] = {}
        self._is_asking = False

    async def hold(self, lines: AsyncIterator[str]) -> int:
        """Send every line that is not empty.

        Return 0 at the end of input, or 1 if an answer did not come in time.
        """
        line = asyncio.create_task(self._link.run())
        try:
            async for text in lines:
                if text.strip() and not await self._ask(text):
                    return 1
        finally:
            line.cancel()
            await asyncio.gather(line, return_exceptions=True)
        return 0

    async def _ask(self, text: str) -> bool:
        """Send a message and print the answer; return False if no answer came in time.

        A live message is not final, and an answer may have several parts. Only the gateway knows
        when the answer is complete, so this asks the gateway.
        """
        self._is_asking = True
        try:
            async with asyncio.timeout(self._patience):
                await self._link.say(text)
                await self._wait_for_quiet()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            why = "in time" if isinstance(error, TimeoutError) else f"({error})"
            print(f"No answer came {why}; it will still be delivered.", file=sys.stderr)
            return False
        finally:
            self._is_asking = False
        self._print()
        return True

    def _print(self) -> None:
        """Print final messages; skip live ones, such as those of turns that wait for a person."""
        for name, shown in self._waiting.items():
            if not shown.is_live and self._printed.get(name) != shown.text:
                print(f"\n{shown.text}" if self._printed else shown.text, file=self._out)
                self._printed[name] = shown.text
        self._waiting = {name: shown for name, shown in self._waiting.items() if shown.is_live}
        self._out.flush()

    async def _wait_for_quiet(self) -> None:
        connector = aiohttp.UnixConnector(str(self._home / CONTROL_SOCKET))
        async with (
            aiohttp.ClientSession(
                connector=connector, timeout=aiohttp.ClientTimeout(total=self._patience)
            ) as session,
            session.get(_QUIET, raise_for_status=True),
        ):
            pass

    async def _hear(self, news: News) -> None:
        if isinstance(news, Shown):
            self._waiting[news.id] = news
            if not self._is_asking:  # an unasked message, such as a reminder
                self._print()
        elif isinstance(news, Gone):
            self._waiting.pop(news.id, None)


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe or a file, without line ends.

    A thread reads, because an event loop can't wait for a file. If the chat ends before its input,
    the thread just stays behind; nothing depends on it.
    """
    loop = asyncio.get_running_loop()
    blocks: asyncio.Queue[bytes] = asyncio.Queue()

    def pump() -> None:
        block = b"-"
        while block:
            try:
                block = os.read(descriptor, _BLOCK)
            except OSError:
                block = b""
            loop.call_soon_threadsafe(blocks.put_nowait, block)

    threading.Thread(target=pump, name="input", daemon=True).start()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    while block := await blocks.get():
        *lines, rest = (rest + decoder.decode(block)).split("\n")
        for line in lines:
            yield line
    if rest:
        yield rest
