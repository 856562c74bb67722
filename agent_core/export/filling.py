"""Fills archives with all that the house holds of a person, in one reading of the database."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_core.digest.folders import list_files, own_folder
from agent_core.export import layout
from agent_core.export.bundle import Bundle
from agent_core.ids import PersonId, SessionId
from agent_core.memory.entries import render
from agent_core.memory.reconcile import Shelf, find_list
from agent_core.state import erasing, exporting, files
from agent_core.state.database import Connection
from agent_core.state.exporting import Row
from agent_core.state.ledger import Target
from agent_core.state.traces import Whose
from agent_core.transcript import ImagePart, load_parts

_PIECE = 1 << 20
_LISTS: tuple[tuple[Target, str], ...] = (("memory", "MEMORY.md"), ("user", "USER.md"))


def fill(
    connection: Connection, bundle: Bundle, *, whose: Whose, name: str, sources: Path, now: int
) -> None:
    """Write everything of a person into the archives. Blocks for as long as it takes.

    `sources` is the folder of the home that calendar files lie in.

    Raises `OSError` if the disk takes no more, and `StoreDamaged`.
    """
    bundle.add("README.md", [layout.write_readme(name, now)])
    for table in exporting.TABLES:
        rows = exporting.walk_table(connection, table=table, whose=whose)
        bundle.add(f"{table}.json", _write_json(rows))
    changes = exporting.walk_table(connection, table="ledger", whose=whose)
    bundle.add("ledger.md", map(layout.write_change, changes))
    kept = exporting.walk_table(connection, table="archive", whose=whose)
    bundle.add("archive.md", map(layout.write_kept, kept))
    for target, file in _LISTS:
        bundle.add(f"memory/{file}", [render(_find_entries(connection, whose, target))])
    for block_id, label in exporting.list_blocks(connection, whose=whose):
        bundle.add(f"blocks/{label}.md", [render(_find_notes(connection, block_id))])
    keys: dict[str, str] = {}
    for session in exporting.walk_sessions(connection, whose=whose):
        _add_talk(connection, bundle, whose, session, keys)
    keys |= dict(exporting.walk_made(connection, whose=whose))
    for key, made in keys.items():
        stored = files.find(connection, key=key)
        if stored:
            bundle.add(f"files/{layout.name_file(key, made)}", [stored.data])
    for slug in erasing.list_slugs(connection, whose=whose):
        folder = own_folder(sources, "people", slug)
        for path in list_files(folder):
            bundle.add(f"sources/{slug}/{path.relative_to(folder)}", _read(path))


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _find_entries(connection: Connection, whose: Whose, target: Target) -> tuple[str, ...]:
    shelf = Shelf(person_id=PersonId(whose.person_ids[0]), target=target, limit=0)
    return find_list(connection, shelf)


def _find_notes(connection: Connection, block_id: PersonId) -> tuple[str, ...]:
    return find_list(connection, Shelf(person_id=block_id, target="memory", limit=0))


def _add_talk(
    connection: Connection, bundle: Bundle, whose: Whose, session: Row, keys: dict[str, str]
) -> None:
    """One session as Markdown and as JSON; `keys` learns which pictures were sent in it."""
    session_id = SessionId(int(str(session["id"])))
    name = f"talks/{'direct' if session['is_direct'] else 'room'}-{session_id:06}"

    def read() -> Iterator[tuple[int, int, str, str, str, int]]:
        return exporting.walk_messages(connection, session_id=session_id, whose=whose)

    def write() -> Iterator[str]:
        yield layout.write_heading(session)
        for _, _, role, platform, text, at in read():
            parts = load_parts(text)
            keys.update({part.file_key: "" for part in parts if isinstance(part, ImagePart)})
            yield layout.write_message(role, platform, at, parts)

    bundle.add(f"{name}.md", write())
    messages = (
        {
            "id": message_id,
            "turn": turn_id,
            "role": role,
            "platform": platform,
            "created_at": at,
            "parts": json.loads(text),
        }
        for message_id, turn_id, role, platform, text, at in read()
    )
    bundle.add(f"{name}.json", _write_json(messages))


def _write_json(rows: Iterable[Row]) -> Iterator[str]:
    """A JSON list, a line each."""
    is_first = True
    yield "["
    for row in rows:
        yield f"{'' if is_first else ','}\n  {json.dumps(row, ensure_ascii=False)}"
        is_first = False
    yield "\n]\n"
