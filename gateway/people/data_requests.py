"""Confirmed requests to forget words or to erase a person, stored until they are done."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from agent_core.chats import Chat
from agent_core.errors import LastOwner, StoreDamaged, StoreError, WorkInProgress
from agent_core.ids import PersonId, QuestionId
from agent_core.localization import Text, find_language, use_language
from agent_core.privacy.erasure.scrub import delete_loose_files, scrub_database
from agent_core.state.conversations import questions
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import erase_person, redact
from agent_core.state.people import deeds, people
from agent_core.state.people.deeds import FORGOT, Doer, NewDeed
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import flatten
from gateway.outbound.progress_lines import ProgressLines
from gateway.outbound.questions import Questions
from gateway.people.data_erase import DataErase
from gateway.people.data_forget import DataForget
from gateway.texts import privacy

_log = logging.getLogger(__name__)

_QUEUED = "owed:"
_FORGET, _ERASE = "owed:forget:", "owed:erase:"
_POLL = 60.0
"""Seconds between two looks at the queue if nothing wakes the worker."""
_RETRY_PAUSE = 1.0
"""Seconds before a request is tried again."""
_QUIET_ATTEMPTS = 5
"""Attempts after which a person reads that their words wait for other work."""
_LONGEST_QUOTED = 120
"""Characters of a question in a sentence about it."""
_FAREWELLS = 20
"""Attempts during which an erasure waits for the person's last messages to be delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRequest:
    """A confirmed request: to forget words or, without words, to erase the person.

    `chat` receives the report; None for no report.
    """

    person_id: PersonId
    words: str = ""
    has_messages: bool = False
    question_id: int = 0
    """The question that confirmed the request, if it quotes the words."""
    chat: Chat | None = None
    group_id: int = 0
    """The group whose notes alone are meant, as a memory owner; 0 for all of the person's data."""


class RequestQueue:
    """The stored requests."""

    def __init__(self) -> None:
        """Create the queue on the event loop of the worker."""
        self.wakeup = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def put(self, connection: Connection, request: DataRequest, occasion: str) -> None:
        """Store a request in the transaction of its confirmation.

        `occasion` identifies the confirmation, so that a repeated one stores nothing new.
        """
        store_request(connection, request, occasion)
        self._loop.call_soon_threadsafe(self.wakeup.set)


def store_request(connection: Connection, request: DataRequest, occasion: str) -> None:
    """Store a request; a gateway that starts later carries it out."""
    kind = _FORGET if request.words else _ERASE
    meta.put(connection, key=f"{kind}{occasion}", value=_dump(request))


