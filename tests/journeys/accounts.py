"""People's accounts on the platforms, behind one interface."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from adapters.messages import OutboundFile
from tests.emulators.discord import DiscordEmulator
from tests.emulators.discord_shapes import Message
from tests.emulators.discord_shapes import Sent as DiscordFile
from tests.emulators.signal import SignalEmulator
from tests.emulators.signal_world import ACI, Person
from tests.emulators.slack import SlackEmulator, SlackFile, SlackMessage
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_cast import ANNA, BEN
from tests.emulators.telegram_media import document, photo, voice
from tests.emulators.whatsapp import NUMBER, Sent, WhatsAppEmulator

_QUIET_FLAG = 1 << 12
"""Discord's flag of silent messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A message of the bot as a person sees it now."""

    id: str
    text: str
    labels: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    """Every text it has had."""
    thread: str | None = None
    answers: str | None = None
    """The message that it replies to."""
    rings: bool = True
    file: tuple[str, bytes] | None = None


Press = Callable[[], Awaitable[object]]


class Account(Protocol):
    """One account of one person. Rooms are ids; None is the direct chat."""

    @property
    def platform(self) -> str:
        """The platform's name."""

    @property
    def number(self) -> int:
        """The person's number in the emulators."""

    @property
    def user_id(self) -> str:
        """The platform's id of this person."""

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        """Write; in a room, mention the bot unless told otherwise. Returns the message's id."""

    async def edits(self, message: str, text: str) -> None:
        """Edit a message in the direct chat."""

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        """React with an emoji to a message in the direct chat, or take it back."""

    def seen(self, room: str | None = None) -> list[Seen]:
        """Return the bot's current messages, oldest first."""

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        """The bot's reactions to a message."""

    def typed(self, room: str | None = None) -> bool:
        """Whether the bot was shown as typing there."""

    def holds(self, label: str, room: str | None = None) -> Press:
        """Return the newest button with this label, to be pressed now or when it is stale.

        Raises `LookupError` if there is none.
        """


def texts(account: Account, room: str | None = None) -> list[str]:
    """Return the texts of the bot's messages."""
    return [one.text for one in account.seen(room)]


def asked(account: Account, room: str | None = None) -> Seen:
    """Return the newest message with buttons."""
    return [one for one in account.seen(room) if one.labels][-1]


@dataclass(frozen=True, slots=True)
class TelegramAccount:
    """A person's account on Telegram."""

    api: TelegramEmulator
    number: int
    platform = "telegram"

    @property
    def user_id(self) -> str:
        return str(self.number)

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        if room is not None and mentions:
            text = f"@talaria_bot {text}"
        place: dict[str, Any] = {
            "chat": self._chat(room),
            "thread": int(thread) if thread else None,
            "reply_to": int(reply_to) if reply_to else None,
        }
        for file in files:
            fields = place | self._upload(file) | ({"caption": text} if text else {})
            return str(await self.api.says(self.number, None, **fields))
        return str(await self.api.says(self.number, text, **place))

    async def edits(self, message: str, text: str) -> None:
        await self.api.edits(self.number, int(message), text)

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        await self.api.reacts(self.number, int(message), *([sign] if is_on else []))

    def _upload(self, file: OutboundFile) -> dict[str, Any]:
        file_id = f"file-{len(self.api.world.contents)}"
        if file.media_type.startswith("image/"):
            self.api.world.contents[f"{file_id}-1280"] = file.data
            return photo(file_id=file_id)
        self.api.world.contents[file_id] = file.data
        if file.media_type == "audio/ogg":
            return voice(file_id=file_id, size=len(file.data))
        return document(file.name, file.media_type, file_id=file_id, size=len(file.data))

    def seen(self, room: str | None = None) -> list[Seen]:
        return [
            Seen(
                id=str(one.message_id),
                text=one.text,
                labels=tuple(one.labels),
                history=tuple(one.history),
                thread=str(one.thread_id) if one.thread_id else None,
                answers=str(one.reply_to) if one.reply_to else None,
                rings=not one.is_silent,
                file=(one.file.name, one.file.data) if one.file else None,
            )
            for one in self.api.messages(self._chat(room))
        ]

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        return self.api.world.reactions.get((self._chat(room), int(message)), [])

    def typed(self, room: str | None = None) -> bool:
        return any(chat == self._chat(room) for chat, _, _ in self.api.actions)

    def holds(self, label: str, room: str | None = None) -> Press:
        update = self.api.deeds.press(self.number, label, self._chat(room))

        async def press() -> None:
            self.api.push(update)

        return press

    def _chat(self, room: str | None) -> int:
        return self.number if room is None else int(room)


