"""Turns an address into the numbers that Telegram calls it by."""

from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId

_SUPERGROUPS_BELOW = -1_000_000_000_000


def chat_of(address: Address) -> int:
    """The chat's number. Raises `Rejected` if the address is not one of Telegram's."""
    return _number(address.chat_id)


def thread_of(address: Address) -> int | None:
    """The topic's number, None outside topics. Raises `Rejected`."""
    return None if address.thread_id is None else _number(address.thread_id)


def message_of(message_id: PlatformMessageId) -> int:
    """The message's number. Raises `Rejected` if the id is not one of Telegram's."""
    return _number(message_id)


def has_own_count(chat_id: int) -> bool:
    """True for supergroups and channels. All other chats of a bot share one count of messages."""
    return chat_id < _SUPERGROUPS_BELOW


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Rejected(f'"{text}" is no chat, topic or message of Telegram.') from None
