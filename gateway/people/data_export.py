"""Export of a person's data into archives."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.privacy.export.export_order import ExportOrder
from agent_core.privacy.export.run_export import run_export
from agent_core.privacy.progress import Report, report_to_nobody
from agent_core.state.engine.database import Database
from agent_core.state.lifecycle import person_data
from agent_core.state.people.people import Person
from gateway.chats import is_direct_chat

_DRAFTS = ".export-"
"""Name prefix of the folders in the home directory in which exports are put together."""


@dataclass(frozen=True, slots=True)
class DataExport:
    """Writes archives of a person's data.

    Every export raises `StoreError`, `OSError` if the disk is full, and `ExportBroken`.
    """

    database: Database
    home: Path
    adapters: Mapping[str, ChatAdapter]
    now: Callable[[], int]

    async def write(
        self, person: Person, target: Path, report: Report, *, is_moved: bool = False
    ) -> None:
        """Write all data of a person into one new archive. Raises `FileExistsError`, too.

        `is_moved` says in it that the person's jobs are paused here.
        """
        if await asyncio.to_thread(target.exists):
            raise FileExistsError(target)
        folder = await asyncio.to_thread(_make_draft, target.parent)
        try:
            (path,) = await self._write_parts(person, folder, 0, report, is_moved=is_moved)
            await asyncio.to_thread(_put_in_place, path, target)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def write_draft(self, person: Person) -> Path:
        """Write one archive into a folder of its own, which `discard` deletes; return its path."""
        folder = await asyncio.to_thread(_make_draft, self.home)
        try:
            (path,) = await self._write_parts(person, folder, 0, report_to_nobody)
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        return path

    async def read_parts(
        self, person: Person, most_bytes: int, report: Report
    ) -> list[tuple[str, bytes]]:
        """Return the name and the bytes of archives of at most `most_bytes` where possible."""
        folder = await asyncio.to_thread(_make_draft, self.home)
        try:
            paths = await self._write_parts(person, folder, most_bytes, report)
            return [(path.name, await asyncio.to_thread(path.read_bytes)) for path in paths]
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def find_file_limit(self, platform: str) -> int:
        """Return the largest file that a platform takes, in bytes; 0 if it takes none."""
        adapter = self.adapters.get(platform)
        return adapter.most_file_bytes if isinstance(adapter, CanSendFiles) else 0

    async def _write_parts(
        self,
        person: Person,
        folder: Path,
        most_bytes: int,
        report: Report,
        *,
        is_moved: bool = False,
    ) -> list[Path]:
        subject = await self.database.browse(
            lambda c: person_data.find_subject(c, person_id=person.id, is_alone=is_direct_chat)
        )
        order = ExportOrder(
            database=self.database.path,
            home=self.home,
            folder=folder,
            archive=f"talaria-{person.slug}",
            most_bytes=most_bytes,
            subject=subject,
            name=person.name,
            now=self.now(),
            has_skills=person.is_owner,
            is_moved=is_moved,
        )
        return await run_export(order, report)


def discard(path: Path) -> None:
    """Delete an archive of `write_draft` with its folder. Blocks."""
    shutil.rmtree(path.parent, ignore_errors=True)


def remove_drafts(home: Path) -> None:
    """Delete the unfinished exports of an earlier process. Blocks."""
    for folder in home.glob(f"{_DRAFTS}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _put_in_place(path: Path, target: Path) -> None:
    """Rename a file; once this returns, a power failure loses nothing of it. Blocks."""
    _sync(path)
    path.rename(target)
    _sync(target.parent)


def _sync(place: Path) -> None:
    """Write a file or the names in a folder to the disk. Blocks."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_draft(folder: Path) -> Path:
    """Create a folder that only this user can read. Raises `OSError`."""
    return Path(tempfile.mkdtemp(prefix=_DRAFTS, dir=folder))
