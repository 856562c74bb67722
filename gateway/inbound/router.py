"""One inbound event: stored, read, its person known; then a command, a lane, or why not."""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.contract import ChatAdapter
from adapters.messages import ButtonPress, InboundMessage
from agent_core.errors import StoreDamaged, StoreError
from agent_core.ids import InboxId
from agent_core.localization import set_language, use_language
from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.inbox import InboxRow
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.commands.registry import Call, Reply, SlashCommand, parse
from gateway.concurrency import Signal, Workers
from gateway.conversion import QueuedMessage
from gateway.inbound import events
from gateway.inbound.command_reply import make_outgoing, write_reply
from gateway.inbound.events import (
    InboundEvent,
    Item,
    PlatformInlet,
    PressEvent,
    SkippedEvent,
    StaleEvents,
    StoredEvent,
)
from gateway.outbound import composer
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions, Reaction
from gateway.people.identity import Identity
from gateway.people.linking import Linking
from gateway.people.rooms import RoomConversation, Rooms
from gateway.texts import general
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes


def list_unset(person: Person) -> tuple[str, ...]:
    """What a person has never set, in words for the model."""
    names = []
    if person.time_zone is None:
        names.append("time zone")
    if person.language is None:
        names.append("preferred language")
    if person.quiet_from is None:
        names.append("quiet hours")
    return tuple(names)


_log = logging.getLogger(__name__)

_MOST_CONVERSATIONS = 4096
_STORE_PAUSE = 5.0


