"""A chat platform in memory: the adapter contract without a network, with planned faults."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adapters.abilities import MenuEntry
from adapters.contract import Health, Inlet, Pace
from adapters.errors import AdapterError, ChatGone, FileTooLarge, MessageGone, Rejected
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import (
    Attachment,
    Button,
    ButtonPress,
    EmojiReaction,
    Inbound,
    InboundMessage,
    OutboundFile,
    OutboundMessage,
    Presence,
    Quote,
    RawEvent,
    Sender,
)
from tests.patience import PATIENCE


@dataclass(slots=True)
class Shown:
    """A message that people see, with every text it has had."""

    id: str
    chat_id: str
    texts: list[str]
    key: str
    thread_id: str | None = None
    ticket: str | None = None
    reply_to: str | None = None
    is_silent: bool = False
    keyboard: tuple[Button, ...] = ()
    file: OutboundFile | None = None

    @property
    def text(self) -> str:
        return self.texts[-1]

    @property
    def labels(self) -> list[str]:
        """The labels of the buttons below it now."""
        return [button.label for button in self.keyboard]


@dataclass
class PlainChat:
    """A platform with few abilities: records what was sent, and fails as planned.

    Each request uses up one of `mishaps` and raises its error. With `lost` set, the request
    still takes effect before the error.
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
    gone: set[str] = field(default_factory=set)
    """Unreachable chats."""
    gate: asyncio.Event | None = None
    inlet: Inlet | None = None
    health_reads: int = 0
    state: Health = field(default_factory=lambda: Health(state="connected"))
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _ids: int = 0
    _shown_ids: int = 0

    def plan(self, error: AdapterError, *, lost: bool = False) -> None:
        self.mishaps.append((error, lost))

    async def run(self, inlet: Inlet) -> None:
        self.inlet = inlet
        await asyncio.Event().wait()

    def receive(self, event: RawEvent) -> Inbound | None:
        fields = json.loads(event.payload)
        if (
            not isinstance(fields, dict)
            or not {"text", "press", "present", "reacts"} & fields.keys()
        ):
            raise ValueError("nothing is said in it")
        if fields.get("poison"):
            raise ValueError("poison")
        if fields.get("noise"):
            return None
        address = Address(
            chat_id=fields.get("chat", "1"),
            thread_id=fields.get("thread"),
            is_direct=fields.get("direct", True),
            ticket=fields.get("ticket"),
        )
        sender = Sender(
            user_id=PlatformUserId(fields.get("user", "1")),
            display_name=fields.get("name", "Ana"),
        )
        if "present" in fields:
            user_ids = tuple(PlatformUserId(user) for user in fields["present"])
            return Presence(address=address, user_ids=user_ids)
        if "reacts" in fields:
            signs = (fields["reacts"],)
            return EmojiReaction(
                address=replace(address, thread_id=None),
                message_id=PlatformMessageId(fields["message"]),
                user_id=sender.user_id,
                added=signs if fields["is_on"] else (),
                removed=() if fields["is_on"] else signs,
            )
        if "press" in fields:
            return ButtonPress(
                address=address,
                message_id=PlatformMessageId(fields["message"]),
                sender=sender,
                key=fields["press"],
                sent_at=0,
            )
        return InboundMessage(
            address=address,
            message_id=PlatformMessageId(fields["id"]),
            sender=sender,
            text=fields["text"],
            is_addressed=fields.get("addressed", True),
            is_edit=fields.get("edit", False),
            reply_address=replace(address, ticket=fields["reply"]) if "reply" in fields else None,
            attachments=tuple(Attachment(**reported) for reported in fields.get("attachments", ())),
            quote=Quote(**fields["quote"]) if "quote" in fields else None,
            room_title=fields.get("room_title"),
            forwarded_from=fields.get("forwarded"),
            sent_at=0,
            expires_in=fields.get("expires", 0),
        )

    def split(self, text: str) -> tuple[str, ...]:
        pieces = [text[start : start + self.limit] for start in range(0, len(text), self.limit)]
        return tuple(pieces) or ("",)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        mishap = await self._meet()
        address = message.address
        if address.chat_id in self.gone:
            raise ChatGone("Nobody is there any more.")
        shown = Shown(
            id=str(self._shown_ids + 1),
            chat_id=address.chat_id,
            texts=[message.text],
            key=message.key,
            thread_id=address.thread_id,
            ticket=address.ticket,
            reply_to=message.reply_to,
            is_silent=message.is_silent,
            keyboard=message.buttons,
            file=message.file,
        )
        if mishap is None or mishap[1]:
            self._shown_ids += 1
            self.shown.append(shown)
            self._note()
        if mishap:
            raise mishap[0]
        return PlatformMessageId(shown.id)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        mishap = await self._meet()
        if mishap is None or mishap[1]:
            found = self._find_shown(message_id)
            if found is None:
                raise MessageGone("no such message")
            if found.text != message.text:
                found.texts.append(message.text)
            found.keyboard = message.buttons
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
        wanted = (message.address.chat_id, message.text, message.file)
        for shown in self.shown:
            if shown.id not in known and (shown.chat_id, shown.text, shown.file) == wanted:
                return PlatformMessageId(shown.id)
        return None

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        self.menu = list(entries)

    def health(self) -> Health:
        self.health_reads += 1
        return self.state

    # The test's side

    async def says(self, text: str, **fields: object) -> None:
        """Hand one message to the inlet, like `run`.

        Fields: chat, thread, direct, ticket, reply (a ticket for the reply alone), user, name,
        addressed, edit, room_title, id, forwarded (from whom), quote and attachments (as mappings),
        event (its id), channel and position (of the event), expires (seconds).
        """
        number = str(fields.get("id", self._next_id()))
        await self._hand_over({"id": number, "text": text, **fields}, f"event {number}")

    async def reacts(
        self, sign: str, message_id: str, *, is_on: bool = True, **fields: object
    ) -> None:
        """Hand over a person's reaction to a message, or its end."""
        number = f"reaction {self._next_id()}"
        fields = {"reacts": sign, "message": message_id, "is_on": is_on} | fields
        await self._hand_over(fields, number)

    async def send_quietly(self, text: str) -> None:
        """Show a message that an earlier process sent."""
        self._shown_ids += 1
        self.shown.append(Shown(id=str(self._shown_ids), chat_id="1", texts=[text], key=""))

    @property
    def texts(self) -> list[str]:
        """The visible texts."""
        return [shown.text for shown in self.shown]

    async def sees(self, count: int) -> list[str]:
        """Return the visible texts once there are at least `count`."""
        await self.until(lambda: len(self.shown) >= count)
        return self.texts

    async def sees_text(self, part: str) -> Shown:
        """Return the message with this text once there is one."""
        await self.until(lambda: any(part in shown.text for shown in self.shown))
        return next(shown for shown in self.shown if part in shown.text)

    async def types(self) -> None:
        """Return once typing was shown."""
        await self.until(lambda: bool(self.typed))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once the condition holds; checked after each visible change."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def _hand_over(self, fields: dict[str, object], event_id: str) -> None:
        assert self.inlet is not None
        event = RawEvent(
            event_id=EventId(str(fields.get("event", event_id))),
            payload=json.dumps(fields),
            channel=str(fields.get("channel", "")),
            position=str(fields.get("position", "")),
        )
        await self.inlet.take([event])

    def _find_shown(self, message_id: str) -> Shown | None:
        return next((shown for shown in self.shown if shown.id == message_id), None)

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids

    async def _meet(self) -> tuple[AdapterError, bool] | None:
        if self.gate:
            await self.gate.wait()
        return self.mishaps.popleft() if self.mishaps else None

    def _note(self) -> None:
        self._changed.set()


