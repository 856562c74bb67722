"""The earlier states of one workspace's files, and what its calls have changed. Everything blocks.

The store is a folder outside of the workspace. It holds copies of files by their hash, the state
of the workspace at the last look (the index), and a record of each change. Each of these files
appears whole or not at all, in an order that a killed process may end anywhere: copies, record,
index. A change that is recorded again after a kill adds nothing to its record.
"""

import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from errno import ENOTEMPTY
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any

from agent_core.execution.file_states import FileState, Identity, Seen, TooManyFiles, Watched

LARGEST = 256_000_000
"""Bytes of a file that is copied; to copy more would delay the command."""
_SECONDS = 10.0
"""Seconds in which one look copies files; the first one of a large workspace needs several."""
_IN_MEMORY = 1_000_000
_PIECE = 1 << 20
_MOST_CHANGES = 500
"""Changes of a workspace that are kept."""
_INDEX, _OPEN, _CHANGES, _COPIES = "index.json", "open.json", "changes", "copies"

Entry = tuple[FileState | None, FileState | None]
"""The states of a path before and after a change; None if there was nothing."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Records the files that the calls of one turn changed, or that an undo changed back.

    `row` is the newest row of the memory ledger at that time. `undoes` is the number of the change
    that an undo takes back, and `call_key` its call. `kept` are paths that it left as they were,
    because they had changed since, and `lost` those without a copy. Until an undo `is_done`, files
    may have either state.
    """

    number: int
    turn: int
    at: int
    row: int
    entries: Mapping[str, Entry]
    undoes: int | None = None
    call_key: str = ""
    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    is_done: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The turn of a change, its time in milliseconds, and the newest row of the memory ledger."""

    turn: int
    at: int
    row: int


@dataclass(slots=True, kw_only=True)
class _Index:
    """The workspace at the last look; `is_whole` if all of it was looked at."""

    seen: dict[str, Seen] = field(default_factory=dict)
    is_whole: bool = False
    last: int = 0
    """The number of the last change."""


class FileChanges:
    """The store of one workspace. Its calls come one after another."""

    def __init__(self, folder: Path, watched: Watched, find_room: Callable[[int], bool]) -> None:
        """`find_room` returns whether a copy of so many bytes may be added."""
        self._folder = folder
        self._watched = watched
        self._find_room = find_room
        self._index: _Index | None = None
        self._until = 0.0
        """Monotonic time after which a look copies no more; the next one goes on."""
        self._open: list[tuple[Moment, str | None]] = []
        """The calls that run now: how each began, and its path, if it changes only one file."""

    def was_removed(self) -> bool:
        """Return whether somebody has removed the store, as an erasure does."""
        return self._index is not None and not self._folder.is_dir()

    def recover(self) -> None:
        """Finish what a killed process left open. Every other call does so, too."""
        self._load()

    def begin(self, moment: Moment, path: str | None = None) -> None:
        """Look at the workspace, or at one path, before a call that may change it.

        Raises `TooManyFiles` and `OSError`.
        """
        index = self._load()
        # What changed while others run is theirs; what changed before that is nobody's.
        others = replace(moment, turn=self._open[-1][0].turn) if self._open else None
        self._look(index, others, path)
        self._open.append((moment, path))
        self._write_open()

    def end(self, moment: Moment, path: str | None = None) -> None:
        """Record what a call has changed. Raises `TooManyFiles` and `OSError`."""
        index = self._load()
        try:
            self._look(index, moment, path)
        finally:
            mine = next(one for one in self._open if (one[0].turn, one[1]) == (moment.turn, path))
            self._open.remove(mine)
            self._write_open()

    def list_changes(self) -> list[FileChange]:
        """List the changes, newest first."""
        names = sorted(_list(self._folder / _CHANGES), reverse=True)
        return [one for name in names if (one := self._read(int(name)))]

    def find_newest(self) -> FileChange | None:
        """Return the newest change that an undo would take back."""
        changes = self.list_changes()
        undone = find_undone(changes)
        return next(
            (one for one in changes if one.undoes is None and one.number not in undone), None
        )

    def find_call(self, call_key: str) -> FileChange | None:
        """Return the undo that a call has made or begun."""
        return next((one for one in self.list_changes() if one.call_key == call_key), None)

    def find(self, number: int) -> FileChange | None:
        """Return a change by its number."""
        return self._read(number)

    def undo(self, number: int, moment: Moment, call_key: str) -> FileChange | None:
        """Take a change back, as far as its files are as it left them; None if it is gone.

        A repeated call finishes or returns its first undo. The result is a change itself, so it can
        be taken back, too. Without entries, nothing was changed. Raises `OSError`.
        """
        index = self._load()
        if made := self.find_call(call_key):
            return made
        change = self._read(number)
        if change is None or change.number in find_undone(self.list_changes()):
            return None
        planned = replace(
            self._plan(index, change),
            number=index.last + 1,
            turn=moment.turn,
            at=moment.at,
            row=moment.row,
            call_key=call_key,
        )
        if not planned.entries:
            return replace(planned, is_done=True)
        self._record(index, planned)
        return self._finish(index, planned)

    def _plan(self, index: _Index, change: FileChange) -> FileChange:
        """Plan to take a change back."""
        self._until = inf
        found = self._watched.look_at(change.entries, index.seen, self._keep)
        entries: dict[str, Entry] = {}
        kept, lost = [], []
        for path, (before, after) in sorted(change.entries.items()):
            state = _state(found[path])
            if state == before:
                continue
            if state != after and _is_copied(after):
                kept.append(path)
            elif not (_is_copied(state) and _is_copied(before)) or self._misses(before):
                lost.append(path)
            else:
                entries[path] = (state, before)
        return replace(
            change,
            entries=entries,
            undoes=change.number,
            kept=tuple(kept),
            lost=tuple(lost),
            is_done=False,
        )

    def drop(self, number: int) -> None:
        """Forget a change, and the copies that nothing else needs."""
        (self._folder / _CHANGES / _name(number)).unlink(missing_ok=True)

    def sweep(self) -> int:
        """Remove the copies that no change and no present file needs; return their bytes."""
        index = self._index or _read_index(self._folder / _INDEX)
        states = [one.state for one in index.seen.values()]
        for change in self.list_changes():
            states += [state for entry in change.entries.values() for state in entry if state]
        needed = {state.content for state in states if state.kind == "file"}
        freed = 0
        for name in _list(self._folder / _COPIES):
            if name not in needed:
                place = self._folder / _COPIES / name
                freed += place.stat().st_size
                place.unlink()
        return freed

    def _load(self) -> _Index:
        """Return the index; after a restart, first finish what the last process left open."""
        if self._index is not None:
            return self._index
        for part in (_CHANGES, _COPIES):
            (self._folder / part).mkdir(mode=0o700, parents=True, exist_ok=True)
        for draft in (self._folder / _COPIES).glob(".*"):
            draft.unlink()
        index = _read_index(self._folder / _INDEX)
        changes = self.list_changes()
        index.last = max([index.last, *(one.number for one in changes)])
        self._index = index
        for change in changes:
            if not change.is_done:
                self._finish(index, change)
        for began, path in _read_json(self._folder / _OPEN, []):
            with suppress(TooManyFiles):
                self._look(index, Moment(**began), path)
        self._write_open()
        return index

    def _write_open(self) -> None:
        _write(self._folder / _OPEN, [(asdict(moment), path) for moment, path in self._open])

    def _look(self, index: _Index, moment: Moment | None, path: str | None) -> None:
        """Look at the workspace again, and record what changed since the last look.

        Without a moment nothing is recorded: somebody else made the change.
        """
        self._until = time.monotonic() + _SECONDS
        if path is None:
            try:
                found = self._watched.look_at_all(index.seen, self._keep)
            except TooManyFiles:
                index.is_whole = False
                raise
            gone: Collection[str] = index.seen.keys() - found.keys()
            counts, index.is_whole = index.is_whole, True
        else:
            steps = self._watched.list_steps(path)
            looked = self._watched.look_at(steps, index.seen, self._keep)
            found = {one: seen for one, seen in looked.items() if seen}
            gone = [one for one in steps if one in index.seen and one not in found]
            counts = True
        old = index.seen
        changed = [one for one, seen in found.items() if old.get(one) is not seen]
        changed += gone
        if not changed and counts:
            return
        entries = {
            one: (_state(old.get(one)), _state(found.get(one)))
            for one in changed
            if not ((seen := old.get(one)) and seen.is_same(found.get(one)))
        }
        if moment and counts and entries:
            self._record_change(index, moment, entries)
        for one in changed:
            if seen := found.get(one):
                index.seen[one] = seen
            else:
                index.seen.pop(one, None)
        _write_index(self._folder / _INDEX, index)

    def _record_change(self, index: _Index, moment: Moment, entries: Mapping[str, Entry]) -> None:
        """Add to the record of the turn, if it is the newest, or make a new one."""
        newest = self._read(index.last) if index.last else None
        goes_on = (
            newest is not None
            and newest.undoes is None
            and (newest.turn, newest.row) == (moment.turn, moment.row)
        )
        if newest is None or not goes_on:
            made = FileChange(
                number=index.last + 1,
                turn=moment.turn,
                at=moment.at,
                row=moment.row,
                entries=entries,
            )
        else:
            merged = dict(newest.entries)
            for path, (before, after) in entries.items():
                first = merged[path][0] if path in merged else before
                merged[path] = (first, after)
                if first == after:
                    del merged[path]
            made = replace(newest, at=moment.at, entries=merged)
        self._record(index, made)

    def _record(self, index: _Index, change: FileChange) -> None:
        _write(self._folder / _CHANGES / _name(change.number), _dump(change))
        index.last = max(index.last, change.number)
        if (oldest := change.number - _MOST_CHANGES) > 0:
            self.drop(oldest)

    def _finish(self, index: _Index, change: FileChange) -> FileChange:
        """Make the changes of an undo that has begun; files that changed meanwhile stay."""
        self._until = inf
        kept, lost, entries = list(change.kept), list(change.lost), dict(change.entries)
        gone = [path for path, (_, after) in entries.items() if after is None]
        made = [path for path, (_, after) in entries.items() if after is not None]
        folders = [path for path in made if _is_folder(entries[path][1])]
        # Files leave before folders, from the inside; folders come before files, from the outside.
        order = sorted(gone, reverse=True) + sorted(made)
        for path in order:
            before, after = entries[path]
            seen = self._watched.look_at([path], {}, self._keep)[path]
            state = seen.state if seen else None
            if state == after or (_is_folder(state) and _is_folder(after)):
                continue
            if state != before:
                kept.append(path)
                del entries[path]
                continue
            try:
                self._watched.put(path, _open_for_work(after), self._read_copy)
            except OSError as error:
                _log.warning("a file was not restored: %s", error)
                (kept if error.errno == ENOTEMPTY else lost).append(path)
                del entries[path]
        for path in sorted(folders, reverse=True):
            if path in entries:
                with suppress(OSError):
                    self._watched.put(path, entries[path][1], self._read_copy)
        done = replace(
            change,
            entries=entries,
            kept=tuple(sorted(kept)),
            lost=tuple(sorted(lost)),
            is_done=True,
        )
        for path, seen in self._watched.look_at(change.entries, {}, self._keep).items():
            if seen:
                index.seen[path] = seen
            else:
                index.seen.pop(path, None)
        self._record(index, done)
        _write_index(self._folder / _INDEX, index)
        return done

    def _keep(self, file: int, size: int) -> str:
        """Copy an open file into the store; return the name of the copy, "" if it can't be kept."""
        if size > LARGEST or time.monotonic() > self._until:
            return ""
        draft = self._folder / _COPIES / f".{secrets.token_hex(8)}"
        try:
            name, data = _hash(file)
            place = self._folder / _COPIES / name
            if place.exists():
                return name
            if not self._find_room(size):
                return ""
            if data is None:
                _copy(file, draft)
            else:
                draft.write_bytes(data)
            draft.rename(place)
        except OSError as error:
            _log.warning("a file was not copied: %s", error.strerror)
            draft.unlink(missing_ok=True)
            return ""
        return name

    def _read_copy(self, name: str) -> Iterator[bytes]:
        """Yield a copy. Raises `OSError`, also for a damaged one, at its end."""
        digest = blake2b(digest_size=20)
        with (self._folder / _COPIES / name).open("rb") as copy:
            while piece := copy.read(_PIECE):
                digest.update(piece)
                yield piece
        if digest.hexdigest() != name:
            raise OSError(5, "the copy is damaged")

    def _misses(self, state: FileState | None) -> bool:
        is_file = state is not None and state.kind == "file"
        return is_file and not (self._folder / _COPIES / (state.content if state else "")).exists()

    def _read(self, number: int) -> FileChange | None:
        found = _read_json(self._folder / _CHANGES / _name(number), None)
        return _parse(found) if found else None


