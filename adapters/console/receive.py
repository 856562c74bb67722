"""Reads what a client of the console writes; pure.

A client writes one JSON object a line:

- `{"type": "hello"}`: somebody is there, and what waits for them may come;
- `{"type": "message", "id": ..., "text": ...}`: a message, under an id that the client makes
  up and uses again if it has to repeat the line;
- `{"type": "got", "key": ...}`: a line with this key was shown.
"""

import json
from dataclasses import dataclass

from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, RawEvent, Sender

CHAT = "local"
"""All clients share one talk: whoever can open the socket owns the home."""
_LONGEST_ID = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """Somebody is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message. The event under which it is stored can be read again by `receive`."""

    event: RawEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A client has shown a line."""

    key: str


def read_line(line: str, *, now: int) -> Said | Got | Hello:
    """What a line says. `now` is in milliseconds since the epoch.

    Raises `ValueError` with a sentence for the one who wrote the line.
    """
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise ValueError("That line is not JSON.") from error
    kind = fields.get("type") if isinstance(fields, dict) else None
    if kind == "hello":
        return Hello()
    if kind == "got" and isinstance(fields.get("key"), str):
        return Got(key=fields["key"])
    if kind != "message":
        raise ValueError('A line is {"type": "hello" | "message" | "got", ...}.')
    event_id, text = fields.get("id"), fields.get("text")
    if not isinstance(event_id, str) or not 0 < len(event_id) <= _LONGEST_ID:
        raise ValueError(f'A message needs an "id", a text of 1 to {_LONGEST_ID} characters.')
    if not isinstance(text, str):
        raise ValueError('A message needs a "text".')
    payload = json.dumps({"id": event_id, "text": text, "at": now}, ensure_ascii=False)
    return Said(event=RawEvent(event_id=EventId(event_id), payload=payload))


def receive(event: RawEvent) -> InboundMessage:
    """The message in a stored event. Raises `ValueError` on anything else."""
    try:
        fields = json.loads(event.payload)
        message_id, text, at = str(fields["id"]), str(fields["text"]), int(fields["at"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"a stored event of the console lacks {error}") from error
    return InboundMessage(
        address=Address(chat_id=CHAT, is_direct=True),
        message_id=PlatformMessageId(message_id),
        sender=Sender(user_id=PlatformUserId(CHAT), display_name="Owner"),
        text=text.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        is_addressed=True,
        sent_at=at,
    )
