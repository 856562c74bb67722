"""The export archive: its README, conversations as Markdown and JSON, memory, jobs and files."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from agent_core.digest.formatting import SOURCES, list_files, own_folder
from agent_core.execution.files import walk_files
from agent_core.execution.local import WORKSPACES
from agent_core.ids import PersonId, SessionId
from agent_core.memory.files import render
from agent_core.memory.sync import MemoryList, find_list
from agent_core.privacy.export.export_order import ExportOrder
from agent_core.privacy.export.signer import MANIFEST, SIGNATURE
from agent_core.privacy.export.signing import get_public, load_key, sign
from agent_core.privacy.progress import Progress, Report
from agent_core.state.conversations import files
from agent_core.state.engine.connection import list_fields
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import erase_person, export
from agent_core.state.lifecycle.export import ExportedMessage, Row
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.memory.ledger import MemoryTarget
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    dump_parts,
)

_ROOM = 0.75
"""The share of the size limit from which on the next archive begins."""
_SKILLS = "skills"
_LISTED = 130
"""Bytes per file in an archive's directory and manifest, besides the file's name in both."""


FORMAT, VERSION = "talaria-assistant", 1
_NO_TIME = (1980, 1, 1, 0, 0, 0)
Seal = Callable[[Mapping[str, str], bool], tuple[bytes, bytes]]
"""Returns the manifest of an archive and its signature, from the SHA-256 of its files by name. The
second argument says whether the archive is the only one of its export.
"""


def make_seal(order: ExportOrder) -> Seal:
    """Return what signs the archives of an order. Blocks. Raises `OSError` and `ValueError`."""
    key = load_key(order.home)

    def seal(hashes: Mapping[str, str], is_whole: bool) -> tuple[bytes, bytes]:
        said = {
            "format": FORMAT,
            "version": VERSION,
            "name": order.name,
            "made_at": order.now,
            "is_whole": is_whole,
            "is_moved": order.is_moved,
            "key": get_public(key),
            "files": dict(hashes),
        }
        manifest = f"{json.dumps(said, ensure_ascii=False, indent=1)}\n".encode()
        return manifest, sign(key, manifest)

    return seal


class ExportArchive:
    """Archives in a folder: `NAME.zip`, or `NAME-1.zip` and so on. Blocks.

    `most_bytes` is the target size, 0 for no limit; a single larger file exceeds it. Each archive
    ends with a manifest of its files, which `seal` makes from their SHA-256 and signs.
    """

    def __init__(self, folder: Path, name: str, most_bytes: int, seal: "Seal") -> None:
        self._seal = seal
        self._hashes: dict[str, str] = {}
        self._folder = folder
        self._name = name
        self._most = most_bytes
        self._paths: list[Path] = []
        self._zip: zipfile.ZipFile | None = None

    def add(self, name: str, pieces: Iterable[str | bytes]) -> None:
        """Write a file from pieces, of any size, without holding all of it in memory.

        Bytes of the name that are not UTF-8 become numbers, such as `&#56553;` for 0xE9.
        """
        target, shown = self._open(), name.encode("utf-8", "xmlcharrefreplace").decode()
        info = zipfile.ZipInfo(shown, _NO_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED  # a file's own entry ignores the archive's
        digest = hashlib.sha256()
        with target.open(info, "w", force_zip64=True) as file:
            for piece in pieces:
                data = piece.encode("utf-8", "replace") if isinstance(piece, str) else piece
                digest.update(data)
                file.write(data)
        self._hashes[shown] = digest.hexdigest()

    def close(self) -> list[Path]:
        """Finish and return the archives."""
        self._end(is_whole=len(self._paths) == 1)
        if len(self._paths) == 1:
            return [self._paths[0].rename(self._folder / f"{self._name}.zip")]
        return self._paths

    def _end(self, *, is_whole: bool) -> None:
        """Finish the present archive; `is_whole` if it is the only one."""
        if self._zip is None:
            return
        try:
            manifest, signature = self._seal(self._hashes, is_whole)
            self._zip.writestr(zipfile.ZipInfo(MANIFEST, _NO_TIME), manifest)
            self._zip.writestr(zipfile.ZipInfo(SIGNATURE, _NO_TIME), signature)
        finally:
            self._zip.close()
            self._zip, self._hashes = None, {}

    def _open(self) -> zipfile.ZipFile:
        if self._zip and self._most and _size(self._zip) > self._most * _ROOM:
            self._end(is_whole=False)
        if self._zip is None:
            path = self._folder / f"{self._name}-{len(self._paths) + 1}.zip"
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._paths.append(path)
            self._zip = zipfile.ZipFile(path, "w")
        return self._zip


def _size(archive: zipfile.ZipFile) -> int:
    """Estimate the size of an archive with its directory."""
    written = archive.fp.tell() if archive.fp else 0
    return written + sum(_LISTED + 2 * len(file.filename) for file in archive.filelist)


_SPEAKERS = {"user": "You", "assistant": "Assistant", "tool": "Tools"}
_ABOUT: Mapping[str, str] = {
    "person.json": "your profile and your settings",
    "accounts.json": "your accounts on chat platforms",
    "talks/": "your conversations, one file per session: Markdown to read, JSON with all details",
    "memory/MEMORY.md, memory/USER.md": "what is remembered about you now",
    "ledger.json, ledger.md": "every change of your memory, and the messages it is based on",
    "archive.json, archive.md": "the entries of your archive",
    "shares.json": "entries of your memory that others may see",
    "blocks.json, blocks/": "memory blocks that you created, and their present content",
    "summaries.json": "summaries of long conversations",
    "questions.json": "questions with buttons, and your answers",
    "approvals.json": "what you allowed me to do, once or in advance",
    "api_tokens.json": "the tokens of your other programs, without their secrets",
    "connections.json": "the MCP servers that you signed in to, without the tokens",
    "webhooks.json": "where your events are sent, without the secrets",
    "webhook_deliveries.json": "events that were sent there, or wait",
    "reading_consents.json": "when you let an owner read your conversations",
    "turns.json": "your requests, and how they ended",
    "usage.json": "the cost of your requests; a million micro-dollars is a dollar, and null an"
    " unknown price",
    "jobs.json": "your scheduled jobs",
    "job_versions.json": "what your jobs were before you changed them",
    "deeds.json": "your actions on accounts, sharing and rooms",
    "sources/": "files for your digests, such as calendars",
    "workspace/": "files that I made or changed for you",
    "skills/": "the skills of this home, for owners",
    "sessions.json": "your conversations with their titles and times",
    "manifest.json, manifest.sig": "the SHA-256 of each file, and the signature of this home",
    "files/": "files that you sent or received, named by the start of their hash",
}


def write_readme(name: str, now: int) -> str:
    """Write the README with the purpose of each file."""
    lines = [f"- `{file}`: {what}" for file, what in _ABOUT.items()]
    return "\n".join(
        [
            f"# All data about {name or 'you'}",
            "",
            f"Made on {write_time(now)}. Times in the JSON files are milliseconds since 1970, UTC.",
            "Conversations shared by a room belong to the room and are not included. Removed words",
            "read `[forgotten]`. A large export consists of several archives: unpack all of them.",
            "",
            *lines,
            "",
        ]
    )


def write_heading(session: Mapping[str, object]) -> str:
    """Write the heading of a conversation."""
    title = str(session["title"] or "") or f"Talk {session['id']}"
    place = "direct talk" if session["is_direct"] else f"room {session['room'] or ''}".strip()
    began = write_time(_number(session["started_at"]))
    return f"# {title}\n\n{place}, begun {began}\n"


def write_message(role: str, platform: str, at: int, parts: Sequence[Part]) -> str:
    """Write one message of a conversation."""
    body = "\n\n".join(filter(None, map(_write_part, parts)))
    return f"\n## {_SPEAKERS.get(role, role)}, {write_time(at)}, {platform}\n\n{body}\n"


def write_change(row: Mapping[str, object]) -> str:
    """Write one change of memory."""
    before, after = row["before"], row["after"]
    when, what = write_time(_number(row["created_at"])), f"{row['operation']} ({row['target']})"
    lines = [f"- {when}: {what}, by {row['actor']}"]
    lines += [f"  - before: {_flat(before)}"] if before is not None else []
    lines += [f"  - after: {_flat(after)}"] if after is not None else []
    lines += [f"  - rests on: {_flat(row['evidence'])}"] if row["evidence"] else []
    return "\n".join(lines) + "\n"


def write_archived(row: Mapping[str, object]) -> str:
    """Write one archive entry."""
    tags = ", ".join(json.loads(str(row["tags"])))
    head = f"\n## {write_time(_number(row['created_at']))}{f' ({tags})' if tags else ''}\n\n"
    return f"{head}{row['text']}\n"


def write_time(milliseconds: int) -> str:
    """Format a time in UTC for people."""
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
    """Build the name of a file in the export."""
    return f"{key[:16]}-{name}" if name else key[:16]


def _flat(value: object) -> str:
    return " ".join(str(value).split())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


T = TypeVar("T")

_PIECE = 1 << 20
_BETWEEN_REPORTS = 1000
"""Messages between two reports; they take some 20 ms."""
_LISTS: tuple[tuple[MemoryTarget, str], ...] = (("memory", "MEMORY.md"), ("user", "USER.md"))


def write_export(
    connection: Connection,
    bundle: ExportArchive,
    order: ExportOrder,
    report: Report,
) -> None:
    """Write all data of a person into the archives. Blocks until done.

    Raises `OSError` if the disk is full, and `StoreDamaged`.
    """
    subject, home = order.subject, order.home
    bundle.add("README.md", [write_readme(order.name, order.now)])
    for table in export.TABLES:
        rows = export.walk_table(connection, table=table, subject=subject)
        bundle.add(f"{table}.json", _write_json(rows))
    changes = export.walk_table(connection, table="ledger", subject=subject)
    bundle.add("ledger.md", map(write_change, changes))
    kept = export.walk_table(connection, table="archive", subject=subject)
    bundle.add("archive.md", map(write_archived, kept))
    for target, file in _LISTS:
        bundle.add(f"memory/{file}", [render(_find_entries(connection, subject, target))])
    for block_id, label in export.list_blocks(connection, subject=subject):
        bundle.add(f"blocks/{label}.md", [render(_find_notes(connection, block_id))])
    bundle.add("sessions.json", _write_json(export.walk_sessions(connection, subject=subject)))
    keys: dict[str, str] = {}
    tally = _Tally(export.count_messages(connection, subject=subject), report)
    for session in export.walk_sessions(connection, subject=subject):
        _add_conversation(connection, bundle, subject, session, keys, tally)
    keys |= dict(export.walk_files(connection, subject=subject))
    for key, made in keys.items():
        stored = files.find(connection, key=key)
        if stored:
            bundle.add(f"files/{name_file(key, made)}", [stored.data])
    for slug in erase_person.list_slugs(connection, subject=subject):
        folder = own_folder(home / SOURCES, "people", slug)
        for path in list_files(folder):
            bundle.add(f"sources/{slug}/{path.relative_to(folder)}", _read(path))
        for name, pieces in walk_files(home / WORKSPACES / slug):
            bundle.add(f"workspace/{slug}/{name}", pieces)
    for name, pieces in walk_files(home / _SKILLS) if order.has_skills else ():
        if not name.startswith("."):
            bundle.add(f"skills/{name}", pieces)


class _Tally:
    """Reports the messages that were packed; each is packed twice, as text and with its details."""

    def __init__(self, total: int, report: Report) -> None:
        self._total = total
        self._report = report
        self._read = 0

    def count(self, messages: Iterable[T]) -> Iterator[T]:
        """Yield messages, and count them."""
        for message in messages:
            if self._read % _BETWEEN_REPORTS == 0:
                self._report(Progress(stage="pack", done=self._read // 2, total=self._total))
            self._read += 1
            yield message


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _find_entries(
    connection: Connection, subject: DataSubject, target: MemoryTarget
) -> tuple[str, ...]:
    memory_list = MemoryList(person_id=PersonId(subject.person_ids[0]), target=target, limit=0)
    return find_list(connection, memory_list)


def _find_notes(connection: Connection, block_id: PersonId) -> tuple[str, ...]:
    return find_list(connection, MemoryList(person_id=block_id, target="memory", limit=0))


def _add_conversation(
    connection: Connection,
    bundle: ExportArchive,
    subject: DataSubject,
    session: Row,
    keys: dict[str, str],
    tally: "_Tally",
) -> None:
    """Write one session as Markdown and JSON; collects its image keys in `keys`."""
    session_id = SessionId(int(str(session["id"])))
    name = f"talks/{'direct' if session['is_direct'] else 'room'}-{session_id:06}"

    def read() -> Iterator[ExportedMessage]:
        return tally.count(export.walk_messages(connection, session_id=session_id, subject=subject))

    def write() -> Iterator[str]:
        yield write_heading(session)
        for one in read():
            keys.update({part.file_key: "" for part in one.parts if isinstance(part, ImagePart)})
            yield write_message(one.role, one.platform, one.created_at, one.parts)

    bundle.add(f"{name}.md", write())
    messages = ({**list_fields(one), "parts": json.loads(dump_parts(one.parts))} for one in read())
    bundle.add(f"{name}.json", _write_json(messages))


def _write_json(rows: Iterable[Row]) -> Iterator[str]:
    """Write a JSON list with one row per line."""
    is_first = True
    yield "["
    for row in rows:
        yield f"{'' if is_first else ','}\n  {json.dumps(row, ensure_ascii=False)}"
        is_first = False
    yield "\n]\n"
