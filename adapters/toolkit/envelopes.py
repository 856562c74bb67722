"""Stored events: parses their envelopes, and wraps events that an adapter cannot read."""

import hashlib
import json
from typing import Any

from adapters.ids import EventId
from adapters.messages import RawEvent
from adapters.toolkit.text import Json, inside, plain_text, words_in

_UNREADABLE = "unreadable"
_SURROGATE = "\\ud"
"""The start of an escaped surrogate, as `json.dumps` writes it."""
_LONGEST = 65_536
"""Characters of an unreadable event to keep; chat platforms send smaller ones."""


def read_envelope(payload: str) -> Json:
    """Parse a stored event, and replace unpaired surrogates, which no store or model takes.

    Raises `ValueError` on anything but an object, and on an event of `make_unreadable`.
    """
    envelope: Any = json.loads(payload)
    if not isinstance(envelope, dict):
        raise ValueError("an event is no object")
    if _UNREADABLE in envelope:
        raise ValueError(words_in(inside(envelope, _UNREADABLE), "fault"))
    if _SURROGATE in payload:
        envelope = json.loads(plain_text(json.dumps(envelope, ensure_ascii=False)))
    return dict(envelope)


def make_unreadable(data: object, fault: str) -> RawEvent:
    """Wrap an event that cannot be read, so that the gateway stores and parks it.

    The id depends on the content only: a redelivered event is stored once.
    """
    try:
        text = json.dumps(data)
    except (ValueError, RecursionError):  # nested more deeply than it can be written
        text = ""
    digest = hashlib.sha256(text.encode()).hexdigest()
    about = {"data": text[:_LONGEST], "fault": plain_text(fault)}
    return RawEvent(
        event_id=EventId(f"{_UNREADABLE}/{digest}"), payload=json.dumps({_UNREADABLE: about})
    )