_UNREAD, _ASIDE = "unread", "aside"
"""Keys beside the names of chats, which are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterDeps:
    """The services that events are handed to."""

    database: Database
    identity: Identity
    rooms: Rooms
    linking: Linking
    questions: Questions
    lanes: Lanes
    attachments: AttachmentStage
    stale_messages: Signal[Sequence[InboxId]]
    """Emitted with messages that have to be routed again."""
    zone_of: Callable[[Person], str]
    """Returns the IANA time zone of a person."""
    wake_jobs: Callable[[], None]
    """Called after a write that may make a job due earlier."""


class InboundRouter:
    """Takes events from all platforms; keeps the order within each chat."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        deps: RouterDeps,
        commands: Sequence[SlashCommand],
        dispatcher: OutboxDispatcher,
        adapters: Mapping[str, ChatAdapter],
        now: Callable[[], int],
    ) -> None:
        self._deps = deps
        self._database = deps.database
        self._commands = {command.spec.name: command for command in commands}
        self._dispatcher = dispatcher
        self._adapters = adapters
        self._now = now
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._workers: Workers[tuple[str, str], Item] = Workers(group, self._serve, self._fail)
        self._unread_repeats = 0
        self._caught_up = asyncio.Event()
        """Set while no event waits to be read that has been read before."""
        self._caught_up.set()
        self._is_open = True
        deps.stale_messages.connect(self._look_again)

    def close(self) -> None:
        """Take nothing more; what platforms hand over stays theirs."""
        self._is_open = False
        self._deps.attachments.close()

    def is_idle(self) -> bool:
        """True while no event is being looked at."""
        return len(self._workers) == 0 and self._deps.attachments.is_idle()

    def inlet(self, platform: str) -> PlatformInlet:
        """Where one platform hands over its events."""
        return PlatformInlet(
            platform=platform,
            database=self._database,
            is_open=lambda: self._is_open,
            taken=self._take,
            noticed=lambda address: self._dispatcher.wake(platform, conversion.name_chat(address)),
            now=self._now,
        )

    def _take(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            self._workers.put((row.platform, _UNREAD), StoredEvent(row=row, is_repeat=False))

    def forget_known(self) -> None:
        """Read people and their talks afresh from the database from now on."""
        self._deps.identity.forget_known()
        self._deps.rooms.forget_known()
        self._deps.lanes.invalidate_conversations()
        self._conversations.clear()

    async def recover(self) -> None:
        """Look at what an earlier process stored and did not get to. Raises `StoreError`."""
        self._read_again(await self._database.read(inbox.list_received))

    def _look_again(self, inbox_ids: Sequence[InboxId]) -> None:
        """Read events afresh whose person has become another one meanwhile."""
        self.forget_known()
        self._workers.put(("", _UNREAD), StaleEvents(inbox_ids=tuple(inbox_ids)))

    def _read_again(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            if row.platform in self._adapters:
                self._unread_repeats += 1
                self._caught_up.clear()
                self._workers.put((row.platform, _UNREAD), StoredEvent(row=row, is_repeat=True))

    def _read(self, unread: StoredEvent) -> None:
        platform = unread.row.platform
        try:
            item = events.parse_event(unread, self._adapters[platform])
        finally:
            self._unread_repeats -= unread.is_repeat
            if not self._unread_repeats:
                self._caught_up.set()
        if isinstance(item, SkippedEvent):
            self._workers.put((platform, _ASIDE), item)
            return
        heard = item.press if isinstance(item, PressEvent) else item.message
        chat = conversion.name_chat(heard.address)
        if isinstance(item, InboundEvent):
            self._dispatcher.wake(platform, chat)
        self._workers.put((platform, chat), item)

    async def _serve(self, chat: tuple[str, str], queue: deque[Item]) -> None:
        item = queue[0]
        if isinstance(item, StoredEvent):
            self._read(item)
            queue.popleft()
            if queue:
                await asyncio.sleep(0)  # a crowd's events are read one by one, and others go on
            return
        try:
            with use_language(_language_of(item)):
                await self._work_on(item)
        except StoreDamaged:
            raise  # waiting would not mend it
        except StoreError as error:
            _log.error("an event of %s waits for the store: %s", chat[0], error)
            await asyncio.sleep(_STORE_PAUSE)
            return
        queue.popleft()

    async def _work_on(self, item: Item) -> None:
        if isinstance(item, InboundEvent):
            await self._look(item)
        elif isinstance(item, PressEvent):
            await self._press(item)
        elif isinstance(item, SkippedEvent):
            await self._set_aside(item)
        elif isinstance(item, StaleEvents):
            ids = item.inbox_ids
            self._read_again(
                await self._database.read(lambda c: inbox.find_received(c, inbox_ids=ids))
            )

    async def _fail(self, chat: tuple[str, str], item: Item, error: Exception) -> None:
        """An unexpected error: the event is set aside, and whom we know is told."""
        outgoing = None
        if isinstance(item, StaleEvents):
            return  # they stand in the database, and are read again at the next start
        if isinstance(item, InboundEvent):
            sender = item.message.sender
            if self._deps.identity.is_known(item.row.platform, sender):
                with use_language(sender.language):
                    outgoing = make_outgoing(item, general.INTERNAL_ERROR())
        while True:
            try:
                await self._set_aside(SkippedEvent(row=item.row, fault=repr(error)), outgoing)
            except StoreDamaged:
                raise  # waiting would not mend it
            except StoreError as store_error:
                _log.error("an event can't be set aside yet: %s", store_error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return

    async def _set_aside(
        self, aside: SkippedEvent, outgoing: NewOutboxMessage | None = None
    ) -> None:
        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            if aside.fault:
                inbox.park(connection, inbox_id=aside.row.id, reason=aside.fault)
            else:
                inbox.finish(connection, inbox_id=aside.row.id, reason="not for us")
            return outbox.enqueue(connection, outgoing, now=now) if outgoing else None

        self._enqueue(await self._database.write("inbox.aside", work))

    async def _look(self, arrival: InboundEvent) -> None:
        row, message = arrival.row, arrival.message
        await self._dispatcher.revive(row.platform, conversion.name_chat(message.address))
        command = _read_command(message)
        if command and command[0] == "claim":
            self._enqueue(
                await self._deps.identity.claim(row.platform, message, row.id, command[1])
            )
            return
        person = await self._deps.identity.identify(row.platform, message.sender)
        if person:
            set_language(person.language, message.sender.language)
        if person is None:
            await self._meet_stranger(row.platform, message, row.id, command)
            return
        talk = await self._deps.rooms.place(row.platform, message, person)
        is_heard = person.is_owner and command and command[0] == "room"
        if talk.is_off and not is_heard:
            await self._set_aside(SkippedEvent(row=row))
            return
        conversation = await self._find_conversation(talk)
        if message.is_edit:
            await self._amend(arrival, conversation)
            return
        if command:
            await self._obey(arrival, person, (talk, conversation), command)
            return
        reaction = _reaction(row, message, person)
        if events.is_plain_text(message) and await self._deps.questions.hear(
            reaction, message.text
        ):
            self.forget_known()  # the answer may have made two people one
            return
        complaint = events.find_fault(message)
        if complaint:
            await self._finish(arrival, complaint)
            return
        unasked = await self._ask_once(person, message)
        if arrival.is_repeat:
            await self._caught_up.wait()  # edits of what nobody saw yet may stand behind it
        waiting = self._workers.waiting((row.platform, conversion.name_chat(message.address)))
        message, inbox_ids = events.merge_edits(arrival, waiting)
        pending = QueuedMessage(
            inbox_ids=tuple(inbox_ids),
            platform=row.platform,
            message=message,
            person=person,
            conversation=conversation,
            room_id=talk.room.id if talk.room else None,
            unasked=unasked,
            is_repeat=arrival.is_repeat,
        )
        self._deps.attachments.put(pending, is_repeat=arrival.is_repeat)

    async def _ask_once(self, person: Person, message: InboundMessage) -> tuple[str, ...]:
        """What the model is to ask this person for, the one time that it is told to."""
        unasked = list_unset(person)
        is_known = person.asked_at is not None or not unasked
        if is_known or not (message.address.is_direct and message.text):
            return ()
        now = self._now()
        await self._database.write(
            "people.asked", lambda c: people.note_asked(c, person_id=person.id, now=now)
        )
        self._deps.identity.renew(replace(person, asked_at=now))
        return unasked

    async def _meet_stranger(
        self,
        platform: str,
        message: InboundMessage,
        inbox_id: InboxId,
        command: tuple[str, str] | None,
    ) -> None:
        """Somebody who may not talk, unless it is a code that they bring."""
        if command and command[0] == "link" and command[1]:
            rows = await self._deps.linking.handle_stranger(platform, message, inbox_id, command[1])
            self._dispatcher.enqueue(rows)
        else:
            self._enqueue(await self._deps.identity.handle_stranger(platform, message, inbox_id))

    async def _press(self, pressed: PressEvent) -> None:
        """A button: one of a question, or one that stands for a command."""
        row, press = pressed.row, pressed.press
        await self._dispatcher.revive(row.platform, conversion.name_chat(press.address))
        person = await self._deps.identity.identify(row.platform, press.sender)
        if person:
            set_language(person.language, press.sender.language)
        words = composer.read_command(press.key)
        if person is None:
            await self._set_aside(SkippedEvent(row=row))
        elif words is None:
            await self._deps.questions.press(_reaction(row, press, person), press.key)
            self.forget_known()  # as above
        else:
            message = InboundMessage(
                address=press.address,
                message_id=press.message_id,
                sender=press.sender,
                text=words,
                is_addressed=True,
                sent_at=press.sent_at,
            )
            await self._look(InboundEvent(row=row, message=message, is_repeat=False, is_press=True))

    async def _amend(self, arrival: InboundEvent, conversation: Conversation) -> None:
        """Put an edited message's words in the place of those that still wait."""
        row, message = arrival.row, arrival.message
        command = parse(message.text)
        if command and command[0] == "queue":
            message = replace(message, text=command[1])
        rooms = (self._deps.attachments, self._deps.lanes)
        found = (room.find_waiting(conversation.id, row.platform, message) for room in rooms)
        pending = next((one for one in found if one), None)
        complaint = events.find_fault(message)
        if pending is None:
            await self._finish(arrival, "")
        elif complaint:
            await self._finish(arrival, complaint)
        else:
            pending.amend(message.text, row.id)

    async def _find_conversation(self, talk: RoomConversation) -> Conversation:
        known = self._conversations.get(talk.key)
        if known is None:
            now = self._now()
            known = await self._database.write(
                "conversations.ensure",
                lambda c: sessions.ensure_conversation(
                    c,
                    key=talk.key,
                    person_id=talk.owner_id,
                    is_direct=talk.is_direct,
                    room_id=talk.room_id_of,
                    now=now,
                ),
            )
            self._conversations[talk.key] = known
            if len(self._conversations) > _MOST_CONVERSATIONS:
                self._conversations.popitem(last=False)
        return known

    async def _obey(
        self,
        arrival: InboundEvent,
        person: Person,
        where: tuple[RoomConversation, Conversation],
        words: tuple[str, str],
    ) -> None:
        name, argument = words
        talk, conversation = where
        command = self._commands.get(name)
        if command is None:
            await self._finish(arrival, general.UNKNOWN_COMMAND(name=name))
            return
        if command.spec.owner_only and not person.is_owner:
            await self._finish(arrival, general.OWNER_ONLY())
            return
        call = Call(
            argument=argument,
            platform=arrival.row.platform,
            message=arrival.message,
            inbox_id=arrival.row.id,
            person=person,
            conversation=conversation,
            room=talk.room,
            zone=self._deps.zone_of(person),
            now=self._now(),
            is_repeat=arrival.is_repeat,
            is_press=arrival.is_press,
        )
        await self._reply(arrival, await command.run(call))

    async def _reply(self, arrival: InboundEvent, reply: Reply) -> None:
        split = partial(self._dispatcher.split, arrival.row.platform)
        self._dispatcher.enqueue(
            await self._database.write(
                "commands.apply", lambda c: write_reply(c, arrival, reply, split, self._now())
            )
        )
        if reply.effect:
            self.forget_known()
            self._deps.wake_jobs()  # it may have made something due earlier
        if reply.pending:
            # After that: a store that refuses leaves nothing behind that would be done again.
            self._deps.attachments.put(reply.pending, is_repeat=arrival.is_repeat)

    async def _finish(self, arrival: InboundEvent, text: str) -> None:
        await self._reply(arrival, Reply(text=text))

    def _enqueue(self, row: OutboxRow | None) -> None:
        if row:
            self._dispatcher.enqueue([row])


def _reaction(row: InboxRow, heard: InboundMessage | ButtonPress, person: Person) -> Reaction:
    return Reaction(inbox_id=row.id, platform=row.platform, address=heard.address, person=person)


def _read_command(message: InboundMessage) -> tuple[str, str] | None:
    """The command that a message is: its sender's own, and no edit of what was said before.

    But a code that is passed on in a room is spoiled like any other that is shown there.
    """
    command = None if message.is_edit else parse(message.text)
    if command is None or message.forwarded_from is None:
        return command
    is_shown = command[0] in ("claim", "link") and not message.address.is_direct
    return command if is_shown else None


def _language_of(item: Item) -> str | None:
    """Return the language of a sender's app, until their own setting is known."""
    if isinstance(item, InboundEvent):
        return item.message.sender.language
    return item.press.sender.language if isinstance(item, PressEvent) else None
