"""The API as a platform: programs ask with a person's token, and read the answers over HTTP.

It is no plug-in of `adapters`: nobody can write from it unasked or choose it for a job.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from adapters.contract import Health, Inlet, Pace
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, InboundMessage, OutboundMessage, RawEvent, Sender
from agent_core.ids import PersonId
from gateway.people.admission import API_PLATFORM


@dataclass(slots=True, eq=False)
class Watch:
    """The answer as the waiting request sees it: its text so far, and an event for each change."""

    text: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class ApiPlatform:
    """Answers are read from the database, so sending one only notifies the waiting request."""

    name = API_PLATFORM
    pace = Pace(chat_interval=0, edit_interval=0.05, per_second=0)

    def __init__(self) -> None:
        self._watches: dict[Address, set[Watch]] = {}
        self.waiting: Counter[PersonId] = Counter()
        """Requests that hold a connection, by person: those of programs and of the pages."""
        self.patience = 15.0
        """Seconds in which a client that left may come back; OpenAI's libraries wait at most 8."""
        self.is_stopping = False
        """True once this process gives no more answers."""

    async def run(self, inlet: Inlet) -> None:
        """Wait until cancelled: the HTTP server hands over the events."""
        try:
            await asyncio.Event().wait()
        finally:
            self.is_stopping = True
            for address in self._watches:
                self._wake(address)

    def receive(self, event: RawEvent) -> InboundMessage:
        """Parse a request. Raises `ValueError`."""
        return _receive(event)

    def split(self, text: str) -> tuple[str, ...]:
        """Keep a text whole."""
        return (text,)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Notify the waiting request; ignore status lines."""
        if not message.is_live:
            self._wake(message.address)
        return PlatformMessageId(message.key)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Notify the waiting request."""
        if not message.is_live:
            self._wake(message.address)

    async def draft(self, message: OutboundMessage) -> bool:
        """Pass the text so far to the request that waits; always possible."""
        for watch in self._watches.get(message.address, ()):
            watch.text = message.text
        self._wake(message.address)
        return True

    @contextmanager
    def follow(self, address: Address) -> Iterator[Watch]:
        """Watch the answer at an address during the block."""
        watch = Watch()
        self._watches.setdefault(address, set()).add(watch)
        try:
            yield watch
        finally:
            self._watches[address].discard(watch)
            if not self._watches[address]:
                del self._watches[address]

    def is_followed(self, address: Address) -> bool:
        """Return whether a client waits for the answer at an address."""
        return address in self._watches

    def health(self) -> Health:
        """Report connected: the HTTP server itself reports if it can't listen."""
        return Health(state="connected", alive_at=time.monotonic())

    def _wake(self, address: Address) -> None:
        for watch in self._watches.get(address, ()):
            watch.changed.set()


def make_event(message: InboundMessage, event_id: EventId) -> RawEvent:
    """Write a request as an event to store."""
    fields = {
        "person": int(message.sender.user_id),
        "program": message.sender.display_name,
        "chat": message.address.chat_id,
        "request": message.address.thread_id,
        "text": message.text,
        "pictures": [[one.file_id, one.media_type] for one in message.attachments],
        "at": message.sent_at,
        **({"wishes": message.wishes} if message.wishes else {}),
    }
    return RawEvent(event_id=event_id, payload=json.dumps(fields))


def _receive(event: RawEvent) -> InboundMessage:
    """Parse a stored request. Raises `ValueError`."""
    try:
        fields = json.loads(event.payload)
        return InboundMessage(
            address=Address(
                chat_id=str(fields["chat"]), thread_id=str(fields["request"]), is_direct=True
            ),
            message_id=PlatformMessageId(str(fields["request"])),
            sender=Sender(
                user_id=PlatformUserId(str(int(fields["person"]))),
                display_name=str(fields["program"]),
            ),
            text=str(fields["text"]),
            attachments=tuple(
                Attachment(
                    kind="image", file_id=str(key), media_type=str(media_type), is_stored=True
                )
                for key, media_type in fields.get("pictures", ())
            ),
            is_addressed=True,
            is_program=True,
            wishes=str(fields.get("wishes", "")),
            sent_at=int(fields["at"]),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a stored request of the API lacks {error}") from error
