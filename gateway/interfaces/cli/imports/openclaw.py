"""The home of OpenClaw (`~/.openclaw`): workspace, tokens, jobs and conversations."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway.errors import Mistaken
from gateway.interfaces.cli.imports.found import (
    FOREIGN_PLACES,
    LISTS,
    NOTE,
    FoundHome,
    FoundLine,
    read_json,
    read_text,
)
from gateway.interfaces.cli.imports.openclaw_state import read_conversations, read_jobs

_OWN_SOUL = "48d7e911d1addb62dee28ff995698d8f214f15d457998bb27cd38156c4f8c498"
"""The SHA-256 of the SOUL.md that comes with OpenClaw 2026.9."""
_USER_MODEL, _DIRECTIVES = "# USER.md - User Model", "## Directives"
"""The title of the USER.md that comes with OpenClaw, and the heading of the part a person fills in.
"""
_COMMENT = re.compile(r"^\s*<!--.*-->\s*$")
_SUPERSEDED = "status: superseded"
_PLACEHOLDERS = ("Replace the example below", "Prefer ...")
_BULLET = re.compile(r"^\s*[-*] +", re.MULTILINE)


def read_openclaw(folder: Path) -> FoundHome:
    """Read everything. Raises `Mistaken` if it is no home of OpenClaw, or if a file is broken."""
    config = folder / "openclaw.json"
    workspace = folder / "workspace"
    if not config.exists() and not workspace.is_dir():
        raise Mistaken(f"{folder} is not a home of OpenClaw; it is usually ~/.openclaw.")
    left: list[str] = []
    try:
        settings = read_json(config)
    except Mistaken:
        # JSON has no comments, but people write them into this file.
        settings = None
        left.append("The tokens of openclaw.json, which is not plain JSON; use `talaria setup`.")
    channels = settings.get("channels", {}) if isinstance(settings, dict) else {}
    return FoundHome(
        name="OpenClaw",
        lines=[
            *_read_lines(workspace),
            *_read_soul(workspace, left),
            *read_conversations(folder, left),
        ],
        jobs=list(read_jobs(folder, left)),
        skills=sorted(
            path.parent
            for place in (workspace / "skills", folder / "skills")
            for path in place.glob("*/SKILL.md")
        ),
        tokens=_read_tokens(channels),
        left=left,
    )


def _read_lines(workspace: Path) -> Iterator[FoundLine]:
    for target, name in LISTS:
        for number, text in _split(read_text(workspace / name)):
            yield FoundLine(target=target, text=text, origin=f"workspace/{name}, line {number}")
    for path in sorted((workspace / "memory").glob("*.md")):
        text = read_text(path).strip()
        for at in range(0, len(text), NOTE):
            yield FoundLine(
                target="archive",
                text=f"Notes of OpenClaw, {path.stem}\n{text[at : at + NOTE]}",
                origin=f"workspace/memory/{path.name}, from character {at}",
            )


def _read_soul(workspace: Path, left: list[str]) -> Iterator[FoundLine]:
    text = read_text(workspace / "SOUL.md").strip()
    if hashlib.sha256(text.encode()).hexdigest() == _OWN_SOUL:
        left.append("SOUL.md, which is the text that OpenClaw brings, so yours stays.")
    elif text:
        yield FoundLine(target="soul", text=text + "\n", origin="workspace/SOUL.md")


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the bullets and paragraphs of a Markdown text, with their line numbers.

    Leaves out headings, comments, the instructions and placeholders of OpenClaw's own USER.md, and
    entries that a comment marks as superseded.
    """
    block: list[str] = []
    first = 0
    is_read, is_superseded = not text.startswith(_USER_MODEL), False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_heading, is_comment = line.startswith("#"), bool(_COMMENT.match(line))
        if block and (not line.strip() or is_heading or is_comment or _BULLET.match(line)):
            entry = _BULLET.sub("", "\n".join(block)).strip()
            if is_read and not is_superseded and not entry.startswith(_PLACEHOLDERS):
                yield first, entry
            block, is_superseded = [], False
        if is_comment:
            is_superseded = _SUPERSEDED in line
        elif is_heading and text.startswith(_USER_MODEL):
            is_read = line.strip() == _DIRECTIVES
        elif line.strip() and not is_heading:
            first = number if not block else first
            block.append(line)


def _read_tokens(channels: Any) -> Mapping[str, str]:
    found = {}
    for variable, (channel, key) in FOREIGN_PLACES.items():
        table = channels.get(channel) if isinstance(channels, dict) else None
        value = table.get(key) if isinstance(table, dict) else None
        if isinstance(value, str) and value and not value.startswith("$"):
            found[variable] = value
    return found
