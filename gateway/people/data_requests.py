"""Gives people all that is theirs, and lets it be gone; what was begun is seen through."""

import asyncio
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.digest.formatting import SOURCES, list_files, own_folder
from agent_core.errors import LastOwner, StillAtWork, StoreDamaged, StoreError
from agent_core.ids import PersonId, QuestionId
from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure import scrub as loose
from agent_core.privacy.erasure.matcher import WordMatcher, parse_words
from agent_core.privacy.erasure.person import PersonErasure
from agent_core.privacy.erasure.scrub import scrub
from agent_core.privacy.erasure.words import Preview, WordRemoval
from agent_core.privacy.export.export import ExportArchive, write_export
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, person_data, redact
from agent_core.state.memory import external_sync
from agent_core.state.people import audit, people
from agent_core.state.people.audit import Deed
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.config import BACKUPS, CHAT_HISTORY, MEMORIES
from gateway.people.identity import LOCAL_PLATFORM
from gateway.texts import privacy

_HEAD = "\n# "
"""Begins an entry: the time of it, and then its lines with a `+` in front."""


def forget(path: Path, is_wanted: Callable[[str], bool]) -> None:
    """Take out the entries with certain words. Blocks. Raises `OSError`."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    first, *entries = text.split(_HEAD)
    kept = [entry for entry in entries if not is_wanted(_lines(entry))]
    if len(kept) == len(entries):
        return
    draft = path.with_name(f".{path.name}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_HEAD.join([first, *kept]))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _lines(entry: str) -> str:
    return "\n".join(line[1:] for line in entry.splitlines()[1:])


_log = logging.getLogger(__name__)

_OWED = "owed:"
_FORGET, _ERASE = "owed:forget:", "owed:erase:"
_DRAFTS = ".export-"
"""Begins the names of folders in the home in which exports are put together."""
_FOLD = re.compile(rb"\r?\n[ \t]")
"""Where a calendar file breaks a line in two; RFC 5545, 3.1."""
_POLL = 60.0
"""Seconds between looks at what is owed, when nobody says that there is something."""
_PAUSE = 1.0
"""Seconds until what could not be done is tried again."""
_FAREWELLS = 20
"""Attempts for which an erasure waits until the person has been sent what is owed to them."""
_ATTEMPTS = 20
"""Attempts of an erasure from the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody has confirmed: words to be forgotten, or, without words, to be erased.

    `place` is (platform, chat) where it is told what came of it; None for nowhere.
    """

    person_id: PersonId
    words: str = ""
    has_messages: bool = False
    question_id: int = 0
    """The question that it was confirmed by, if that is to be forgotten, too."""
    place: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What there is around: platforms, a clock, and whoever delivers (`enqueue`)."""

    adapters: Mapping[str, ChatAdapter]
    now: Callable[[], int]
    enqueue: Callable[[Sequence[OutboxRow]], None]


