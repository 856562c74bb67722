"""What terminals and the gateway say to each other: one JSON object on each line, in UTF-8.

A terminal opens the Unix socket and says `hello`; from then on it is shown everything.

| terminal | meaning |
|---|---|
| `{"type": "hello"}` | show me the talk from here on |
| `{"type": "message", "id": ID, "text": TEXT}` | the person wrote; ID is a fresh UUID, kept when the line is sent again because no `ack` came |
| `{"type": "got", "key": KEY}` | the message with this key is on the screen |

| gateway | meaning |
|---|---|
| `{"type": "ack", "id": ID}` | the message is stored and will be answered, whatever happens |
| `{"type": "message", "id": ID, "text": MARKDOWN, "key": KEY, "silent": BOOL}` | show it, unless KEY was shown already, and in both cases answer `got` |
| `{"type": "edit", "id": ID, "text": MARKDOWN}` | the message with this id reads so now; one that was never seen is shown as new |
| `{"type": "typing"}` | the assistant is at work, for the next five seconds |
| `{"type": "error", "text": SENTENCE, "id": ID}` | the last line was not taken; `id` is there when it had one, and then the line may be sent again |

A line may be 2 MB long. A bad line is answered with `error`, and the talk goes on. A message
counts as delivered when one terminal said `got`. Edits are not confirmed.
"""  # noqa: E501 - tables

import json
import re
from dataclasses import dataclass
from typing import Any

LONGEST_LINE = 2 * 1024 * 1024
"""Bytes. A person pastes up to a megabyte, and JSON may double it."""

_LONGEST_ID = 200
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """A terminal wants to be shown the talk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """The person at a terminal wrote a message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """A terminal has shown a message."""

    key: str


def read_line(line: bytes) -> Hello | Wrote | Got:
    """Read a terminal's line. Raises `ValueError` with a sentence for the terminal."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("The line is no JSON in UTF-8.") from error
    match said:
        case {"type": "hello"}:
            return Hello()
        case {"type": "message", "id": str(message_id), "text": str(text)}:
            if not 0 < len(message_id) <= _LONGEST_ID:
                raise ValueError(f"An id has 1 to {_LONGEST_ID} letters.")
            return Wrote(message_id=_readable(message_id), text=_readable(text))
        case {"type": "got", "key": str(key)}:
            return Got(key=key)
        case _:
            raise ValueError("The line is neither a hello nor a message nor a got.")


def write_line(**said: Any) -> bytes:
    """A line to a terminal."""
    return json.dumps(said).encode() + b"\n"


def _readable(text: str) -> str:
    """Text that every store and model takes: no NUL, no half of a surrogate pair."""
    return _UNREADABLE.sub("\ufffd", text)
