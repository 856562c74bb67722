"""Writes what the clients of the console read; pure.

The server writes one JSON object a line:

- `{"type": "ack", "id": ...}`: the message or press of this id is stored;
- `{"type": "message" | "edit", "id": ..., "text": ..., "key": ..., "live": ..., "silent": ...,
  "buttons": [{"key": ..., "label": ..., "style": ...}]}`: a message, or what is to stand in its
  place. A client answers `got` with the key, and shows a message whose id it knows in place of
  the earlier one. `live` means that more will follow in it. The buttons stand below the text;
  an edit without any takes them away;
- `{"type": "typing"}`: somebody is at work;
- `{"type": "error", "text": ...}`: a line of the client could not be used.
"""

import json

from adapters.messages import OutboundMessage


def render_message(message: OutboundMessage, *, message_id: str, key: str, is_edit: bool) -> str:
    """A message, or its new text."""
    return _line(
        type="edit" if is_edit else "message",
        id=message_id,
        text=message.text,
        key=key,
        live=message.is_live,
        silent=message.is_silent,
        buttons=[
            {"key": button.key, "label": button.label, "style": button.style}
            for button in message.buttons
        ],
    )


def render_ack(event_id: str) -> str:
    """That a message is stored."""
    return _line(type="ack", id=event_id)


def render_typing() -> str:
    """That somebody is at work."""
    return _line(type="typing")


def render_error(sentence: str) -> str:
    """Why a line could not be used."""
    return _line(type="error", text=sentence)


def _line(**fields: object) -> str:
    # ASCII only: a lone surrogate could not be sent otherwise.
    return json.dumps(fields, separators=(",", ":")) + "\n"
