"""The places of running commands: a few for each person, and a few more for the machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from weakref import WeakValueDictionary

from agent_core.execution.subprocesses.spawning import finish
from agent_core.tools.contract import Pause

MOST_OF_PERSON = 4
"""Commands of one person that run at a time; a turn has as many helpers."""
MOST_IN_ALL = 8
"""Commands of all people that run at a time."""


class _Share:
    """The places of one person, in the order of asking."""

    def __init__(self) -> None:
        self.places = asyncio.Semaphore(MOST_OF_PERSON)
        self.alone = asyncio.Lock()
        """Only one command at a time gathers all places."""


class CommandPlaces:
    """Gives places to the commands of all people. One instance serves the whole process."""

    def __init__(self) -> None:
        self._machine = asyncio.Semaphore(MOST_IN_ALL)
        self._people: WeakValueDictionary[str, _Share] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(
        self, slug: str, pause: Pause = nullcontext, *, is_alone: bool = False
    ) -> AsyncIterator[None]:
        """Hold a place of a person during the block, or all of them for a command that `is_alone`.

        `pause` surrounds the wait, if there is one.
        """
        share = self._find(slug)
        count = MOST_OF_PERSON if is_alone else 1
        taken = await self._take(share, pause, count)
        try:
            yield
        finally:
            self._give_back(share, taken)

    @asynccontextmanager
    async def lend(self, slug: str) -> AsyncIterator[None]:
        """Give up a place during the block; afterwards the caller always holds one again."""
        share = self._find(slug)
        self._give_back(share, 1)
        try:
            yield
        finally:
            await finish(self._take(share, nullcontext, 1))

    def _find(self, slug: str) -> _Share:
        share = self._people.get(slug)
        if share is None:
            share = self._people[slug] = _Share()
        return share

    async def _take(self, share: _Share, pause: Pause, count: int) -> int:
        """Take places, and one of the machine; return how many of the person's."""
        is_free = count == 1 and not share.places.locked() and not self._machine.locked()
        async with nullcontext() if is_free else pause():
            taken = 0
            try:
                async with share.alone if count > 1 else nullcontext():
                    while taken < count:
                        await share.places.acquire()
                        taken += 1
                await self._machine.acquire()
            except BaseException:
                self._release(share, taken)
                raise
        return taken

    def _give_back(self, share: _Share, count: int) -> None:
        self._machine.release()
        self._release(share, count)

    def _release(self, share: _Share, count: int) -> None:
        for _ in range(count):
            share.places.release()
