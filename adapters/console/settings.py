"""Settings of the console, its owner, and the form of its events."""

import json
import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.ids import EventId
from adapters.messages import RawEvent

OWNER = "local"
"""The user id of whoever can open the socket: the home's owner."""
LONGEST_LINE = 8_000_000
"""The most bytes of one line; an escaped message of a million characters fits."""


def find_account_name() -> str:
    """Return the full name of this process's user, else their login name; "" if there is none."""
    try:
        account = pwd.getpwuid(os.getuid())
    except KeyError:  # in a container, the user id may have no name
        return ""
    return account.pw_gecos.partition(",")[0].strip() or account.pw_name


def write_event(user: str, event_id: str, fields: dict[str, Any], *, now: int) -> RawEvent:
    """Write an event of a user, such as a message with its `text`; `receive` reads it."""
    whose = {} if user == OWNER else {"user": user}
    payload = json.dumps({"id": event_id, "at": now} | whose | fields)
    return RawEvent(event_id=EventId(event_id), payload=payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSettings:
    """The socket's path, and the time that clients have to confirm a message."""

    socket: Path
    confirm: float = 5.0
    """Seconds in which a client must confirm a message."""
    longest_backlog: int = 4 * LONGEST_LINE
    """The most bytes buffered for a client: a client that never reads must not fill the memory."""
