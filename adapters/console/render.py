"""Writes what the clients of the console read; pure.

The server writes one JSON object a line:

- `{"type": "ack", "id": ...}`: the message or press of this id is stored;
- `{"type": "said", "id": ..., "text": ..., "files": [...]}`: another client has sent this message;
- `{"type": "message" | "edit", "id": ..., "text": ..., "key": ..., "at": ..., "live": ...,
  "silent": ...,
  "file": {"name": ..., "type": ..., "data": ...},
  "buttons": [{"key": ..., "label": ..., "style": ...}]}`: a new message, or the new content of one.
  A client answers `got` with the key. `at` is when it was said, in milliseconds UTC, or 0: whoever
  opens the console later gets what waited. It replaces a message that it shows under the same id.
  `live` means that the message will change. A live message that is not sent again after a new
  `hello` may be complete. A file is in base64, or null. The buttons belong below the text; an edit
  without buttons removes them. A client that did not announce buttons gets none. It gets their
  labels as a numbered list below the text, because a person may answer in words, too;
- `{"type": "delete", "id": ..., "key": ...}`: the client removes the message. It answers `got` with
  the key, even if it does not have the message;
- `{"type": "seen", "id": ..., "seen": ...}`: the gateway works on the message that a client sent
  under this id or, if false, no longer does;
- `{"type": "typing"}`: the gateway is working;
- `{"type": "error", "text": ...}`: a line of the client is not usable.
"""

import base64
import json
from dataclasses import dataclass

from adapters.messages import InboundMessage, OutboundFile, OutboundMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line in two forms: for clients with buttons and for those without."""

    full: str
    plain: str


def render_message(message: OutboundMessage, *, message_id: str, key: str, is_edit: bool) -> Line:
    """Render a message or its new text."""
    fields = {
        "type": "edit" if is_edit else "message",
        "id": message_id,
        "text": message.text,
        "key": key,
        "at": message.at,
        "live": message.is_live,
        "silent": message.is_silent,
        "file": _file(message.file) if message.file else None,
    }
    buttons = [
        {"key": button.key, "label": button.label, "style": button.style}
        for button in message.buttons
    ]
    choices = [f"{number}. {one.label}" for number, one in enumerate(message.buttons, 1)]
    in_words = "\n".join([message.text, "", *choices]) if choices else message.text
    return Line(
        full=_line(**fields, buttons=buttons),
        plain=_line(**fields | {"text": in_words}, buttons=[]),
    )


def _file(file: OutboundFile) -> dict[str, str]:
    data = base64.b64encode(file.data).decode()
    return {"name": file.name, "type": file.media_type, "data": data}


def render_said(message: InboundMessage) -> Line:
    """Render a message of one client for the others."""
    files = [
        {"key": one.file_id, "name": one.name or "", "type": one.media_type or ""}
        for one in message.attachments
    ]
    line = _line(type="said", id=message.message_id, text=message.text, files=files)
    return Line(full=line, plain=line)


def render_deletion(message_id: str, *, key: str) -> Line:
    """Render the deletion of a message."""
    line = _line(type="delete", id=message_id, key=key)
    return Line(full=line, plain=line)


def render_sign(message_id: str, *, seen: bool) -> Line:
    """Render the eyes on a client's message, or the removal of the eyes."""
    line = _line(type="seen", id=message_id, seen=seen)
    return Line(full=line, plain=line)


def render_ack(event_id: str) -> str:
    """Render the acknowledgement of a stored message."""
    return _line(type="ack", id=event_id)


def render_typing() -> Line:
    """Render the typing indicator."""
    line = _line(type="typing")
    return Line(full=line, plain=line)


def render_error(sentence: str) -> str:
    """Render the reason why a line is not usable."""
    return _line(type="error", text=sentence)


def _line(**fields: object) -> str:
    # ASCII only: otherwise, a lone surrogate could not be sent.
    return json.dumps(fields, separators=(",", ":")) + "\n"
