"""Chats as stored text."""

import json
from dataclasses import replace
from functools import lru_cache

from adapters.ids import Address
from agent_core.chats import Chat

QueueKey = tuple[str, str]
"""A platform, and the name of a queue on it; see `name_queue`."""

_MOST_CHATS = 4096


@lru_cache(maxsize=_MOST_CHATS)
def name_chat(address: Address) -> str:
    """Return an address as stored text: equal for the same place."""
    fields: list[object] = [address.chat_id, address.thread_id, address.is_direct]
    if address.ticket is not None:
        fields.append(address.ticket)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def make_chat(platform: str, address: Address) -> Chat:
    """Return the chat of an address on a platform."""
    return Chat(platform=platform, address=name_chat(address))


@lru_cache(maxsize=_MOST_CHATS)
def read_chat(chat: str) -> Address:
    """Return the address of a stored text; the reverse of `name_chat`."""
    chat_id, thread_id, is_direct, *ticket = json.loads(chat)
    return Address(
        chat_id=chat_id,
        thread_id=thread_id,
        is_direct=is_direct,
        ticket=ticket[0] if ticket else None,
    )


def is_chat(chat: str) -> bool:
    """Return whether a stored text is a valid address; False means that it is damaged."""
    try:
        read_chat(chat)
    except (ValueError, TypeError):
        return False
    return True


def is_direct_chat(chat: str) -> bool:
    """Return whether a stored chat is a direct one; an empty name is none."""
    return read_chat(chat).is_direct if chat else False


@lru_cache(maxsize=_MOST_CHATS)
def name_queue(address: Address) -> str:
    """Return the chat within which messages keep their order, as stored text.

    The threads of a direct chat are one conversation: a person who writes in several of them is
    answered in the order of writing.
    """
    return name_chat(replace(address, thread_id=None) if address.is_direct else address)


def start_of(chat_id: str) -> str:
    """Return the beginning of the stored texts that name a chat or a thread of it."""
    return f"{json.dumps([chat_id], ensure_ascii=False)[:-1]},"


def span_threads(address: Address) -> tuple[str, str]:
    """Return the range of stored texts that name a chat or a thread of it: first, and end."""
    start = start_of(address.chat_id)
    return start, f"{start[:-1]}-"  # "-" is the character after ","
