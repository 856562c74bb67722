"""How an export reads: its README, talks as Markdown, lists of memory; pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_SPEAKERS = {"user": "You", "assistant": "Assistant", "tool": "Tools"}
_ABOUT: Mapping[str, str] = {
    "person.json": "you, as the house knows you, and what you have set",
    "accounts.json": "your accounts on chat platforms",
    "talks/": "every talk of yours, a file a session: as Markdown to read, as JSON with all of it",
    "memory/MEMORY.md, memory/USER.md": "what is remembered of you now",
    "ledger.json, ledger.md": "every change of your memory, and the words that it rests on",
    "archive.json, archive.md": "what was put into your archive",
    "shares.json": "entries of your memory that others may see",
    "blocks.json, blocks/": "named blocks of memory that you made, and what stands in them now",
    "summaries.json": "what long talks were summed up as",
    "questions.json": "what you were asked with buttons, and what you answered",
    "turns.json": "when you asked for something, and how it ended",
    "usage.json": "what your requests have cost; a million micro-dollars is a dollar",
    "jobs.json": "what is to be done for you at set times",
    "deeds.json": "what you did about accounts, sharing and rooms",
    "sources/": "files that were put into the house for your digests, as calendars",
    "files/": "files that you sent and that were made for you, by the beginning of their hash",
}


def write_readme(name: str, now: int) -> str:
    """What each file of an export is."""
    lines = [f"- `{file}`: {what}" for file, what in _ABOUT.items()]
    return "\n".join(
        [
            f"# All that this house holds of {name or 'you'}",
            "",
            f"Made on {write_time(now)}. Times in the JSON files are milliseconds since 1970, UTC.",
            "Talks that a whole room shares are the room's and not in here. What was forgotten",
            "reads `[forgotten]`. A large export comes in several archives: put them together.",
            "",
            *lines,
            "",
        ]
    )


def write_heading(session: Mapping[str, object]) -> str:
    """The head of a talk."""
    title = str(session["title"] or "") or f"Talk {session['id']}"
    place = "direct talk" if session["is_direct"] else f"room {session['room'] or ''}".strip()
    began = write_time(_number(session["started_at"]))
    return f"# {title}\n\n{place}, begun {began}\n"


def write_message(role: str, platform: str, at: int, parts: Sequence[Part]) -> str:
    """One message of a talk."""
    body = "\n\n".join(filter(None, map(_write_part, parts)))
    return f"\n## {_SPEAKERS.get(role, role)}, {write_time(at)}, {platform}\n\n{body}\n"


def write_change(row: Mapping[str, object]) -> str:
    """One change of memory."""
    before, after = row["before"], row["after"]
    when, what = write_time(_number(row["created_at"])), f"{row['operation']} ({row['target']})"
    lines = [f"- {when}: {what}, by {row['actor']}"]
    lines += [f"  - before: {_flat(before)}"] if before is not None else []
    lines += [f"  - after: {_flat(after)}"] if after is not None else []
    lines += [f"  - rests on: {_flat(row['evidence'])}"] if row["evidence"] else []
    return "\n".join(lines) + "\n"


def write_kept(row: Mapping[str, object]) -> str:
    """One entry of the archive."""
    tags = ", ".join(json.loads(str(row["tags"])))
    head = f"\n## {write_time(_number(row['created_at']))}{f' ({tags})' if tags else ''}\n\n"
    return f"{head}{row['text']}\n"


def write_time(milliseconds: int) -> str:
    """A moment for people to read, in UTC."""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _write_part(part: Part) -> str:
    if isinstance(part, TextPart):
        return "" if part.is_fact else part.text
    if isinstance(part, ToolCallPart):
        return f"Asked for `{part.name}`: `{part.arguments}`"
    if isinstance(part, ToolResultPart):
        return f"`{part.name}` gave:\n\n" + "\n".join(f"> {one}" for one in part.text.split("\n"))
    if isinstance(part, ImagePart):
        return f"(picture files/{name_file(part.file_key, '')})"
    if isinstance(part, DocumentPart):
        return f"(file {part.name})\n\n{part.text}"
    return ""


def name_file(key: str, name: str) -> str:
    """What a file is called in an export."""
    return f"{key[:16]}-{name}" if name else key[:16]


def _flat(value: object) -> str:
    return " ".join(str(value).split())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
