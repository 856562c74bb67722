"""Erasure of all data of a person."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_core.digest.formatting import SOURCES
from agent_core.errors import WorkInProgress
from agent_core.execution.local import WORKSPACES
from agent_core.ids import PersonId
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure.person import PersonErasure
from agent_core.privacy.erasure.scrub import scrub_database
from agent_core.state.engine.complete_backups import ENDING, LOCKED_ENDING
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person
from agent_core.state.lifecycle.inspect import may_hold
from agent_core.state.memory import external_sync
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.chats import is_direct_chat
from gateway.errors import Declined
from gateway.home import BACKUPS, CHAT_HISTORY, DATABASE, MEMORIES, SESSIONS, VERSIONS
from gateway.people.data_forget import is_local
from gateway.texts import privacy

_ATTEMPTS = 20
_RETRY_PAUSE = 0.25
"""Seconds between two attempts of an erasure from the command line."""


class DataErase:
    """Erases people. The lock keeps one erasure or removal of words at a time."""

    def __init__(
        self,
        database: Database,
        memory: MemoryStore,
        home: Path,
        *,
        now: Callable[[], int],
        renew: Callable[[], None],
        end_sign_ins: Callable[[], Awaitable[None]],
        stop_turns: Callable[[PersonId], None] | None = None,
    ) -> None:
        """`renew` drops cached people, conversations and prompts.

        `stop_turns` stops what is answered to a person; None where no gateway runs.

        `end_sign_ins` revokes and deletes the tokens at MCP servers that are nobody's any more.
        """
        self._database = database
        self.home = home
        self._now = now
        self.renew = renew
        self.end_sign_ins = end_sign_ins
        self.stop_turns = stop_turns
        folders = (home / MEMORIES, home / SOURCES, home / SESSIONS, home / VERSIONS)
        self._erasure = PersonErasure(database, memory, folders, home / WORKSPACES, is_direct_chat)
        self.lock = asyncio.Lock()

    async def erase(self, person_id: PersonId) -> None:
        """Erase a person; return once no byte is left.

        Raises `WorkInProgress` if their work does not end in time, `LastOwner`, `StoreError` and
        `OSError`.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self.lock:
                    await self.erase_now(person_id)
                    break
            except WorkInProgress:
                if attempt == _ATTEMPTS - 1:
                    raise
            await asyncio.sleep(_RETRY_PAUSE)
        async with self.lock:
            await scrub_database(self._database)

    async def erase_now(self, person_id: PersonId) -> None:
        """Erase a person with the lock held; freed pages are scrubbed later.

        Their running turns are stopped, because they may wait for an answer that never comes.
        Raises `WorkInProgress` until those have ended.
        """
        uses_terminal = await is_local(self._database, person_id)
        # An earlier process may have got as far as the transaction.
        if not await self._database.read(erase_person.is_erased, person_id=person_id):
            try:
                await self._erasure.begin(person_id, now=self._now())
            except WorkInProgress:
                if self.stop_turns:
                    self.stop_turns(person_id)
                raise
        self.renew()
        await self._erasure.resume(self._now())
        await self.end_sign_ins()
        if uses_terminal:
            await asyncio.to_thread((self.home / CHAT_HISTORY).unlink, missing_ok=True)
        self.renew()

    async def resume(self) -> None:
        """Finish the erasures that an earlier process began, with the lock held.

        Raises `StoreError`, and `OSError` if a folder can't be deleted.
        """
        await self._erasure.resume(self._now())

    async def list_external(self) -> list[str]:
        """List the external memories that ever received data. Raises `StoreError`."""
        return [one.provider for one in await self._database.read(external_sync.count_all)]

    async def list_backups(self, person_id: PersonId) -> list[str]:
        """List the backups in the home directory that may hold a person, with their dates.

        Lists all of them for a person who is erased already. Raises `StoreError`.
        """
        traces = await self._database.read(find_traces, person_id)
        return await asyncio.to_thread(list_backups, self.home, traces)


def check_erase(connection: Connection, person: Person, target: Person) -> None:
    """Check that a person may erase another, or themselves, now. Raises `Declined`."""
    is_own = target.id == person.id
    if not is_own and not person.is_owner:
        raise Declined(privacy.ERASE_OTHERS())
    if erase_person.is_erased(connection, person_id=target.id):
        raise Declined(privacy.GONE_ALREADY())
    if target.is_owner and not is_own:
        raise Declined(privacy.ERASE_OWNER())
    if target.is_owner and not erase_person.has_other_owner(connection, person_id=target.id):
        raise Declined(privacy.ERASE_LAST_OWNER())


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Signs that a backup holds a person."""

    accounts: Sequence[tuple[str, str]]
    """The (platform, user id) of each; none for a person who is erased."""
    since: int
    """When the person became known, in milliseconds since the epoch, UTC."""


def find_traces(connection: Connection, person_id: PersonId) -> Traces:
    """Find the accounts of a person, and since when they are known."""
    found = people.list_accounts(connection, person_id=person_id)
    return Traces(
        accounts=[(account.platform, account.user_id) for account in found],
        since=people.find_first_moment(connection, person_id=person_id),
    )


def list_backups(home: Path, traces: Traces) -> list[str]:
    """List the backups in a home that may hold a person, with their dates.

    An archive can't be searched quickly, so it counts unless it is older than the person. Blocks:
    opens each copy of a database.
    """
    folder = home / BACKUPS
    found = [
        (path.stat().st_mtime, path.relative_to(folder))
        for pattern in ("[!.]*", f"*/{DATABASE}")
        for path in folder.glob(pattern)
        if path.is_file() and _may_hold(path, traces)
    ]
    return [f"{name} ({datetime.fromtimestamp(at, UTC):%Y-%m-%d})" for at, name in sorted(found)]


def _may_hold(path: Path, traces: Traces) -> bool:
    if path.name.endswith((ENDING, LOCKED_ENDING)):
        return path.stat().st_mtime * 1000 >= traces.since
    return not traces.accounts or may_hold(path, traces.accounts)