def find_undone(changes: Sequence[FileChange]) -> set[int]:
    """Return the numbers of changes that an undo took back, unless that was taken back, too."""
    undone: set[int] = set()
    for change in sorted(changes, key=lambda one: one.number, reverse=True):
        if change.undoes is not None and change.number not in undone:
            undone.add(change.undoes)
    return undone


def _hash(file: int) -> tuple[str, bytes | None]:
    """Return the hash of an open file, and its bytes if they are few."""
    digest, pieces, size = blake2b(digest_size=20), [b""], 0
    while piece := os.read(file, _PIECE):
        digest.update(piece)
        size += len(piece)
        pieces = [*pieces, piece] if size <= _IN_MEMORY else []
    return digest.hexdigest(), b"".join(pieces) if size <= _IN_MEMORY else None


def _copy(file: int, draft: Path) -> None:
    """Copy a long file; the kernel copies nothing where the disk can share blocks."""
    os.lseek(file, 0, os.SEEK_SET)
    with draft.open("wb") as copy:
        try:
            while os.copy_file_range(file, copy.fileno(), LARGEST):
                pass
        except OSError:  # another disk
            os.lseek(file, 0, os.SEEK_SET)
            with os.fdopen(os.dup(file), "rb") as source:
                shutil.copyfileobj(source, copy)