@dataclass(frozen=True, slots=True)
class DiscordAccount:
    """A person's account on Discord."""

    api: DiscordEmulator
    number: int
    platform = "discord"

    @property
    def user_id(self) -> str:
        return str(self.api.user(self.number))

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        is_named = room is not None and mentions
        said = await self.api.says(
            self.number,
            text,
            channel=int(thread or room) if room is not None else None,
            reply_to=int(reply_to) if reply_to else None,
            mentions=[self.api.user_id] if is_named else (),
            files=[DiscordFile(name=f.name, data=f.data, content_type=f.media_type) for f in files],
            is_voice=any(file.media_type.startswith("audio/") for file in files),
        )
        return str(said)

    async def edits(self, message: str, text: str) -> None:
        await self.api.edits(int(message), text)

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        await self.api.reacts(self.number, int(message), sign, is_on=is_on)

    async def commands(self, name: str, text: str = "", *, room: str | None = None) -> None:
        """Use a slash command of the menu, with arguments."""
        await self.api.commands(
            self.number,
            name,
            channel=int(room) if room else None,
            options={"text": text} if text else None,
        )

    def seen(self, room: str | None = None) -> list[Seen]:
        found = self.api.messages(self._channel(room))
        return [self._see(one) for one in found if not one.is_loading]

    def whispered(self) -> list[str]:
        """Return the bot's ephemeral replies to this person's commands."""
        return [one.content for one in self.api.ephemerals(self.number)]

    def _see(self, one: Message) -> Seen:
        files = [(a["filename"], urlsplit(a["url"]).path) for a in one.attachments]
        data = [(name, self.api.wire.files[path].data) for name, path in files]
        return Seen(
            id=str(one.id),
            text=one.content,
            labels=tuple(button["label"] for button in one.buttons().values()),
            history=tuple(one.history),
            answers=str(one.reference) if one.reference else None,
            rings=not one.flags & _QUIET_FLAG,
            file=data[0] if data else None,
        )

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        return self.api.reactions(int(message))

    def typed(self, room: str | None = None) -> bool:
        return self.api.typings(self._channel(room)) > 0

    def holds(self, label: str, room: str | None = None) -> Press:
        for message in reversed(self.api.messages(self._channel(room))):
            for custom_id, button in message.buttons().items():
                if button["label"] == label:
                    return self._press(message, custom_id)
        raise LookupError(f'no button "{label}"')

    def _press(self, message: Message, custom_id: str) -> Press:
        shown = message.components

        async def press() -> None:
            now, message.components = message.components, shown
            await self.api.presses(self.number, message.id, custom_id)
            message.components = now

        return press

    def _channel(self, room: str | None) -> int:
        return self.api.dm(self.number) if room is None else int(room)


@dataclass(frozen=True, slots=True)
class SlackAccount:
    """A person's account on Slack."""

    api: SlackEmulator
    number: int
    platform = "slack"

    @property
    def user_id(self) -> str:
        return self.api.user(self.number)

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        return await self.api.says(
            self.number,
            text,
            channel=room,
            thread_ts=thread or reply_to,
            mention=room is not None and mentions,
            files=[
                SlackFile(
                    name=file.name,
                    content=file.data,
                    mimetype=file.media_type,
                    subtype="slack_audio" if file.media_type.startswith("audio/") else None,
                )
                for file in files
            ],
        )

    async def edits(self, message: str, text: str) -> None:
        await self.api.edits(self.api.dm(self.number), message, text)

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        channel, name = self.api.dm(self.number), {"👍": "+1", "👎": "-1"}[sign]
        await self.api.reacts(self.number, channel, message, name, is_on=is_on)

    async def commands(self, text: str, *, room: str | None = None) -> None:
        """Type `/talaria` and arguments."""
        await self.api.commands(self.number, text, channel=room)

    def seen(self, room: str | None = None) -> list[Seen]:
        found = self.api.messages(self._channel(room))
        return [self._see(one) for one in found if one.bot is not None]

    def _see(self, one: SlackMessage) -> Seen:
        """Read a message, with commands spelled as on the other platforms."""
        contents = self.api.world.contents
        files = [(file["name"], contents[file["id"]]) for file in one.files]
        return Seen(
            id=one.ts,
            text=one.shown.replace("/talaria ", "/"),
            labels=tuple(one.buttons.values()),
            history=tuple(one.history),
            thread=one.thread_ts,
            file=files[0] if files else None,
        )

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        found = self.api.world.channels[self._channel(room)].messages[message]
        return [name for name, _ in found.reactions]

    def typed(self, room: str | None = None) -> bool:
        methods = ("agents.sessions.setStatus", "assistant.threads.setStatus")
        return any(
            name in methods and parameters.get("channel_id") == self._channel(room)
            for name, parameters in self.api.calls
        )

    def holds(self, label: str, room: str | None = None) -> Press:
        for message in reversed(self.api.messages(self._channel(room))):
            for action_id, shown in message.buttons.items():
                if shown == label:
                    return self._press(message, action_id)
        raise LookupError(f'no button "{label}"')

    def _press(self, message: SlackMessage, action_id: str) -> Press:
        shown = message.blocks

        async def press() -> None:
            now, message.blocks = message.blocks, shown
            await self.api.presses(self.number, message.channel, message.ts, action_id)
            message.blocks = now

        return press

    def _channel(self, room: str | None) -> str:
        return self.api.dm(self.number) if room is None else room


