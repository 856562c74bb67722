"""The log of sessions: a file per session, with one JSON document per ended turn."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.agent.replay.trajectories import read_turn, render_turn
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.backup import sync_folder
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person
from agent_core.state.people import people
from agent_core.state.queues import tasks
from agent_core.state.queues.tasks import Task
from agent_core.tools.secret_scan import SecretMask

SESSION_LOG_TASK = "session_log"
"""The kind of the tasks that write one turn."""
_PEOPLE = "people"
_ROTATED = re.compile(r"\d+\.(\d+)\.jsonl")


def enqueue_log(connection: Connection, turn_id: TurnId, person_id: PersonId, now: int) -> None:
    """Queue the line of a turn, in the transaction that ends it."""
    tasks.enqueue(
        connection,
        kind=SESSION_LOG_TASK,
        key=str(turn_id),
        person_id=person_id,
        payload=str(turn_id),
        now=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFiles:
    """The files of the log below `folder`: `people/<name>/<session>.jsonl`, and full files.

    A file that reaches `most_bytes` is renamed to `<session>.<number>.jsonl`; the `kept` newest of
    these stay. The lines of a room's turn are in the folder of the person who asked for it. Every
    method blocks, and raises `OSError`.
    """

    folder: Path
    most_bytes: int
    kept: int

    def append(self, slug: str, session: int, line: str) -> None:
        """Append a turn's line unless a file of the session has it; cut off an incomplete last
        line.
        """
        folder = self.folder / _PEOPLE / slug
        for one in (self.folder, folder.parent, folder):
            one.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{session}.jsonl"
        _repair(path)
        full = _list_full(folder, session)
        # A restored database reuses the numbers of lost turns; only the start of a line differs.
        start = line.partition('"state"')[0].encode()
        if any(_has_line(one, start) for one in (path, *full) if one.exists()):
            return
        data = line.encode() + b"\n"
        if path.exists() and path.stat().st_size + len(data) > self.most_bytes:
            number = _number(full[-1]) + 1 if full else 1
            full.append(path.rename(folder / f"{session}.{number}.jsonl"))
            for old in full[: max(0, len(full) - self.kept)]:
                old.unlink()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)


def remove_lines(folder: Path, slugs: Sequence[str], is_wanted: Callable[[str], bool]) -> None:
    """Remove the lines of people with a matching text from the log. Blocks. Raises `OSError`."""
    for slug in slugs:
        for path in sorted((folder / _PEOPLE / slug).glob("[!.]*.jsonl")):
            _repair(path)
            lines = path.read_bytes().splitlines(keepends=True)
            kept = [one for one in lines if not any(map(is_wanted, _list_texts(_parse(one))))]
            if len(kept) == len(lines):
                continue
            draft = path.with_name(f".{path.name}.new")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(kept)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(path.parent)


@dataclass(slots=True)
class SessionLog:
    """Runs the tasks of the kind `session_log`."""

    database: Database
    files: LogFiles
    mask: SecretMask
    lock: asyncio.Lock
    """The lock of erasures: no line may be written after its person's files were removed."""

    async def apply(self, task: Task) -> None:
        """Write the line of a turn; nothing if its person was erased.

        Raises `StoreError`, and `OSError` if the file can't be written.
        """
        async with self.lock:
            found = await self.database.read(self._read, task)
            if found:
                await asyncio.to_thread(self.files.append, *found)

    def _read(self, connection: Connection, task: Task) -> tuple[str, int, str] | None:
        # The turn names the right person; the task may be older than a link of accounts.
        turn = turns.find(connection, turn_id=TurnId(int(task.payload)))
        person = people.find(connection, person_id=turn.person_id) if turn else None
        if turn is None or person is None:
            return None
        if erase_person.is_erased(connection, person_id=person.id):
            return None
        line = render_turn(turn, read_turn(connection, turn, person.slug), self.mask)
        return person.slug, turn.session_id, line


def _repair(path: Path) -> None:
    """Cut off a last line that a crash left incomplete."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            os.fsync(file.fileno())


def _list_full(folder: Path, session: int) -> list[Path]:
    """List the full files of a session, oldest first."""
    found = [path for path in folder.glob(f"{session}.*.jsonl") if _ROTATED.fullmatch(path.name)]
    return sorted(found, key=_number)


def _number(path: Path) -> int:
    return int(path.name.split(".")[1])


def _has_line(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return any(line.startswith(start) for line in file)


def _parse(line: bytes) -> object:
    """Return the document of a line; its text if it is not JSON, perhaps after an edit by hand."""
    text = line.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _list_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _list_texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _list_texts(one)
