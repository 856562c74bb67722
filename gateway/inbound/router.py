"""Route each inbound event: to a command, a question, a lane, or nowhere."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from adapters.abilities import CanAsk
from adapters.contract import ChatAdapter
from adapters.ids import Address, PlatformMessageId
from adapters.messages import ButtonPress, InboundMessage
from agent_core.errors import StoreDamaged
from agent_core.ids import InboxId
from agent_core.localization import set_language, use_language
from agent_core.state.conversations import questions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.inbox import InboxRow
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.background.disappearing import note
from gateway.chats import QueueKey, make_chat, name_chat, name_queue
from gateway.fairness import Workers
from gateway.inbound import events
from gateway.inbound.command_runner import CommandRunner, make_outgoing, make_silence_note
from gateway.inbound.events import (
    CODE_COMMANDS,
    InboundEvent,
    Item,
    MoveEvent,
    Parsed,
    PlatformInlet,
    PressEvent,
    ReactionEvent,
    ReportEvent,
    SkippedEvent,
    StaleEvents,
    language_of,
    make_reaction,
    split_command,
)
from gateway.inbound.known_conversations import KnownConversations
from gateway.inbound.quotes import judge_quote
from gateway.inbound.reactions import take_reaction
from gateway.outbound.command_buttons import read_bare_answer, read_command, read_label
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.people.admission import AccountRef
from gateway.people.identity import Identity
from gateway.people.linking import Linking
from gateway.people.onboarding import START, Introduction, Onboarding
from gateway.people.room_consent import RoomConsent
from gateway.people.rooms import RoomConversation, Rooms
from gateway.queued_message import QueuedMessage
from gateway.texts import general
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes

_log = logging.getLogger(__name__)

_EDITED = "This is the new text of their message above, which they edited"
_NO_CHAT = ""
"""The queue of what happened in no chat."""


class InboundRouter:
    """Routes the events of all platforms, in order within each chat."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        identity: Identity,
        linking: Linking,
        onboarding: Onboarding,
        rooms: Rooms,
        consent: RoomConsent,
        conversations: KnownConversations,
        commands: CommandRunner,
        questions: Questions,
        attachments: AttachmentStage,
        lanes: Lanes,
        dispatcher: OutboxDispatcher,
        adapters: Mapping[str, ChatAdapter],
        hear: Callable[[QueuedMessage], Awaitable[None]],
        prepare_model: Callable[[], None],
        forget_known: Callable[[], None],
        now: Callable[[], int],
    ) -> None:
        """`hear` starts the jobs that wait for a message; it may raise `StoreError`.

        `prepare_model` loads in the background what the first model call needs; it is called when
        a call is likely. `forget_known` drops cached people, rooms and conversations.
        """
        self._database = database
        self._identity = identity
        self._linking = linking
        self._onboarding = onboarding
        self._rooms = rooms
        self._consent = consent
        self._conversations = conversations
        self._commands = commands
        self._questions = questions
        self._attachments = attachments
        self._lanes = lanes
        self._dispatcher = dispatcher
        self._adapters = adapters
        self._hear = hear
        self._prepare_model = prepare_model
        self._forget_known = forget_known
        self._now = now
        self._unparsed: Workers[str, InboxRow] = Workers(group, self._parse, self._fail)
        """The events of each platform, until it is known in which chat they happened."""
        self._workers: Workers[QueueKey, Item] = Workers(group, self._serve, self._fail)
        """The events of each chat."""
        self._unparsed_repeats = 0
        self._caught_up = asyncio.Event()
        """Set while no event of an earlier process waits to be parsed."""
        self._caught_up.set()
        self._is_open = True

    def close(self) -> None:
        """Accept no more events; platforms keep those that they offer."""
        self._is_open = False
        self._attachments.close()

    def is_idle(self) -> bool:
        """Return whether no event is being routed."""
        is_busy = len(self._unparsed) or len(self._workers)
        return not is_busy and self._attachments.is_idle()

    def inlet(self, platform: str) -> PlatformInlet:
        """Make the inlet of one platform."""
        return PlatformInlet(
            platform=platform,
            database=self._database,
            is_open=lambda: self._is_open,
            taken=self._take,
            notice=lambda address: self._notice(platform, address),
            now=self._now,
        )

    def _take(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            self._unparsed.put(row.platform, row)

    def _notice(self, platform: str, address: Address) -> None:
        self._prepare_model()
        self._dispatcher.wake(make_chat(platform, address))

    async def recover(self) -> None:
        """Route the events that an earlier process stored. Raises `StoreError`."""
        self._parse_again(await self._database.read(inbox.list_received))

    def route_again(self, inbox_ids: Sequence[InboxId]) -> None:
        """Route events again because their person has changed."""
        self._forget_known()
        self._workers.put(("", _NO_CHAT), StaleEvents(inbox_ids=tuple(inbox_ids)))

    def _parse_again(self, rows: Sequence[InboxRow]) -> None:
        for row in rows:
            if row.platform in self._adapters:
                self._unparsed_repeats += 1
                self._caught_up.clear()
                self._unparsed.put(row.platform, replace(row, is_repeat=True))

    async def _parse(self, platform: str, queue: deque[InboxRow]) -> None:
        self._put(platform, queue[0])
        queue.popleft()
        if queue:
            await asyncio.sleep(0)  # let other work run between the events of a burst

    def _put(self, platform: str, row: InboxRow) -> None:
        """Parse an event, and queue it in its chat."""
        try:
            item = events.parse_event(row, self._adapters[platform])
        finally:
            self._unparsed_repeats -= row.is_repeat
            if not self._unparsed_repeats:
                self._caught_up.set()
        if shown := events.find_presence(item):
            self._rooms.notice(platform, shown)
        if isinstance(item, SkippedEvent | ReportEvent):
            self._workers.put((platform, _NO_CHAT), item)
            return
        address = events.find_address(item)
        if isinstance(item, InboundEvent):
            self._dispatcher.wake(make_chat(platform, address))
        self._workers.put((platform, name_queue(address)), item)

    async def _serve(self, key: QueueKey, queue: deque[Item]) -> None:
        item = queue[0]
        subject = f"an event of {key[0]}"
        with use_language(language_of(item)):
            await self._database.retry_while_unavailable(lambda: self._route(item), subject)
        queue.popleft()

    async def _route(self, item: Parsed | StaleEvents) -> None:
        if isinstance(item, StaleEvents):
            ids = item.inbox_ids
            self._parse_again(await self._database.read(inbox.find_received, inbox_ids=ids))
            return
        if shown := events.find_presence(item):  # write this before the event is finished
            await self._rooms.record_presence(item.row.platform, shown.address)
        if isinstance(item, InboundEvent) and item.message.is_anonymous:
            await self._answer_anonymous(item)
        elif isinstance(item, InboundEvent):
            if item.message.is_command_line:
                item = await self._commands.recognize(item)
            await self._route_message(await self._read_written_press(item))
        elif isinstance(item, PressEvent):
            await self._press(item)
        elif isinstance(item, ReactionEvent):
            await take_reaction(self._database, item, self._now())
        elif isinstance(item, ReportEvent):
            await self._dispatcher.take_report(item.row.platform, item.report)
            await self._skip(SkippedEvent(row=item.row))
        elif isinstance(item, MoveEvent):
            move = item.move
            await self._dispatcher.follow(item.row.platform, move.old_chat_id, move.new_chat_id)
            await self._skip(SkippedEvent(row=item.row))
        else:
            await self._skip(item)

    async def _fail(self, _: object, item: InboxRow | Item, error: Exception) -> None:
        """Park an event after an unexpected error, and report it to a known sender.

        Without a sender to tell, damage of the store leaves it for the next start.
        """
        outgoing = None
        if isinstance(item, StaleEvents):
            return  # the next start reads them from the database
        if isinstance(item, InboundEvent):
            sender = item.message.sender
            if self._identity.is_known(item.row.platform, sender):
                with use_language(sender.language):
                    outgoing = make_outgoing(item, general.INTERNAL_ERROR())
        if outgoing is None and isinstance(error, StoreDamaged):
            return
        row = item if isinstance(item, InboxRow) else item.row
        parked = SkippedEvent(row=row, fault=repr(error))
        await self._database.retry_while_unavailable(
            lambda: self._skip(parked, outgoing), "an event that can't be routed"
        )

    async def _skip(self, event: SkippedEvent, outgoing: NewOutboxMessage | None = None) -> None:
        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            if event.fault:
                inbox.park(connection, inbox_id=event.row.id, reason=event.fault)
            else:
                inbox.finish(connection, inbox_id=event.row.id, reason="not for us")
                inbox.drop_payload(connection, inbox_id=event.row.id)
            return outbox.enqueue(connection, outgoing, now=now) if outgoing else None

        self._enqueue(await self._database.write("inbox.aside", work))

    async def _redeem(self, arrived: InboundEvent, command: tuple[str, str]) -> None:
        """Take a code that makes an owner, or that lets somebody in."""
        self._prepare_model()
        row = arrived.row
        self._enqueue(await self._identity.redeem(row.platform, arrived.message, row.id, command))

    async def _route_message(self, arrived: InboundEvent) -> None:
        row, message = arrived.row, arrived.message
        await self._dispatcher.revive(make_chat(row.platform, message.address))
        command = split_command(message)
        if command and command[0] in CODE_COMMANDS:
            await self._redeem(arrived, command)
            return
        person = await self._identity.identify(row.platform, message.sender)
        if person is None:
            await self._meet_stranger(row, message, command)
            return
        await self._choose_language(row.platform, message, person, is_press=arrived.is_press)
        if message.expires_in:
            await self._database.write("disappearing.note", note, row, message, self._now())
        room_conversation = await self._rooms.place(row.platform, message, person)
        is_heard = person.is_owner and command and command[0] == "room"
        if room_conversation.is_off and not is_heard:
            await self._skip(SkippedEvent(row=row), make_silence_note(arrived))
            return
        if message.quote:
            message = await judge_quote(self._database, row.platform, message, room_conversation)
            arrived = replace(arrived, message=message)
        conversation = await self._conversations.find(room_conversation)
        if message.is_edit:
            await self._apply_edit(arrived, person, room_conversation, conversation)
            return
        is_new = events.is_newcomer(person, message, self._now())
        if is_new and not command and await self._onboarding.hears(person, message):
            command = (START, message.text)
        if not command and await self._answers_question(arrived, person):
            return
        command = command or await self._find_said_command(arrived, person)
        if command:
            await self._commands.run(arrived, person, (room_conversation, conversation), command)
            return
        if fault := events.find_fault(message):
            await self._commands.finish(arrived, fault)
            return
        if room_conversation.room and not room_conversation.is_direct:
            await self._consent.offer(row.platform, message, person)
        met = await self._meet(person, arrived) if is_new else Introduction(person=person)
        if row.is_repeat:
            await self._caught_up.wait()  # edits of the message may be among them
        waiting = self._workers.waiting((row.platform, name_queue(message.address)))
        message, inbox_ids = events.merge_edits(arrived, waiting)
        pending = QueuedMessage(
            inbox_ids=tuple(inbox_ids),
            platform=row.platform,
            message=message,
            person=met.person,
            conversation=conversation,
            room_id=room_conversation.room.id if room_conversation.room else None,
            room_name=room_conversation.room.name if room_conversation.room else None,
            starts_own_turn=message.is_program,
            unasked=met.unasked,
            note=met.note,
            is_repeat=row.is_repeat,
        )
        await self._hear(pending)
        self._attachments.put(pending)

    async def _answer_anonymous(self, arrived: InboundEvent) -> None:
        """Say at times why a message in the name of a group or channel gets no answer."""
        is_said = await self._rooms.explains_anonymity(
            arrived.row.platform, arrived.message.address
        )
        outgoing = make_outgoing(arrived, general.ANONYMOUS()) if is_said else None
        await self._skip(SkippedEvent(row=arrived.row), outgoing)

    async def _answers_question(self, arrived: InboundEvent, person: Person) -> bool:
        """Return whether a message was taken as the answer to a question.

        A no to a command's question is, if no button says it; a yes is the command of its button.
        """
        row, message = arrived.row, arrived.message
        is_answer = events.is_plain_text(message) and await self._questions.hear(
            make_reaction(row, message, person), message.text
        )
        if is_answer:
            self._forget_known()  # the answer may have merged two people
        elif await self._read_bare_answer(arrived, person) == "":
            await self._commands.finish(arrived, general.CHANGED_NOTHING())
            return True
        return is_answer

    async def _find_said_command(
        self, arrived: InboundEvent, person: Person
    ) -> tuple[str, str] | None:
        """Return the command that plain words mean, or that they answer a question with."""
        if answer := await self._read_bare_answer(arrived, person):
            return events.parse_command(answer)
        return events.find_said_command(arrived.message)

    async def _read_bare_answer(self, arrived: InboundEvent, person: Person) -> str | None:
        """Return the command that a yes or a no stands for below a command's question to a person.

        "" is a no that needs no command; None answers no such question. The question is the newest
        message of the chat, or the one that is answered, and no turn waits for an answer there.
        """
        row, message = arrived.row, arrived.message
        is_yes = general.read_yes_or_no(message.text)
        if is_yes is None or not events.is_plain_text(message):
            return None
        chat, quoted = make_chat(row.platform, message.address), events.find_quoted(message)
        shown = await self._database.read(outbox.find_shown, chat=chat, message_id=quoted)
        if shown is None or shown.person_id != person.id:
            return None
        awaited = await self._database.read(questions.list_awaited, person_id=person.id)
        if any(one.chat == chat for one in awaited):
            return None
        return read_bare_answer(shown.buttons, is_yes=is_yes)

    async def _read_written_press(self, arrived: InboundEvent) -> InboundEvent:
        """Take the words of a button for a press where none can be shown.

        The button belongs to the message that is answered, or to the newest one.
        """
        row, message = arrived.row, arrived.message
        adapter = self._dispatcher.adapters.get(row.platform)
        is_plain = events.is_plain_text(message) and not message.is_edit
        if adapter is None or isinstance(adapter, CanAsk) or not is_plain:
            return arrived
        chat, quoted = make_chat(row.platform, message.address), message.quote
        shown = await self._database.read(
            outbox.find_shown, chat=chat, message_id=quoted.message_id if quoted else None
        )
        words = read_label(message.text, shown.buttons) if shown else None
        if shown is None or words is None:
            return arrived
        message_id = PlatformMessageId(shown.message_id or "")
        pressed = replace(message, message_id=message_id, text=words, quote=None)
        return replace(arrived, message=pressed, is_press=True)

    async def _meet(self, person: Person, arrived: InboundEvent) -> Introduction:
        """Greet a newcomer, and store what the platform knows of them."""
        platform, message = arrived.row.platform, arrived.message
        met = await self._onboarding.meet(person, platform, message, self._now())
        self._dispatcher.enqueue(met.rows)
        return met

    async def _meet_stranger(
        self, row: InboxRow, message: InboundMessage, command: tuple[str, str] | None
    ) -> None:
        """Answer a stranger: redeem a code, otherwise explain how to get access."""
        platform, inbox_id = row.platform, row.id
        if AccountRef(platform=platform, sender=message.sender).is_person:
            await self._skip(SkippedEvent(row=row))  # their token or login ends with their access
        elif command and command[0] == "link" and command[1]:
            rows = await self._linking.handle_stranger(platform, message, inbox_id, command[1])
            self._dispatcher.enqueue(rows)
        else:
            rows = await self._identity.handle_stranger(platform, message, inbox_id)
            self._dispatcher.enqueue(rows)

    async def _press(self, pressed: PressEvent) -> None:
        """Route the press of a button: of a question, or of a command."""
        row, press = pressed.row, pressed.press
        await self._dispatcher.revive(make_chat(row.platform, press.address))
        # Whoever was erased stays unknown when they press an old button.
        is_open = await self._questions.is_open(press.key)
        person = await self._identity.identify(row.platform, press.sender, may_enter=is_open)
        if person:
            await self._choose_language(row.platform, press, person, is_press=True)
        words = read_command(press.key)
        if person is None:
            await self._skip(SkippedEvent(row=row))
        elif words is None:
            await self._questions.press(make_reaction(row, press, person), press.key)
            self._forget_known()  # the answer may have merged two people
        else:
            message = InboundMessage(
                address=press.address,
                message_id=press.message_id,
                sender=press.sender,
                text=words,
                is_addressed=True,
                sent_at=press.sent_at,
            )
            row = replace(row, is_repeat=False)  # the reply to a press is sent again
            await self._route_message(InboundEvent(row=row, message=message, is_press=True))

    async def _choose_language(
        self, platform: str, said: InboundMessage | ButtonPress, person: Person, *, is_press: bool
    ) -> None:
        """Speak the person's language; below a message of a group, that of whom it was sent to."""
        first: Person | None = None
        if is_press and not said.address.is_direct:
            find = partial(_find_first_reader, platform, said.address, said.message_id)
            first = await self._database.read(find)
        reader = first or person
        # An app's language is known of the sender only.
        set_language(reader.language, said.sender.language if reader.id == person.id else None)

    async def _apply_edit(
        self,
        arrived: InboundEvent,
        person: Person,
        room_conversation: RoomConversation,
        conversation: Conversation,
    ) -> None:
        """Replace the text of a message that still waits, or steer its turn that waits."""
        row, message = arrived.row, arrived.message
        command = events.parse_command(message.text)
        if command and command[0] == "queue":
            message = replace(message, text=command[1])
        stages = (self._attachments, self._lanes)
        found = (stage.find_waiting(conversation.id, row.platform, message) for stage in stages)
        pending = next((one for one in found if one), None)
        fault = events.find_fault(message)
        if pending is None and not self._lanes.may_steer_by_edit(
            conversation.id, row.platform, message, person
        ):
            await self._commands.finish(arrived, "")
        elif fault:
            await self._commands.finish(arrived, fault)
        elif pending:
            pending.amend(message.text, row.id)
        else:
            self._lanes.put(
                QueuedMessage(
                    inbox_ids=(row.id,),
                    platform=row.platform,
                    message=replace(message, attachments=()),
                    person=person,
                    conversation=conversation,
                    room_id=room_conversation.room.id if room_conversation.room else None,
                    is_steer=True,
                    note=_EDITED,
                )
            )

    def _enqueue(self, row: OutboxRow | None) -> None:
        if row:
            self._dispatcher.enqueue([row])


def _find_first_reader(
    platform: str, address: Address, message_id: str, connection: Connection
) -> Person | None:
    """Return the person whom a message was sent to, if it is known."""
    chat = name_chat(address)
    sent = outbox.find_message(connection, platform=platform, chat=chat, message_id=message_id)
    whose = sent.person_id if sent else None
    return people.find(connection, person_id=whose) if whose else None