@dataclass
class FakeChat(PlainChat):
    """A platform with every ability except lists of steps."""

    most_buttons: int = 25
    most_file_bytes: int = 1_000_000
    people: int | None = 2
    """The result of `count_people` in every room."""
    creator: str | None = None
    """The account that created every room."""
    attached: dict[str, bytes] = field(default_factory=dict)
    """Files to fetch, by `file_id`; others are missing."""
    deleted: list[Shown] = field(default_factory=list)
    seen: dict[str, bool] = field(default_factory=dict)
    """Messages that ever had the eyes, and whether they have them now."""
    acknowledged: int = 0
    """Presses that the gateway accepted."""

    def preview(self, text: str) -> list[str]:
        return list(self.split(text))

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        if message.file and len(message.file.data) > self.most_file_bytes:
            raise Rejected("The file is too large.")
        return await super().send(message)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        mishap = await self._meet()
        found = self._find_shown(message_id)
        if found is not None and (mishap is None or mishap[1]):
            self.shown.remove(found)
            self.deleted.append(found)
            self._note()
        if mishap:
            raise mishap[0]

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        mishap = await self._meet()
        if mishap is None or mishap[1]:
            self.seen[message_id] = seen
            self._note()
        if mishap:
            raise mishap[0]

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        mishap = await self._meet()
        if mishap:
            raise mishap[0]
        data = self.attached.get(attachment.file_id)
        if data is None:
            raise Rejected("The file is gone.")
        if len(data) > most_bytes:
            raise FileTooLarge("The file is too large.", most_bytes=most_bytes)
        return data

    async def count_people(self, address: Address) -> int | None:
        mishap = await self._meet()
        if mishap:
            raise mishap[0]
        return 1 if address.is_direct else self.people

    async def find_creator(self, address: Address) -> PlatformUserId | None:
        mishap = await self._meet()
        if mishap:
            raise mishap[0]
        return PlatformUserId(self.creator) if self.creator else None

    async def appears(self, *users: str, chat: str) -> None:
        """Report people who joined a room or reacted there."""
        number = f"presence {self._next_id()}"
        await self._hand_over({"present": users, "chat": chat, "direct": False}, number)

    async def press(self, label: str, **fields: object) -> None:
        """Press the button with this label on the newest message that has it.

        Fields as for `says`. Raises `LookupError` if nobody can see such a button.
        """
        for shown in reversed(self.shown):
            for button in shown.keyboard:
                if button.label == label:
                    place = {"chat": shown.chat_id, "thread": shown.thread_id}
                    await self.press_key(button.key, shown.id, **place | fields)
                    return
        raise LookupError(f'nothing shows a button "{label}"')

    async def press_key(self, key: str, message_id: str, **fields: object) -> None:
        """Hand over a press of any key on any message, forged or old."""
        number = f"press {self._next_id()}"
        await self._hand_over({"press": key, "message": message_id, **fields}, number)
        self.acknowledged += 1


@dataclass
class PrefixedChat(FakeChat):
    """A platform where people type more than a slash in front of a command."""

    command_prefix: str = "/talaria "


@dataclass
class NoFilesChat(FakeChat):
    """A platform without files."""

    def __getattribute__(self, name: str) -> object:
        if name == "most_file_bytes":
            raise AttributeError(name)
        return super().__getattribute__(name)