@dataclass(frozen=True, slots=True)
class SignalAccount:
    """A person's account on Signal, where choices are typed."""

    api: SignalEmulator
    number: int
    platform = "signal"

    @property
    def user_id(self) -> str:
        return self.person.uuid

    @property
    def person(self) -> Person:
        return self.api.world.person(f"+49151{self.number:08}", name_of(self.number))

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        world = self.api.world
        fields: dict[str, Any] = {}
        if files:
            fields["attachments"] = [world.attach(f.name, f.media_type, f.data) for f in files]
        if reply_to is not None:
            fields["quote"] = {"id": int(reply_to), "authorUuid": ACI, "text": ""}
        if room is not None and mentions:
            text, fields["mentions"] = f"\ufffc {text}", [world.mention()]
        group = world.groups[room] if room is not None else None
        return str(world.says(self.person, text, group=group, **fields))

    async def edits(self, message: str, text: str) -> None:
        self.api.world.edits(self.person, int(message), text)

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        self.api.world.reacts(self.person, sign, int(message), is_on=is_on)

    def seen(self, room: str | None = None) -> list[Seen]:
        place = self.user_id if room is None else room
        found = [one for one in self.api.world.sent if one.chat == place and not one.is_deleted]
        return [
            Seen(
                id=str(one.sent_at),
                text=one.text,
                answers=str(one.quote[0]) if one.quote else None,
                file=one.files[0][:2] if one.files else None,
            )
            for one in found
        ]

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        return self.api.world.reactions.get((int(message), self.user_id), [])

    def typed(self, room: str | None = None) -> bool:
        return (self.user_id if room is None else room) in self.api.world.typing

    def holds(self, label: str, room: str | None = None) -> Press:
        raise LookupError("Signal has no buttons")


@dataclass(frozen=True, slots=True)
class WhatsAppAccount:
    """A person's account on WhatsApp."""

    api: WhatsAppEmulator
    number: int
    platform = "whatsapp"

    @property
    def user_id(self) -> str:
        return f"1650555{self.number:04}"

    async def says(
        self,
        text: str,
        *,
        room: str | None = None,
        thread: str | None = None,
        reply_to: str | None = None,
        files: Sequence[OutboundFile] = (),
        mentions: bool = True,
    ) -> str:
        self.api.names[self.user_id] = name_of(self.number)
        for file in files:
            return self.api.attaches(self.user_id, text, file.name, file.data, file.media_type)
        context = {"context": {"from": NUMBER, "id": reply_to}} if reply_to else {}
        words = f"@{NUMBER} {text}" if room and mentions else text
        return self.api.says(self.user_id, words, group=room or "", **context)

    async def edits(self, message: str, text: str) -> None:
        self.api.edits(self.user_id, message, text)

    async def reacts(self, message: str, sign: str, *, is_on: bool = True) -> None:
        self.api.reacts(self.user_id, message, sign if is_on else "")

    def seen(self, room: str | None = None) -> list[Seen]:
        place = self.user_id if room is None else room
        return [
            Seen(
                id=one.id,
                text=one.text,
                labels=tuple(one.buttons.values()),
                file=self.api.read_file(one) if one.is_media else None,
            )
            for one in self.api.sent
            if one.to == place
        ]

    def indicators(self, message: str, room: str | None = None) -> list[str]:
        return [sign for sign in (self.api.reactions.get(message),) if sign]

    def typed(self, room: str | None = None) -> bool:
        return any("typing_indicator" in one for one in self.api.marks)

    def holds(self, label: str, room: str | None = None) -> Press:
        place = self.user_id if room is None else room
        for message in reversed([one for one in self.api.sent if one.to == place]):
            for key, shown in message.buttons.items():
                if shown == label:
                    return self._press(message, key)
        raise LookupError(f'no button "{label}"')

    def _press(self, message: Sent, key: str) -> Press:
        async def press() -> None:
            self.api.presses(self.user_id, message, key)

        return press


def name_of(number: int) -> str:
    """Return the name that a person gave themselves."""
    return {ANNA: "Anna", BEN: "Ben"}.get(number, f"Person{number}")


def ringing(account: Account) -> list[str]:
    return [one.text for one in account.seen() if one.rings]