class DataRequests:
    """All that can be done with all that is somebody's. Nothing of it holds up a turn."""

    def __init__(self, database: Database, memory: MemoryStore, home: Path, around: Around) -> None:
        self.database = database
        self._home = home
        self._around = around
        self._now = around.now
        self._heeding: tuple[Callable[[], None], ...] = ()
        self._forgetting = WordRemoval(database, memory, _is_alone)
        folders = (home / MEMORIES, home / SOURCES)
        self._erasing = PersonErasure(database, memory, folders, _is_alone)
        self._delayed: set[str] = set()
        self._lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._dirty = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def heed(self, *renew: Callable[[], None]) -> None:
        """Whom to tell that something is gone: they read people, talks and prompts afresh."""
        self._heeding = renew

    def renew(self) -> None:
        """Let nobody go on with what they have read before."""
        for renew in self._heeding:
            renew()

    async def export(self, person: Person, folder: Path, most_bytes: int = 0) -> list[Path]:
        """Write all that is a person's into archives in a folder, each of at most so many bytes
        if that can be done. Raises `StoreError`, and `OSError` if the disk takes no more.
        """
        now = self._now()

        def work(connection: Connection) -> list[Path]:
            whose = person_data.find_whose(connection, person_id=person.id, is_alone=_is_alone)
            bundle = ExportArchive(folder, f"talaria-{person.slug}", most_bytes)
            try:
                sources = self._home / SOURCES
                write_export(
                    connection, bundle, whose=whose, name=person.name, sources=sources, now=now
                )
            finally:
                paths = bundle.close()
            return paths

        return await self.database.browse(work)

    async def export_to(self, person: Person, target: Path) -> None:
        """Write all that is a person's into one new archive. Raises as `export` does, and
        `FileExistsError`.
        """
        if await asyncio.to_thread(target.exists):
            raise FileExistsError(target)
        folder = await asyncio.to_thread(_make_draft, target.parent)
        try:
            (path,) = await self.export(person, folder)
            await asyncio.to_thread(path.rename, target)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def export_for_chat(self, person: Person, most_bytes: int) -> list[tuple[str, bytes]]:
        """(name, bytes) of the archives, put together where nobody else can read. Raises as
        `export` does.
        """
        folder = await asyncio.to_thread(_make_draft, self._home)
        try:
            paths = await self.export(person, folder, most_bytes)
            return [(path.name, await asyncio.to_thread(path.read_bytes)) for path in paths]
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def find_file_limit(self, platform: str) -> int:
        """How many bytes a file may have on a platform; 0 where none can be sent."""
        adapter = self._around.adapters.get(platform)
        return adapter.most_file_bytes if isinstance(adapter, CanSendFiles) else 0

    async def look(self, person: Person, wanted: WordMatcher) -> Preview:
        """What of a person's holds words. Raises `StoreError`."""
        return await self._forgetting.look(person, wanted, self._now())

    async def list_outside(self) -> list[str]:
        """The outside memories that were ever told anything. Raises `StoreError`."""
        return [one.provider for one in await self.database.read(external_sync.count_all)]

    async def list_backups(self) -> list[str]:
        """The copies of the database that lie in the home, with their times."""
        return await asyncio.to_thread(_list_backups, self._home / BACKUPS)

    def wish(self, connection: Connection, wish: Wish, occasion: str) -> None:
        """Owe what somebody has confirmed, in the transaction that keeps the answer.

        `occasion` is a name for it that is used once.
        """
        kind = _FORGET if wish.words else _ERASE
        meta.put(connection, key=f"{kind}{occasion}", value=json.dumps(asdict(wish)))
        self._loop.call_soon_threadsafe(self._wake.set)

    async def erase(self, person_id: PersonId) -> None:
        """Erase a person now; back once nothing is left. Raises `StillAtWork` if something of
        theirs goes on being under way, `LastOwner`, `StoreError`, and `OSError`.
        """
        for attempt in range(_ATTEMPTS):
            try:
                async with self._lock:
                    await self._erase(person_id)
                    break
            except StillAtWork:
                if attempt == _ATTEMPTS - 1:
                    raise
            await asyncio.sleep(_PAUSE / 4)
        async with self._lock:
            await scrub(self.database)

    async def see_through(self) -> None:
        """Do what is owed of erasures that an earlier process began. Raises as `erase` does."""
        async with self._lock:
            await self._erasing.go_on(self._now())
            await loose.empty(self.database)
            await scrub(self.database)

    async def run(self) -> None:
        """See through what is owed, until cancelled; what an earlier process began comes first."""
        await asyncio.to_thread(_remove_drafts, self._home)
        attempts: dict[str, int] = {}
        while True:
            self._wake.clear()
            is_left = False
            try:
                async with self._lock:
                    is_left = await self._work(attempts)
            except (StoreError, OSError) as error:
                _log.error("what is to be forgotten waits: %s", error)
            self._dirty.set()
            await _wait(self._wake, _PAUSE if is_left else _POLL)

    async def keep_clean(self, is_quiet: Callable[[], bool]) -> None:
        """Leave no byte of what was forgotten, in quiet moments, until cancelled."""
        while True:
            self._dirty.clear()
            try:
                await scrub(self.database, is_quiet=is_quiet)
            except StoreError as error:
                _log.error("the database can't be written anew yet: %s", error)
            await _wait(self._dirty, _POLL)

    async def _work(self, attempts: dict[str, int]) -> bool:
        """Do what is owed; True if some of it has to wait.

        What one person's files or rows are in the way of holds up nobody else.
        """
        try:
            await self._erasing.go_on(self._now())
        except OSError as error:
            _log.error("a folder of somebody who was erased can't be removed yet: %s", error)
        await loose.empty(self.database)
        # Asked of the writer: what woke us may not be committed yet when we look.
        owed = await self.database.write(
            "belongings.owed", lambda c: meta.list_under(c, prefix=_OWED)
        )
        left = 0
        for key, text in owed.items():
            wish = _read(text)
            attempts[key] = attempts.get(key, 0) + 1
            try:
                told = await self._fulfil(key, wish, attempts[key])
            except StillAtWork:
                left += 1
            except (StoreDamaged, OSError) as error:
                _log.error("what is to be forgotten waits: %s", error)
                await self._tell_of_delay(key, wish)
            else:
                await self._close(key, wish, told)
        return bool(left)

    async def _tell_of_delay(self, key: str, wish: Wish) -> None:
        """Tell whoever waits for it that words can't be taken out yet, once in this process."""
        if key in self._delayed or not wish.words or wish.place is None:
            return
        self._delayed.add(key)
        outgoing = NewOutboxMessage(
            platform=wish.place[0], chat=wish.place[1], body=privacy.FORGET_STUCK()
        )
        now = self._now()
        row = await self.database.write(
            "belongings.wait", lambda c: outbox.enqueue(c, outgoing, now=now)
        )
        self._around.enqueue([row])

    async def _fulfil(self, key: str, wish: Wish, attempt: int) -> str:
        """Do what was confirmed; the words that tell of it. Raises `StillAtWork`."""
        if key.startswith(_FORGET):
            return await self._forget(wish)
        if attempt <= _FAREWELLS and await self._is_owed_something(wish.person_id):
            raise StillAtWork
        try:
            await self._erase(wish.person_id)
        except LastOwner:
            return privacy.ERASE_LAST_OWNER()
        return privacy.describe_erased(await self.list_backups(), await self.list_outside())

    async def _forget(self, wish: Wish) -> str:
        wanted = parse_words(wish.words)
        if wanted is None:
            return privacy.FORGET_NOTHING()
        forgotten = await self._forgetting.forget(
            wish.person_id, wanted, has_messages=wish.has_messages, now=self._now()
        )
        if wish.has_messages and await self._is_local(wish.person_id):
            path = self._home / CHAT_HISTORY
            await asyncio.to_thread(forget, path, wanted.is_in)
        self.renew()
        told = privacy.describe_forgotten(
            forgotten.entries,
            forgotten.messages,
            forgotten.jobs,
            has_messages=wish.has_messages,
        )
        return told + privacy.describe_kept_files(await self._find_files(wish.person_id, wanted))

    async def _find_files(self, person_id: PersonId, wanted: WordMatcher) -> list[str]:
        """The files for somebody's digests that hold words; they were put there by hand."""
        person = await self.database.read(lambda c: people.find(c, person_id=person_id))
        if person is None:
            return []
        folder = own_folder(self._home / SOURCES, "people", person.slug)
        return await asyncio.to_thread(_find_in, folder, wanted)

    async def _erase(self, person_id: PersonId) -> None:
        is_local = await self._is_local(person_id)
        if not await self.database.read(
            lambda c: erase_person.is_erased(c, person_id=person_id)
        ):  # else an earlier process came that far
            await self._erasing.begin(person_id, now=self._now())
        self.renew()
        await self._erasing.go_on(self._now())
        if is_local:
            path = self._home / CHAT_HISTORY
            await asyncio.to_thread(path.unlink, missing_ok=True)
        self.renew()

    async def _close(self, key: str, wish: Wish, told: str) -> None:
        """What was owed is done, and whoever wished for it is told."""
        now = self._now()

        def work(connection: Connection) -> list[OutboxRow]:
            meta.drop(connection, key=key)
            if wish.question_id:  # it shows a few lines of what is gone
                redact.drop_question(connection, question_id=QuestionId(wish.question_id))
            if wish.words:
                _note(connection, wish.person_id, now)
            if wish.place is None:
                return []
            platform, chat = wish.place
            return [
                outbox.enqueue(
                    connection, NewOutboxMessage(platform=platform, chat=chat, body=told), now=now
                )
            ]

        self._around.enqueue(await self.database.write("belongings.done", work))

    async def _is_local(self, person_id: PersonId) -> bool:
        accounts = await self.database.read(lambda c: people.list_accounts(c, person_id=person_id))
        return any(account.platform == LOCAL_PLATFORM for account in accounts)

    async def _is_owed_something(self, person_id: PersonId) -> bool:
        return await self.database.read(lambda c: erase_person.has_queued(c, person_id=person_id))


