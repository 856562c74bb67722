"""The home of OpenClaw (`~/.openclaw`): its workspace, and the tokens of its channels."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway.errors import Mistaken
from gateway.interfaces.cli.imports.found import FoundHome, FoundLine, read_json, read_text

_PLACES = {
    "TELEGRAM_BOT_TOKEN": ("telegram", "botToken"),
    "DISCORD_BOT_TOKEN": ("discord", "token"),
    "SLACK_BOT_TOKEN": ("slack", "botToken"),
    "SLACK_APP_TOKEN": ("slack", "appToken"),
}
"""The variables, and where `openclaw.json` has them under `channels`."""
_BULLET = re.compile(r"^\s*[-*] +", re.MULTILINE)
_NOTE = 7000


def read_openclaw(folder: Path) -> FoundHome:
    """Read everything. Raises `Mistaken` if it is no home of OpenClaw, or if a file is broken."""
    config = folder / "openclaw.json"
    workspace = folder / "workspace"
    if not config.exists() and not workspace.is_dir():
        raise Mistaken(f"{folder} is not a home of OpenClaw; it is usually ~/.openclaw.")
    left = ["Jobs and conversations, which OpenClaw keeps in databases of its own."]
    try:
        settings = read_json(config)
    except Mistaken:
        # People write comments into it, which JSON has none of.
        settings = None
        left.append("The tokens of openclaw.json, which is not plain JSON; use `talaria setup`.")
    channels = settings.get("channels", {}) if isinstance(settings, dict) else {}
    return FoundHome(
        name="OpenClaw",
        lines=list(_read_lines(workspace)),
        skills=sorted(
            path.parent
            for place in (workspace / "skills", folder / "skills")
            for path in place.glob("*/SKILL.md")
        ),
        tokens=_read_tokens(channels),
        left=left,
    )


def _read_lines(workspace: Path) -> Iterator[FoundLine]:
    for target, name in (("memory", "MEMORY.md"), ("user", "USER.md")):
        for number, text in _split(read_text(workspace / name)):
            yield FoundLine(target=target, text=text, origin=f"workspace/{name}, line {number}")
    soul = read_text(workspace / "SOUL.md").strip()
    if soul:
        yield FoundLine(target="soul", text=soul + "\n", origin="workspace/SOUL.md")
    for path in sorted((workspace / "memory").glob("*.md")):
        text = read_text(path).strip()
        for at in range(0, len(text), _NOTE):
            yield FoundLine(
                target="archive",
                text=f"Notes of OpenClaw, {path.stem}\n{text[at : at + _NOTE]}",
                origin=f"workspace/memory/{path.name}, from character {at}",
            )


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the bullets and paragraphs of a Markdown text, without headings, by their lines."""
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        ends = not line.strip() or line.lstrip().startswith("#") or _BULLET.match(line)
        if ends and block:
            yield first, _BULLET.sub("", "\n".join(block)).strip()
            block = []
        if line.strip() and not line.lstrip().startswith("#"):
            first = number if not block else first
            block.append(line)


def _read_tokens(channels: Any) -> Mapping[str, str]:
    found = {}
    for variable, (channel, key) in _PLACES.items():
        table = channels.get(channel) if isinstance(channels, dict) else None
        value = table.get(key) if isinstance(table, dict) else None
        if isinstance(value, str) and value and not value.startswith("$"):
            found[variable] = value
    return found
