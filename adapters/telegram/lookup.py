"""Tracks message ids and proposes candidates for a message of unknown delivery."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId
from adapters.toolkit import BoundedDict

_SUPERGROUPS_BELOW = -1_000_000_000_000


def chat_of(address: Address) -> int:
    """Return the chat's number. Raises `Rejected` if the address is not Telegram's."""
    return _number(address.chat_id)


def thread_of(address: Address) -> int | None:
    """Return the topic's number, or None outside topics. Raises `Rejected`."""
    return None if address.thread_id is None else _number(address.thread_id)


def message_of(message_id: PlatformMessageId) -> int:
    """Return the message's number. Raises `Rejected` if the id is not Telegram's."""
    return _number(message_id)


def has_own_count(chat_id: int) -> bool:
    """True for supergroups and channels; a bot's other chats share one id sequence."""
    return chat_id < _SUPERGROUPS_BELOW


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Rejected(f'"{text}" is no chat, topic or message of Telegram.') from None


_MOST_PROBES = 100
_MARGIN = 20
"""Ids that may be used already while their messages are in flight: the 16 concurrent calls, and
a few messages of people.
"""
_REMEMBERED = 4096
_ACCOUNT = 0
"""Stands for all private chats and basic groups, which share one sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Ids to try, in order, and whether the message may have a higher one."""

    within_reach: list[int]
    are_more: bool


class RecentIds:
    """The newest ids seen, and the last few thousand messages of this process."""

    def __init__(self) -> None:
        self._newest: dict[int, int] = {}
        self._sent: BoundedDict[tuple[int, int], None] = BoundedDict(_REMEMBERED)

    def note_sent(self, chat_id: int, message_id: int) -> None:
        """Record the id of a message that we sent."""
        self._sent.put((chat_id, message_id), None)
        self._note(chat_id, message_id)

    def note_updates(self, updates: Iterable[dict[str, Any]]) -> None:
        """Record the ids of people's messages; skips unreadable updates."""
        for update in updates:
            message = update.get("message")
            if isinstance(message, dict) and isinstance(message.get("chat"), dict):
                chat_id, message_id = message["chat"].get("id"), message.get("message_id")
                if isinstance(chat_id, int) and isinstance(message_id, int):
                    self._note(chat_id, message_id)

    def newest(self, chat_id: int) -> int | None:
        """Return the newest id seen in this chat's sequence."""
        return self._newest.get(_counter(chat_id))

    def candidates(self, chat_id: int, after: int) -> Candidates:
        """Return the ids after `after` that a message in doubt may have."""
        newest = self._newest.get(_counter(chat_id), 0)
        end = max(newest, after) + _MARGIN if newest else after + _MOST_PROBES
        within_reach = range(after + 1, min(end, after + _MOST_PROBES) + 1)
        return Candidates(
            within_reach=[i for i in within_reach if (chat_id, i) not in self._sent],
            are_more=end > after + _MOST_PROBES,
        )

    def _note(self, chat_id: int, message_id: int) -> None:
        counter = _counter(chat_id)
        self._newest[counter] = max(self._newest.get(counter, 0), message_id)


def _counter(chat_id: int) -> int:
    return chat_id if has_own_count(chat_id) else _ACCOUNT