def _is_copied(state: FileState | None) -> bool:
    return state is None or state.has_copy()


def _is_folder(state: FileState | None) -> bool:
    return state is not None and state.kind == "folder"


def _open_for_work(state: FileState | None) -> FileState | None:
    """Let a folder be filled before it gets its own mode."""
    return replace(state, mode=state.mode | 0o700) if state and state.kind == "folder" else state


def _state(seen: Seen | None) -> FileState | None:
    return seen.state if seen else None


def _name(number: int) -> str:
    return f"{number:08}"


def _list(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [name for name in os.listdir(folder) if not name.startswith(".")]  # noqa: PTH208


def _read_json(place: Path, default: Any) -> Any:
    try:
        return json.loads(place.read_bytes())
    except (FileNotFoundError, ValueError):
        return default


def _write(place: Path, value: object) -> None:
    """Write a file whole: a killed process leaves the old one or the new one."""
    draft = place.with_name(f".{place.name}")
    draft.write_text(json.dumps(value, separators=(",", ":")))
    draft.replace(place)


def _write_index(place: Path, index: _Index) -> None:
    seen = {
        path: (one.state.kind, one.state.mode, one.state.content, one.identity)
        for path, one in index.seen.items()
    }
    _write(place, {"last": index.last, "is_whole": index.is_whole, "seen": seen})


def _read_index(place: Path) -> _Index:
    found = _read_json(place, None)
    if found is None:
        return _Index()
    return _Index(
        seen={path: _parse_seen(values) for path, values in found["seen"].items()},
        is_whole=found["is_whole"],
        last=found["last"],
    )


def _parse_seen(values: Sequence[Any]) -> Seen:
    kind, mode, content, identity = values
    known: Identity | None = tuple(identity) if identity else None
    return Seen(
        state=FileState(kind=kind, mode=mode, content=content),
        identity=known,
        lacks_copy=kind == "file" and not content,
    )


def _dump(change: FileChange) -> dict[str, Any]:
    return asdict(change)


def _parse(found: dict[str, Any]) -> FileChange:
    entries = {
        path: (_parse_state(before), _parse_state(after))
        for path, (before, after) in found.pop("entries").items()
    }
    return FileChange(
        **{**found, "kept": tuple(found["kept"]), "lost": tuple(found["lost"])}, entries=entries
    )


def _parse_state(found: dict[str, Any] | None) -> FileState | None:
    return FileState(**found) if found else None
