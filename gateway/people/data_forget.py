"""Removal of words from a person's data: the command `/forget`."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from agent_core.agent.replay.session_log import remove_lines
from agent_core.digest.formatting import SOURCES, list_files, own_folder
from agent_core.execution.files import walk_files
from agent_core.execution.local import WORKSPACES
from agent_core.ids import PersonId
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure.groups import GroupNotes, GroupRemoval, OneGroup
from agent_core.privacy.erasure.matcher import WordMatcher, parse_words
from agent_core.privacy.erasure.words import Preview, WordRemoval
from agent_core.privacy.progress import Report
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, person_data
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.chats import is_direct_chat
from gateway.home import CHAT_HISTORY, SESSIONS
from gateway.people.admission import LOCAL_PLATFORM
from gateway.texts import privacy

_ENTRY = "\n# "
"""Starts an entry of the terminal's history: its time, then its lines with a `+` in front."""
_COMPACTED_LINE = re.compile(rb"\r?\n[ \t]")
"""A line break inside a line of a calendar file; RFC 5545, 3.1."""


class DataForget:
    """Finds and removes words in a person's data."""

    def __init__(
        self,
        database: Database,
        memory: MemoryStore,
        home: Path,
        *,
        now: Callable[[], int],
        forget_versions: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        """`forget_versions` removes the earlier versions of the files of a workspace."""
        self._database = database
        self._home = home
        self._now = now
        self._forget_versions = forget_versions
        self._removal = WordRemoval(database, memory, is_direct_chat)
        self._groups = GroupRemoval(database, memory, is_direct_chat)

    async def preview(self, person: Person, words: WordMatcher, report: Report) -> Preview:
        """Return what contains the words, in groups also. Raises `StoreError`."""
        found = await self._removal.look(person, words, report, self._now())
        groups = await self._groups.look(person.id, words, self._now())
        return replace(found, groups=groups)

    async def preview_in_group(
        self, person: Person, words: WordMatcher, group_id: PersonId
    ) -> GroupNotes | None:
        """Return the notes of a group that the person may delete there. Raises `StoreError`."""
        group = OneGroup(id=group_id, is_all=person.is_owner)
        found = await self._groups.look(person.id, words, self._now(), group)
        return found[0] if found else None

    async def remove_in_group(self, person_id: PersonId, text: str, group_id: PersonId) -> str:
        """Remove the words of `text` from a group's notes, and return the report for the group.

        Raises `WorkInProgress`, `StoreError` and `OSError`.
        """
        words = parse_words(text)
        person = await self._database.read(people.find, person_id=person_id)
        if words is None or person is None:
            return privacy.FORGET_NOTHING_HERE()
        group = OneGroup(id=group_id, is_all=person.is_owner)
        removed = await self._groups.forget(person_id, words, self._now(), group)
        return privacy.describe_forgotten_here(
            sum(len(one.lines) + one.past for one in removed),
            has_deeds=any(one.has_deeds for one in removed),
        )

    async def remove(
        self, person_id: PersonId, text: str, report: Report, *, has_messages: bool
    ) -> str:
        """Remove the words of `text`, and return the report for the person.

        Raises `WorkInProgress`, `StoreError` and `OSError`.
        """
        words = parse_words(text)
        if words is None:
            return privacy.FORGET_NOTHING()
        await self._removal.check_idle(person_id)
        groups = await self._groups.forget(person_id, words, self._now())
        removed = await self._removal.forget(
            person_id, words, report, has_messages=has_messages, now=self._now()
        )
        if has_messages and await is_local(self._database, person_id):
            await asyncio.to_thread(forget_history, self._home / CHAT_HISTORY, words.is_in)
        if has_messages:
            await self._forget_copies(person_id, words)
        said = privacy.describe_forgotten(
            removed.entries,
            removed.messages if has_messages else None,
            removed.jobs,
            quotes=removed.quotes,
            groups=[(one.name, len(one.lines) + one.past) for one in groups],
            has_past=removed.has_past,
        )
        said += privacy.describe_renamed(removed.blocks)
        said += privacy.describe_kept_files(await self._find_files(person_id, words))
        return said + privacy.describe_workspace_files(await self._find_work(person_id, words))

    async def _forget_copies(self, person_id: PersonId, words: WordMatcher) -> None:
        """Remove the turns with the words from the person's log, also from before a link.

        Earlier versions of files go without being read.
        """

        def look(connection: Connection) -> list[str]:
            subject = person_data.find_subject(
                connection, person_id=person_id, is_alone=is_direct_chat
            )
            return erase_person.list_slugs(connection, subject=subject)

        slugs = await self._database.browse(look)
        await asyncio.to_thread(remove_lines, self._home / SESSIONS, slugs, words.is_in)
        if self._forget_versions:
            for slug in slugs:
                await self._forget_versions(slug)

    async def _find_files(self, person_id: PersonId, words: WordMatcher) -> list[str]:
        """List the person's digest sources that contain the words; only owners can delete them."""
        person = await self._database.read(people.find, person_id=person_id)
        if person is None:
            return []
        folder = own_folder(self._home / SOURCES, "people", person.slug)
        return await asyncio.to_thread(_search_folder, folder, words)

    async def _find_work(self, person_id: PersonId, words: WordMatcher) -> list[str]:
        """List the files of the person's workspace that contain the words."""
        person = await self._database.read(people.find, person_id=person_id)
        if person is None:
            return []
        return await asyncio.to_thread(_search_work, self._home / WORKSPACES / person.slug, words)


async def is_local(database: Database, person_id: PersonId) -> bool:
    """Return whether a person uses the terminal. Raises `StoreError`."""
    accounts = await database.read(people.list_accounts, person_id=person_id)
    return any(account.platform == LOCAL_PLATFORM for account in accounts)


def forget_history(path: Path, is_wanted: Callable[[str], bool]) -> None:
    """Remove matching entries from the terminal's history. Blocks. Raises `OSError`."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    first, *entries = text.split(_ENTRY)
    kept = [entry for entry in entries if not is_wanted(_join_lines(entry))]
    if len(kept) == len(entries):
        return
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_ENTRY.join([first, *kept]))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _join_lines(entry: str) -> str:
    return "\n".join(line[1:] for line in entry.splitlines()[1:])


def _search_folder(folder: Path, words: WordMatcher) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in list_files(folder)
        if words.is_in(path.name) or words.is_in_bytes(_COMPACTED_LINE.sub(b"", path.read_bytes()))
    ]


def _search_work(workspace: Path, words: WordMatcher) -> list[str]:
    """List the files of a workspace that contain the words; of a long one, search the beginning."""
    return [
        name
        for name, pieces in walk_files(workspace)
        if words.is_in(name) or words.is_in_bytes(next(pieces, b""))
    ]
