"""A program's request: stored like any other message, until its answer is read back."""

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

from adapters.errors import Unreachable
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, InboundMessage, Sender
from agent_core.agent.wishes import NO_WISHES, ProgramWishes, dump_wishes
from agent_core.errors import StoreError
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxProgress
from gateway.app.gateway import Gateway
from gateway.chats import make_chat, name_chat
from gateway.inbound.api_platform import ApiPlatform, make_event
from gateway.interfaces.api.answers import ApiAnswer, read_answer
from gateway.interfaces.api.errors import ApiError
from gateway.media.file_types import find_media_type
from gateway.people.admission import API_PLATFORM
from gateway.turns.client_calls import Client

_LOOK = 1.0
"""Seconds between two checks of a waiting request, in case no signal comes."""
_MOST_OF_PERSON, _MOST_WAITING = 16, 64
"""Most waiting requests of one person, and of everybody; the port serves 100 connections."""
_WAITING = "Too many requests wait for answers. Wait for some of them."
_STOPPING = (
    "Talaria is stopping or its database is busy. Send the request again, with the same"
    " Idempotency-Key if it had one."
)
_USED = "This Idempotency-Key belongs to another request."
_LEFT = "The client has left."
UNNAMED = "chat:"
"""The beginning of the name of a request that its program has not named."""
_UNANSWERED = "Talaria could not answer this request. Its log says why."


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a client.

    Repeats of a request have the same `name` and `repeat`: the latter counts requests that are
    equal, but each a request of its own. `conversation` is the client's own name for a
    conversation; "" is its first. `pictures` are the bytes of image files.
    """

    client: Client
    text: str
    name: str
    repeat: int = 0
    conversation: str = ""
    pictures: tuple[bytes, ...] = ()
    wishes: ProgramWishes = NO_WISHES

    @property
    def event_id(self) -> EventId:
        """The id of the request's event: a repeat has the same id, and no other request has it."""
        client = self.client
        first = _hash("event", str(client.person_id), client.name, self.name)
        return EventId(f"{first}.{self.repeat}" if self.repeat else first)

    @property
    def id(self) -> str:
        """The id of the answer: a hash of everything that was asked."""
        keys = map(files.make_key, self.pictures)
        wishes = [dump_wishes(self.wishes)] if self.wishes != NO_WISHES else []
        return _hash("answer", self.event_id, self.conversation, self.text, *keys, *wishes)[:32]

    @property
    def has_key(self) -> bool:
        """True if the program named the request itself, so that it can ask for the answer later."""
        return not self.name.startswith(UNNAMED)

    @property
    def address(self) -> Address:
        """The address of the answer. Each conversation of each program of a person is one chat."""
        client = self.client
        chat_id = f"{client.person_id}/{client.name}/{self.conversation}"
        return Address(chat_id=chat_id, thread_id=self.id, is_direct=True)


def make_name(key: str) -> str:
    """Return the name of a request by its `Idempotency-Key`; without one, a new random name."""
    return f"key:{key}" if key else f"own:{secrets.token_urlsafe()}"


def _hash(*parts: str) -> str:
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(whole.encode()).hexdigest()


@dataclass(slots=True)
class _Followed:
    """What became of the turn that a client waits for."""

    is_over: bool = False


