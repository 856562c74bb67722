"""The file SOUL.md and its ledger: approved changes and hand edits."""

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agent_core.ids import PersonId
from agent_core.memory import files
from agent_core.memory.files import FileText, hash_text
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin, Projection
from agent_core.state.queues import tasks

_log = logging.getLogger(__name__)

SOUL_TASK = "soul"
"""The kind of the task that notifies owners of a change; its payload is the row's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """The result of a comparison. `text` is the content that still has to be written, if any."""

    row: LedgerEntry | None = None
    text: str | None = None


class SoulFile:
    """The file SOUL.md in `home`, and its rows in the team's ledger.

    Each row holds the whole text before and after. The ledger is written first; the next check
    repairs the file after a crash in between.
    """

    def __init__(self, database: Database, home: Path) -> None:
        self._database = database
        self._path = home / "SOUL.md"

    async def read(self) -> FileText:
        """Read the file. Raises `OSError` if it is unreadable."""
        return await asyncio.to_thread(files.read_file, self._path)

    async def notice(self, now: int) -> None:
        """Compare the file with the ledger; if its text differs, record that as a hand edit.

        The first text that is found is recorded, too. Later hand edits enqueue a notice to the
        owners in the same transaction. An unreadable file only causes a warning. Raises
        `StoreError`.
        """
        try:
            seen = await self.read()
            if await self._database.read(_is_known, seen):
                return
            look = await self._database.write("soul.notice", _take_in, seen, now)
            if look.row and look.row.change.before is not None:
                _log.warning(
                    "SOUL.md was edited by hand: recorded as row %d of the ledger", look.row.id
                )
            if look.text is not None:
                await self._project(look.text, seen.hash)
        except OSError as error:
            _log.warning("can't compare SOUL.md with the ledger: %s", error)

    async def is_made(self, call_key: str) -> bool:
        """True if an earlier attempt of the call has changed the file. Raises `StoreError`."""

        def look(connection: Connection) -> bool:
            team = blocks.find_team(connection)
            return team is not None and bool(
                ledger.find_call(connection, person_id=team, call_key=call_key)
            )

        return await self._database.read(look)

    async def change(self, base: FileText, text: str, origin: Origin) -> bool:
        """Replace the text if it still equals `base`; else return False and change nothing.

        Raises `StoreError`, and `OSError` if the file is unreadable or unwritable.
        """
        await self.notice(origin.now)
        if (await self.read()).hash != base.hash:
            return False

        def work(connection: Connection) -> bool:
            team = blocks.make_team(connection, now=origin.now)
            known = ledger.find_projection(connection, person_id=team, target="soul")
            if known is None or known.previous is not None or known.current != base.hash:
                return False
            before = _find_last(connection, team)
            row = _record(connection, team, before, text, origin)
            _save(
                connection,
                team,
                Projection(current=hash_text(text), previous=base.hash, base=row.id),
            )
            return True

        if not await self._database.write("soul.change", work):
            return False
        return await self._project(text, base.hash)

    async def _project(self, text: str, seen: str) -> bool:
        """Write the file if its hash is still `seen`."""
        is_written = await asyncio.to_thread(partial(files.write_file, self._path, text, seen))
        if is_written:
            await self._database.write("soul.confirm", partial(_confirm, current=hash_text(text)))
        return is_written


def _is_known(connection: Connection, seen: FileText) -> bool:
    team = blocks.find_team(connection)
    known = team and ledger.find_projection(connection, person_id=team, target="soul")
    return bool(known and known.previous is None and known.current == seen.hash)


def _take_in(connection: Connection, seen: FileText, now: int) -> _Look:
    team = blocks.make_team(connection, now=now)
    known = ledger.find_projection(connection, person_id=team, target="soul")
    before = _find_last(connection, team)
    if known and known.current == seen.hash:
        _confirm(connection, current=seen.hash)
        return _Look()
    if known and known.previous == seen.hash:
        return _Look(text=before)
    row = _record(connection, team, before, seen.text, Origin(actor="hand", now=now))
    _save(connection, team, Projection(current=seen.hash, previous=None, base=row.id))
    if before is not None:
        payload = str(row.id)
        tasks.enqueue(
            connection, kind=SOUL_TASK, key=payload, person_id=team, payload=payload, now=now
        )
    return _Look(row=row)


def _find_last(connection: Connection, team: PersonId) -> str | None:
    rows = ledger.find_entries(connection, person_id=team, target="soul")
    return rows[-1].change.after if rows else None


def _record(
    connection: Connection, team: PersonId, before: str | None, after: str, origin: Origin
) -> LedgerEntry:
    change = Change(
        operation="add" if before is None else "replace", position=0, before=before, after=after
    )
    return ledger.record(connection, person_id=team, target="soul", change=change, origin=origin)


def _confirm(connection: Connection, *, current: str) -> None:
    """Record that the file is on the disk, unless a newer write has begun."""
    team = blocks.find_team(connection)
    known = team and ledger.find_projection(connection, person_id=team, target="soul")
    if team and known and known.current == current:
        _save(connection, team, replace(known, previous=None))


def _save(connection: Connection, team: PersonId, projection: Projection) -> None:
    ledger.save_projection(connection, person_id=team, target="soul", projection=projection)