def _note(connection: Connection, person_id: PersonId, now: int) -> None:
    """That something was forgotten; of what, nothing is said."""
    deed = Deed(
        person_id=person_id,
        actor=f"person:{person_id}",
        action="forget",
        detail="",
        created_at=now,
    )
    audit.note(connection, deed)


def _read(text: str) -> Wish:
    fields = json.loads(text)
    fields["place"] = tuple(fields["place"]) if fields["place"] else None
    return Wish(**fields)


def _is_alone(chat: str) -> bool:
    return conversion.read_chat(chat).is_direct if chat else False


def _find_in(folder: Path, wanted: WordMatcher) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in list_files(folder)
        if wanted.is_in(path.name) or wanted.is_in_bytes(_FOLD.sub(b"", path.read_bytes()))
    ]


def _make_draft(folder: Path) -> Path:
    """A folder that nobody else can look into. Raises `OSError`."""
    return Path(tempfile.mkdtemp(prefix=_DRAFTS, dir=folder))


def _remove_drafts(home: Path) -> None:
    """Exports that an earlier process did not get to send."""
    for folder in home.glob(f"{_DRAFTS}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _list_backups(folder: Path) -> list[str]:
    found = [(path.stat().st_mtime, path.name) for path in folder.glob("*") if path.is_file()]
    return [f"{name} ({datetime.fromtimestamp(at, UTC):%Y-%m-%d})" for at, name in sorted(found)]


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Until something happened, or long enough."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