@dataclass(frozen=True, slots=True)
class DataRequests:
    """Carries out stored requests in the background; no turn waits for them."""

    queue: RequestQueue
    forgetting: DataForget
    erasing: DataErase
    database: Database
    questions: Questions
    enqueue: Callable[[Sequence[OutboxRow]], None]
    lines: ProgressLines
    now: Callable[[], int]
    _delayed: set[str] = field(init=False, default_factory=set)
    _repeated: set[QuestionId] = field(init=False, default_factory=set)
    _dirty: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    async def run(self) -> None:
        """Carry out requests until cancelled, those of an earlier process first."""
        attempts: dict[str, int] = {}
        while True:
            self.queue.wakeup.clear()
            is_left = False
            try:
                async with self.erasing.lock:
                    is_left = await self._work(attempts)
            except (StoreError, OSError) as error:
                _log.error("data requests wait: %s", error)
            self._dirty.set()
            await _wait(self.queue.wakeup, _RETRY_PAUSE if is_left else _POLL)

    async def keep_clean(self, is_quiet: Callable[[], bool]) -> None:
        """Remove the bytes of deleted rows from the database file, until cancelled."""
        while True:
            self._dirty.clear()
            try:
                await scrub_database(self.database, is_quiet=is_quiet)
            except StoreError as error:
                _log.error("deleted rows can't be scrubbed from the database yet: %s", error)
            await _wait(self._dirty, _POLL)

    async def _work(self, attempts: dict[str, int]) -> bool:
        """Carry out the queue; return True if a request has to wait.

        One person's damaged rows or locked files must not delay other people's requests.
        """
        try:
            await self.erasing.resume()
        except OSError as error:
            _log.error("a folder of an erased person can't be deleted yet: %s", error)
        await delete_loose_files(self.database)
        # Read by the writer connection: the transaction that woke us may not be committed yet.
        queued = await self.database.write("data_requests.read", meta.list_under, prefix=_QUEUED)
        is_left = False
        for key, text in queued.items():
            request = _load(text)
            attempts[key] = attempts.get(key, 0) + 1
            try:
                with use_language(await self._find_language(request), find_language()):
                    report = await self._carry_out(key, request, attempts[key])
            except WorkInProgress:
                is_left = True
                if not await self._ask_again(request) and attempts[key] == _QUIET_ATTEMPTS:
                    await self._report_delay(key, request, privacy.FORGET_AFTER_WORK)
            except (StoreDamaged, OSError) as error:
                _log.error("a data request waits: %s", error)
                await self._report_delay(key, request, privacy.FORGET_STUCK)
            else:
                await self._finish(key, request, report)
        return is_left

    async def _ask_again(self, request: DataRequest) -> bool:
        """Ask again, where the report is due, what a turn of the person waits for.

        Each question is asked again once per process. Return whether one waits.
        """
        address = _address(request)
        if not request.words or address is None:
            return False
        now, person_id = self.now(), request.person_id
        asked = await self.database.read(questions.list_awaited, person_id=person_id)
        new = [one for one in asked if one.id not in self._repeated]
        if not new:
            return bool(asked)
        self._repeated.update(one.id for one in new)
        with use_language(await self._find_language(request), find_language()):
            words = privacy.FORGET_AFTER_ANSWER(question=flatten(new[0].text, _LONGEST_QUOTED))

        def work(connection: Connection) -> list[OutboxRow]:
            still = questions.list_awaited(connection, person_id=person_id)
            again = [one for one in still if one in new]
            if not again:
                return []
            said = outbox.enqueue(connection, replace(address, body=words), now=now)
            return [said, *self.questions.repeat(connection, again, address.chat, now)]

        self.enqueue(await self.database.write("data_requests.ask", work))
        return True

    async def _report_delay(self, key: str, request: DataRequest, words: Text) -> None:
        """Tell the person, once per process, that their words can't be removed yet."""
        address = _address(request)
        if key in self._delayed or not request.words or address is None:
            return
        self._delayed.add(key)
        with use_language(await self._find_language(request), find_language()):
            outgoing = replace(address, body=words())
        now = self.now()
        row = await self.database.write("data_requests.delay", outbox.enqueue, outgoing, now=now)
        self.enqueue([row])

    async def _carry_out(self, key: str, request: DataRequest, attempt: int) -> str:
        """Carry out a request and return the report. Raises `WorkInProgress`."""
        person_id = request.person_id
        if key.startswith(_FORGET):
            try:
                if request.group_id:
                    return await self.forgetting.remove_in_group(
                        person_id, request.words, PersonId(request.group_id)
                    )
                async with self.lines.show(_address(request)) as tell:
                    return await self.forgetting.remove(
                        person_id, request.words, tell, has_messages=request.has_messages
                    )
            finally:
                self.erasing.renew()
        if attempt <= _FAREWELLS and await self.database.read(
            erase_person.has_queued, person_id=person_id
        ):
            raise WorkInProgress
        backups = await self.erasing.list_backups(person_id)
        try:
            await self.erasing.erase_now(person_id)
        except LastOwner:
            return privacy.ERASE_LAST_OWNER()
        return privacy.describe_erased(backups, await self.erasing.list_external())

    async def _find_language(self, request: DataRequest) -> str | None:
        """Return the language of the person whose words go; an erased one has none."""
        person = await self.database.read(people.find, person_id=request.person_id)
        return person.language if person else None

    async def _finish(self, key: str, request: DataRequest, report: str) -> None:
        """Delete a request and enqueue its report."""
        now = self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            meta.drop(connection, key=key)
            if request.question_id:  # the question quotes lines that are deleted now
                redact.drop_question(connection, question_id=QuestionId(request.question_id))
            if request.words:
                _note_forgotten(connection, request, now)
            address = _address(request)
            if address is None:
                return []
            return [outbox.enqueue(connection, replace(address, body=report), now=now)]

        self.enqueue(await self.database.write("data_requests.done", work))


def _address(request: DataRequest) -> NewOutboxMessage | None:
    """Address a message without words to the chat that receives the report."""
    if request.chat is None:
        return None
    return NewOutboxMessage(chat=request.chat, body="")


def _note_forgotten(connection: Connection, request: DataRequest, now: int) -> None:
    """Record for `/undo` that something was forgotten, without its words."""
    doer = Doer(
        person_id=request.person_id,
        owner_id=PersonId(request.group_id or request.person_id),
        platform=request.chat.platform if request.chat else "",
    )
    deeds.record(connection, doer, NewDeed(did=FORGOT), now=now)


def _dump(request: DataRequest) -> str:
    """Return a request as stored text, in which `place` is the platform and the address."""
    fields = asdict(request)
    del fields["chat"]
    place = (request.chat.platform, request.chat.address) if request.chat else None
    return json.dumps(fields | {"place": place})


def _load(text: str) -> DataRequest:
    fields = json.loads(text)
    place = fields.pop("place")
    chat = Chat(platform=place[0], address=place[1]) if place else None
    return DataRequest(**fields, chat=chat)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
