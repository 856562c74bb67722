"""Small signs that cost nobody anything: typing, and the eyes on a message that was seen."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adapters.abilities import CanReact, CanType
from adapters.errors import AdapterError
from adapters.ids import PlatformMessageId
from gateway import translate
from gateway.doors import Chat, Door, line_of
from gateway.workers import Workers

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Typing, or, with a message, whether the eyes on it are shown."""

    message_id: str | None = None
    seen: bool = False


class Signs:
    """Shows signs where nothing more important waits. Never raises; what fails is let go."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        doors: Mapping[str, Door],
        is_paused: Callable[[Chat], bool],
    ) -> None:
        self._doors = doors
        self._is_paused = is_paused
        self._workers: Workers[Chat, Sign] = Workers(group, self._show, self._let_go)
        self._is_open = True

    def close(self) -> None:
        """Show nothing any more."""
        self._is_open = False

    def type(self, platform: str, chat: str) -> None:
        """Show that the bot is at work."""
        place = (platform, chat)
        is_able = isinstance(self._doors[platform].adapter, CanType)
        is_planned = any(sign.message_id is None for sign in self._workers.waiting(place))
        if is_able and self._is_free(place) and not is_planned:
            self._workers.put(place, Sign())

    def see(self, platform: str, chat: str, message_id: str) -> bool:
        """Show that a message was seen; False if that can't be shown now."""
        place = (platform, chat)
        if not isinstance(self._doors[platform].adapter, CanReact) or not self._is_free(place):
            return False
        self._workers.put(place, Sign(message_id=message_id, seen=True))
        return True

    def unsee(self, platform: str, chat: str, message_id: str) -> None:
        """Take that away again."""
        if self._is_open and isinstance(self._doors[platform].adapter, CanReact):
            self._workers.put((platform, chat), Sign(message_id=message_id))

    def _is_free(self, place: Chat) -> bool:
        return (
            self._is_open
            and not self._is_paused(line_of(self._doors, place))
            and self._doors[place[0]].pacer.has_room()
        )

    async def _show(self, place: Chat, queue: deque[Sign]) -> None:
        sign = queue.popleft()
        adapter, address = self._doors[place[0]].adapter, translate.read_chat(place[1])
        try:
            if sign.message_id is None:
                if isinstance(adapter, CanType):
                    await adapter.type(address)
            elif isinstance(adapter, CanReact):
                message_id = PlatformMessageId(sign.message_id)
                await adapter.react(address, message_id, seen=sign.seen)
        except AdapterError as error:
            _log.debug("a sign was not shown: %s", error)

    async def _let_go(self, place: Chat, sign: Sign, error: Exception) -> None:
        """A sign that could not be shown is owed to nobody."""