class Requests:
    """Stores the questions of clients, and waits for the answers."""

    def __init__(self, gateway: Gateway) -> None:
        self._database = gateway.database
        self._inlet = gateway.router.inlet(API_PLATFORM)
        adapter = gateway.platforms.adapters[API_PLATFORM]
        assert isinstance(adapter, ApiPlatform)  # noqa: S101 - the platform of the API itself
        self._platform = adapter
        self._now = gateway.now
        self._waiting = adapter.waiting
        self._lanes = gateway.lanes
        self._leaving: dict[Address, asyncio.Task[None]] = {}
        """The ends of requests whose clients have left, unless they come back in time."""

    @contextmanager
    def _hold(self, question: Question) -> Iterator[None]:
        person_id = question.client.person_id
        self._waiting[person_id] += 1
        try:
            yield
        finally:
            self._waiting[person_id] -= 1
            self._waiting += Counter()  # drops people without waiting requests

    async def submit(self, question: Question) -> None:
        """Store a question; a repeated question is stored once. Raises `ApiError` and `StoreError`.

        Refuses a question if too many wait: each waiting request holds a connection, and the
        console and `/health` need connections, too.
        """
        of_person = self._waiting[question.client.person_id]
        if of_person >= _MOST_OF_PERSON or self._waiting.total() >= _MOST_WAITING:
            wait = {"Retry-After": "5"}
            raise ApiError(
                HTTPStatus.TOO_MANY_REQUESTS, _WAITING, code="too_many_waiting", headers=wait
            )
        with self._hold(question):
            await self._store(question)

    async def _store(self, question: Question) -> None:
        pictures = [(data, find_media_type(data)) for data in question.pictures]
        now = self._now()

        def store(connection: Connection) -> tuple[Attachment, ...]:
            return tuple(
                Attachment(
                    kind="image",
                    file_id=files.store(connection, data=data, media_type=media_type, now=now),
                    media_type=media_type,
                    is_stored=True,
                )
                for data, media_type in pictures
            )

        stored = await self._database.write("files.store", store) if pictures else ()
        message = InboundMessage(
            address=question.address,
            message_id=PlatformMessageId(question.id),
            sender=Sender(
                user_id=PlatformUserId(str(question.client.person_id)),
                display_name=question.client.name,
            ),
            text=question.text.replace("\0", "\N{REPLACEMENT CHARACTER}"),
            is_addressed=True,
            attachments=stored,
            is_program=True,
            wishes=dump_wishes(question.wishes),
            sent_at=now,
        )
        event = make_event(message, question.event_id)
        try:
            await self._inlet.take([event])
        except Unreachable:
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, _STOPPING, code="stopping") from None
        await self._look(question)

    async def wait(
        self, question: Question, is_gone: Callable[[], Awaitable[bool]] | None = None
    ) -> ApiAnswer:
        """Return the answer to a stored question. Raises `ApiError` and `StoreError`.

        Ends early once the client `is_gone`: nobody reads the answer.
        """
        async for _ in self.follow(question):
            if is_gone and await is_gone():
                raise ApiError(HTTPStatus.REQUEST_TIMEOUT, _LEFT, code="client_left")
        return await self.read(question)

    async def follow(self, question: Question) -> AsyncIterator[str]:
        """Yield the text so far at each change, until the turn is over.

        A caller may stop early. The turn is stopped if no repeat of the request comes soon, except
        for a request with a key of its own: its program may come back at any time.
        """
        with (
            self._hold(question),
            self._leave(question) as state,
            self._platform.follow(question.address) as watch,
        ):
            while not (await self._look(question)).is_over:
                if self._platform.is_stopping:
                    raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, _STOPPING, code="stopping")
                try:
                    async with asyncio.timeout(_LOOK):
                        await watch.changed.wait()
                except TimeoutError:
                    pass
                watch.changed.clear()
                yield watch.text
            state.is_over = True

    @contextmanager
    def _leave(self, question: Question) -> Iterator[_Followed]:
        """Stop the question's turn some time after the block, unless it is over by then."""
        address, followed = question.address, _Followed()
        if stopping := self._leaving.pop(address, None):
            stopping.cancel()
        try:
            yield followed
        finally:
            if not (followed.is_over or question.has_key or self._platform.is_stopping):
                self._leaving[address] = asyncio.create_task(self._stop_left(question))

    async def _stop_left(self, question: Question) -> None:
        """Stop the turn of a client that has left, also if it begins only later."""
        chat = make_chat(API_PLATFORM, question.address)
        with suppress(StoreError, ApiError):
            while not (await self._look(question)).is_over:
                await asyncio.sleep(self._platform.patience)
                is_followed = self._platform.is_followed(question.address)
                if is_followed or self._platform.is_stopping or self._lanes.stop_at(chat):
                    break
        if self._leaving.get(question.address) is asyncio.current_task():
            del self._leaving[question.address]

    async def read(self, question: Question) -> ApiAnswer:
        """Return the answer of a finished turn. Raises `ApiError` and `StoreError`."""
        person_id = question.client.person_id

        def work(connection: Connection) -> ApiAnswer:
            turn_id = _find_progress(connection, question).turn_id
            if turn_id is None:
                raise ApiError(HTTPStatus.CONFLICT, _UNANSWERED, code="unanswered")
            return read_answer(
                connection, turn_id=turn_id, person_id=person_id, wishes=question.wishes
            )

        return await self._database.read(work)

    async def _look(self, question: Question) -> InboxProgress:
        return await self._database.read(_find_progress, question)


def _find_progress(connection: Connection, question: Question) -> InboxProgress:
    """Return the progress of a question.

    Raises `ApiError` if it was not accepted, or if its name belongs to another request.
    """
    progress = inbox.find_progress(connection, platform=API_PLATFORM, event_id=question.event_id)
    if progress is None:
        raise ApiError(HTTPStatus.CONFLICT, _UNANSWERED, code="unanswered")
    if progress.chat is not None and progress.chat != name_chat(question.address):
        raise ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, _USED, code="idempotency_key_reused")
    return progress
