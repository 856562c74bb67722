"""A chat platform in memory: the adapter contract without a wire, with planned mishaps."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from adapters.abilities import MenuEntry
from adapters.contract import Health, Inlet, Pace
from adapters.errors import AdapterError, MessageGone
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, OutboundMessage, RawEvent, Sender


@dataclass(slots=True)
class Shown:
    """One message that people see, with every text it has had."""

    id: str
    chat_id: str
    texts: list[str]
    key: str

    @property
    def text(self) -> str:
        return self.texts[-1]


@dataclass
class FakeChat:
    """Everything that was sent, and mishaps to come.

    `mishaps` are taken one a request; an error is raised, and with `lost` set the request
    has its effect all the same before the error is raised.
    """

    name: str = "fake"
    pace: Pace = field(default_factory=lambda: Pace(chat_interval=0, edit_interval=0, per_second=0))
    typing_lasts: float = 5.0
    limit: int = 1000
    shown: list[Shown] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    known: list[list[str]] = field(default_factory=list)
    menu: list[MenuEntry] = field(default_factory=list)
    mishaps: deque[tuple[AdapterError, bool] | None] = field(default_factory=deque)
    gate: asyncio.Event | None = None
    inlet: Inlet | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def plan(self, error: AdapterError, *, lost: bool = False) -> None:
        self.mishaps.append((error, lost))

    async def run(self, inlet: Inlet) -> None:
        self.inlet = inlet
        await asyncio.Event().wait()

    def receive(self, event: RawEvent) -> InboundMessage | None:
        fields = json.loads(event.payload)
        if fields.get("poison"):
            raise ValueError("poison")
        if fields.get("noise"):
            return None
        return InboundMessage(
            address=Address(chat_id=fields.get("chat", "1"), is_direct=fields.get("direct", True)),
            message_id=PlatformMessageId(fields["id"]),
            sender=Sender(
                user_id=PlatformUserId(fields.get("user", "1")),
                display_name=fields.get("name", "Ana"),
            ),
            text=fields["text"],
            is_addressed=fields.get("addressed", True),
            is_edit=fields.get("edit", False),
            sent_at=0,
        )

    def split(self, text: str) -> tuple[str, ...]:
        pieces = [text[start : start + self.limit] for start in range(0, len(text), self.limit)]
        return tuple(pieces) or ("",)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        mishap = await self._meet()
        shown = Shown(
            id=str(len(self.shown) + 1),
            chat_id=message.address.chat_id,
            texts=[message.text],
            key=message.key,
        )
        if mishap is None or mishap[1]:
            self.shown.append(shown)
            self._note()
        if mishap:
            raise mishap[0]
        return PlatformMessageId(shown.id)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        mishap = await self._meet()
        found = [shown for shown in self.shown if shown.id == message_id]
        if mishap is None or mishap[1]:
            if not found:
                raise MessageGone("no such message")
            if found[0].text != message.text:
                found[0].texts.append(message.text)
            self._note()
        if mishap:
            raise mishap[0]

    async def type(self, address: Address) -> None:
        self.typed.append(address.chat_id)
        self._note()

    def newest(self, address: Address) -> PlatformMessageId | None:
        return PlatformMessageId(self.shown[-1].id) if self.shown else None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        self.looked.append(message.text)
        self.known.append([str(message_id) for message_id in known])
        mishap = await self._meet()
        if mishap:
            raise mishap[0]
        for shown in self.shown:
            if shown.id not in known and shown.text == message.text:
                return PlatformMessageId(shown.id)
        return None

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        self.menu = list(entries)

    def health(self) -> Health:
        return Health(state="connected")

    async def says(self, text: str, **fields: object) -> None:
        """Hand one message to the inlet, as `run` would."""
        assert self.inlet is not None
        number = str(fields.get("id", self._next_id()))
        payload = json.dumps({"id": number, "text": text, **fields})
        event = fields.get("event", f"event {number}")
        await self.inlet.take([RawEvent(event_id=EventId(str(event)), payload=payload)])

    async def send_quietly(self, text: str) -> None:
        """Put a message on show that an earlier process sent."""
        self.shown.append(Shown(id=str(len(self.shown) + 1), chat_id="1", texts=[text], key=""))

    async def sees(self, count: int) -> list[str]:
        """The texts on show, once there are at least so many."""
        async with asyncio.timeout(10):
            while len(self.shown) < count:
                self._changed.clear()
                await self._changed.wait()
        return [shown.text for shown in self.shown]

    async def sees_text(self, part: str) -> Shown:
        """The message that shows this, once one does."""
        async with asyncio.timeout(10):
            while True:
                for shown in self.shown:
                    if part in shown.text:
                        return shown
                self._changed.clear()
                await self._changed.wait()

    async def types(self) -> None:
        """Return once the typing sign was shown."""
        async with asyncio.timeout(10):
            while not self.typed:
                self._changed.clear()
                await self._changed.wait()

    _ids: int = 0

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids

    async def _meet(self) -> tuple[AdapterError, bool] | None:
        if self.gate:
            await self.gate.wait()
        return self.mishaps.popleft() if self.mishaps else None

    def _note(self) -> None:
        self._changed.set()
