"""The memory, skills and jobs of another assistant's home, in Talaria's terms."""

import json
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.registry import list_declared
from agent_core.state.lifecycle.foreign_sessions import ForeignSession
from gateway.errors import Mistaken
from gateway.operations.import_types import Target

FOREIGN_PLACES = {
    one.name: (platform.name, one.foreign_key)
    for platform in list_declared().values()
    for one in platform.variables
    if one.foreign_key
}
"""The variables of tokens that others have, too: the platform, and its key in OpenClaw's settings.
"""
LISTS: tuple[tuple[Target, str], ...] = (("memory", "MEMORY.md"), ("user", "USER.md"))
"""The lists of memory, with the files of both assistants."""
NOTE = 7000
"""Most characters of a note: with its heading, a note stays below the archive's limit."""
LARGEST = 16 << 20
"""Largest text file that is read, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLine:
    """An entry of memory, a note for the archive, or the whole of SOUL.md."""

    target: Target
    text: str
    origin: str
    """The file, and the place in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJob:
    """A job, with the options of `talaria jobs add`."""

    title: str
    options: Mapping[str, Any]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundHome:
    """Everything that can be imported. The keys of `tokens` are names of variables."""

    name: str
    """The name of the other assistant, for sentences."""
    lines: Sequence[FoundLine] = ()
    jobs: Sequence[FoundJob] = ()
    skills: Sequence[Path] = ()
    tokens: Mapping[str, str]
    left: Sequence[str] = ()
    """Sentences that say what can't be imported, and why."""


def note_session(session: ForeignSession, name: str, file: str) -> Iterator[FoundLine]:
    """Split a conversation with another assistant into notes for the archive."""
    try:
        day = f" of {datetime.fromtimestamp(session.started_at, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        day = ""
    heading = f"Conversation with {name}{day}: {session.title or session.id}"
    names = {"user": "Person", "assistant": name.partition(" ")[0]}
    text = "\n".join(f"{names[role]}: {said.strip()}" for role, said in session.messages)
    pieces = list(_divide(text))
    for number, piece in enumerate(pieces, 1):
        part = f" ({number} of {len(pieces)})" if len(pieces) > 1 else ""
        origin = f"{file}, session {session.id}{part}"
        yield FoundLine(target="archive", text=f"{heading}{part}\n{piece}", origin=origin)


def _divide(text: str) -> Iterator[str]:
    """Split a text into pieces, at line breaks if possible."""
    while len(text) > NOTE:
        at = text.rfind("\n", 0, NOTE)
        at = at if at > 0 else NOTE
        yield text[:at]
        text = text[at:].lstrip("\n")
    if text:
        yield text


def read_moment(text: str) -> dict[str, str] | None:
    """Read an ISO time as options of a job; None if the text is no ISO time.

    Talaria's times are local, so a time with an offset becomes UTC.
    """
    try:
        at = datetime.fromisoformat(text)
        local = at.astimezone(UTC) if at.tzinfo else at
    except (ValueError, OverflowError):
        return None
    zone = {"zone": "UTC"} if at.tzinfo else {}
    return {"at": local.strftime("%Y-%m-%dT%H:%M"), **zone}


def read_text(path: Path) -> str:
    """Read a text file; "" if it is missing. Raises `Mistaken` if it is not UTF-8 or too large."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Mistaken(f"{path} is not a file; nothing was imported.")
        if found.st_size > LARGEST:
            raise Mistaken(f"{path} is too large to be a text; nothing was imported.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Mistaken(f"{path} is not a text file in UTF-8; nothing was imported.") from error


def read_json(path: Path) -> Any:
    """Read a JSON file; None if it is missing. Raises `Mistaken` if it is broken."""
    text = read_text(path)
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError) as error:
        raise Mistaken(f"{path} is not complete JSON; nothing was imported.") from error
