"""Reads what a client of the console writes; pure.

A client writes one JSON object a line:

- `{"type": "hello"}`: somebody is there, and what waits for them may come;
- `{"type": "message", "id": ..., "text": ...}`: a message, under an id that the client makes
  up and uses again if it has to repeat the line;
- `{"type": "got", "key": ...}`: a line with this key was shown.
"""

import json
import re
from dataclasses import dataclass

from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, RawEvent, Sender

CHAT = "local"
"""All clients share one talk: whoever can open the socket owns the home."""
_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")


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
    except (ValueError, RecursionError) as error:
        raise ValueError("That line is not JSON.") from error
    kind = fields.get("type") if isinstance(fields, dict) else None
    if kind == "hello":
        return Hello()
    if kind == "got" and isinstance(fields.get("key"), str):
        return Got(key=fields["key"])
    if kind != "message":
        raise ValueError('A line is {"type": "hello" | "message" | "got", ...}.')
    event_id, text = fields.get("id"), fields.get("text")
    if not isinstance(event_id, str) or not _ID.fullmatch(event_id):
        raise ValueError('A message needs an "id": 1 to 100 of the letters A-Z a-z 0-9 . _ : -')
    if not isinstance(text, str):
        raise ValueError('A message needs a "text".')
    payload = json.dumps({"id": event_id, "text": text, "at": now})
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
        text=_clean(text),
        is_addressed=True,
        sent_at=at,
    )


def _clean(text: str) -> str:
    """Text without what no text may hold: NUL, and halves of surrogate pairs."""
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
