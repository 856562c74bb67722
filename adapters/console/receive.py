"""Reads one stored line of a terminal as a message from the person at it; pure."""

import json

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender

HERE = Address(chat_id="local", is_direct=True)
"""All terminals show one and the same talk."""

_PERSON = Sender(user_id=PlatformUserId("local"), display_name="you")
"""Whoever may open the socket owns the home."""


def pack(message_id: str, text: str, *, now: int) -> str:
    """The JSON text to store; `now` is in milliseconds since the epoch."""
    return json.dumps({"id": message_id, "text": text, "at": now})


def receive(payload: str) -> InboundMessage:
    """The message in a packed line. Raises `ValueError` on what can't be read."""
    match json.loads(payload):
        case {"id": str(message_id), "text": str(text), "at": int(sent_at)}:
            return InboundMessage(
                address=HERE,
                message_id=PlatformMessageId(message_id),
                sender=_PERSON,
                text=text,
                is_addressed=True,
                sent_at=sent_at,
            )
        case _:
            raise ValueError("a line of a terminal should have id, text and at")
