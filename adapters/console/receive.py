"""Parses lines that a console client writes; pure.

A client writes one JSON object per line:

- `{"type": "hello", "buttons": ...}`: a client is present and can receive waiting messages;
  `buttons` is true if it shows buttons, others get a numbered list;
- `{"type": "message", "id": ..., "text": ...}`: a message; the client chooses the id and reuses
  it when it repeats the line;
- `{"type": "press", "id": ..., "message": ..., "key": ...}`: a press of the button with this key
  on the message with this id; the press has its own id, as messages have;
- `{"type": "got", "key": ...}`: the client has shown the line with this key.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import ButtonPress, Inbound, InboundMessage, RawEvent, Sender

CHAT = "local"
"""All clients share one conversation: whoever can open the socket owns the home."""
_HERE = Address(chat_id=CHAT, is_direct=True)
_OWNER = Sender(user_id=PlatformUserId(CHAT), display_name="Owner")
_ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """A client is present."""

    shows_buttons: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message or a press; `receive` can parse the stored event again."""

    event: RawEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A client has shown a line."""

    key: str


def read_line(line: str, *, now: int) -> Said | Got | Hello:
    """Parse a client's line. `now` is in milliseconds since the epoch.

    Raises `ValueError` with a sentence for the author of the line.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("That line is not JSON.") from error
    kind = fields.get("type") if isinstance(fields, dict) else None
    if kind == "hello":
        return Hello(shows_buttons=fields.get("buttons") is True)
    if kind == "got" and isinstance(fields.get("key"), str):
        return Got(key=fields["key"])
    if kind == "message":
        found: dict[str, Any] = {"text": _text_in(fields, "text", "A message")}
    elif kind == "press":
        names = ("message", "key")
        found = {"press": True} | {name: _text_in(fields, name, "A press") for name in names}
    else:
        raise ValueError('A line is {"type": "hello" | "message" | "press" | "got", ...}.')
    event_id = fields.get("id")
    if not isinstance(event_id, str) or not _ID.fullmatch(event_id):
        raise ValueError(f'A {kind} needs an "id": 1 to 100 of the letters A-Z a-z 0-9 . _ : -')
    payload = json.dumps({"id": event_id, "at": now} | found)
    return Said(event=RawEvent(event_id=EventId(event_id), payload=payload))


def receive(event: RawEvent) -> Inbound:
    """Parse the message or press of a stored event. Raises `ValueError` on anything else."""
    try:
        fields = json.loads(event.payload)
        if fields.get("press"):
            return ButtonPress(
                address=_HERE,
                message_id=PlatformMessageId(_clean(str(fields["message"]))),
                sender=_OWNER,
                key=_clean(str(fields["key"])),
                sent_at=int(fields["at"]),
            )
        return InboundMessage(
            address=_HERE,
            message_id=PlatformMessageId(str(fields["id"])),
            sender=_OWNER,
            text=_clean(str(fields["text"])),
            is_addressed=True,
            sent_at=int(fields["at"]),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a stored event of the console lacks {error}") from error


def _text_in(fields: dict[str, Any], name: str, what: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise ValueError(f'{what} needs a "{name}".')
    return text


def _clean(text: str) -> str:
    """Remove NUL and unpaired surrogates, which no text may contain."""
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
