"""What was found in the home of another assistant, in Talaria's terms."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import Mistaken

TOKENS = ("TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
LARGEST = 16 << 20
"""Bytes of a text file that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLine:
    """An entry of memory, a note for the archive, or the whole of SOUL.md."""

    target: str
    """`memory`, `user`, `archive` or `soul`."""
    text: str
    origin: str
    """The file and the place in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundJob:
    """A job, with the options of `talaria jobs add`."""

    title: str
    options: Mapping[str, Any]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundHome:
    """Everything that can be imported. `tokens` are by the names of their variables."""

    name: str
    """Of the other assistant, as sentences say it."""
    lines: Sequence[FoundLine] = ()
    jobs: Sequence[FoundJob] = ()
    skills: Sequence[Path] = ()
    tokens: Mapping[str, str]
    left: Sequence[str] = ()
    """Sentences on what can't be imported, and why."""


def read_text(path: Path) -> str:
    """Read a text file; "" if it is missing. Raises `Mistaken` if it is no text."""
    try:
        if path.stat().st_size > LARGEST:
            raise Mistaken(f"{path} is too large to be a text; nothing was imported.")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Mistaken(f"{path} can't be read as a text; nothing was imported.") from error


def read_json(path: Path) -> Any:
    """Read a JSON file; None if it is missing. Raises `Mistaken` if it is broken."""
    text = read_text(path)
    try:
        return json.loads(text) if text.strip() else None
    except ValueError as error:
        raise Mistaken(f"{path} is not complete JSON; nothing was imported.") from error
