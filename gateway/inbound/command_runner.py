"""Run slash commands: write a command's effect, its reply, and the end of its event."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from agent_core.ids import PersonId
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.own_words.wishes import asks_for_change
from gateway.chats import make_chat
from gateway.commands.catalog import OWN_NAMES, read_plain_name, suggest_command
from gateway.commands.registry import Call, Outcome, Reply, SlashCommand
from gateway.errors import Declined
from gateway.inbound.events import InboundEvent
from gateway.outbound.command_buttons import read_command
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.onboarding import Onboarding
from gateway.people.rooms import RoomConversation
from gateway.texts import general, rooms
from gateway.turns.attachment_stage import AttachmentStage

Split = Callable[[str], tuple[str, ...]]
"""Splits a text into as many messages as the platform needs."""


class CommandRunner:
    """Runs slash commands, and writes what they reply."""

    def __init__(
        self,
        *,
        database: Database,
        commands: Sequence[SlashCommand],
        find_command: Callable[[str, PersonId | None], Awaitable[SlashCommand | None]],
        onboarding: Onboarding,
        attachments: AttachmentStage,
        dispatcher: OutboxDispatcher,
        zone_of: Callable[[Person], str],
        forget_known: Callable[[], None],
        wake: Callable[[], None],
        now: Callable[[], int],
    ) -> None:
        """`commands` are the fixed ones.

        `find_command` returns one that comes and goes: the prompt of an MCP server, or a skill.
        Without a person, it finds no prompts that only one person's account sees. `forget_known`
        drops the caches that a command may outdate: people, rooms, conversations.
        """
        self._database = database
        self._commands = {command.spec.name: command for command in commands}
        self._find_command = find_command
        self._onboarding = onboarding
        self._attachments = attachments
        self._dispatcher = dispatcher
        self._zone_of = zone_of
        self._forget_known = forget_known
        self._wake = wake
        self._now = now

    async def recognize(self, arrived: InboundEvent) -> InboundEvent:
        """Put a slash before the command of a command line that was written without one.

        Phones begin a line with a capital letter, so "Status" is a command. "Export my data" may be
        a question, so a capital letter before more words is not.
        """
        message = arrived.message
        words = message.text.split() or [""]
        name = words[0] if len(words) > 1 else words[0].lower()
        if name in OWN_NAMES or await self._find_command(name, None):
            return replace(arrived, message=replace(message, text=f"/{message.text}"))
        return arrived

    async def run(
        self,
        arrived: InboundEvent,
        person: Person,
        where: tuple[RoomConversation, Conversation],
        words: tuple[str, str],
    ) -> None:
        """Run the command of these words, and reply. Raises `StoreError`."""
        name, argument = words
        room_conversation, conversation = where
        command = self._commands.get(name) or await self._find_command(name, person.id)
        if command is None:
            plain, argument = read_plain_name(name, argument)
            command = self._commands.get(plain)
        is_wish = command is None and asks_for_change(f"{name} {argument}")
        if command is None and not is_wish:
            await self._reply(arrived, suggest_command(name, argument, person))
            return
        if command and command.spec.owner_only and not person.is_owner:
            await self.finish(arrived, general.OWNER_ONLY())
            return
        if person.asked_at is None:
            person = await self._onboarding.learn(person, arrived.message.sender, self._now())
        call = Call(
            argument=argument,
            platform=arrived.row.platform,
            message=arrived.message,
            inbox_id=arrived.row.id,
            person=person,
            conversation=conversation,
            room=room_conversation.room,
            zone=self._zone_of(person),
            now=self._now(),
            is_repeat=arrived.row.is_repeat,
            is_press=arrived.is_press,
        )
        if command is None:  # "/remind me at 9 to test"
            wish = arrived.message.text.lstrip().removeprefix("/")
            await self._reply(arrived, Reply(pending=call.as_message(wish)))
            return
        try:
            reply = await command.run(call)
        except Declined as error:
            reply = Reply(text=str(error), is_refusal=True)
        note = partial(_note_refusal, call, name)
        await self._reply(arrived, note(reply), note)

    async def press(self, call: Call, name: str) -> str:
        """Run a command for a button of a page, and return its text, which enters no chat.

        Raises `Declined` and `StoreError`.
        """
        reply = await self._commands[name].run(call)

        def work(connection: Connection) -> tuple[str, Sequence[OutboxRow]]:
            text, rows, _ = reply.apply(connection)
            return text, rows

        text, rows = await self._database.write("commands.press", work)
        self._dispatcher.enqueue(rows)
        self._forget_known()
        self._wake()
        return text

    async def finish(self, arrived: InboundEvent, text: str) -> None:
        """End an event with a text; "" for none. Raises `StoreError`."""
        await self._reply(arrived, Reply(text=text))

    async def _reply(
        self,
        arrived: InboundEvent,
        reply: Reply,
        note: Callable[[Reply], Reply] = lambda reply: reply,
    ) -> None:
        """Write a reply; `note` adds to one that an effect declined what `/undo` has to know."""
        try:
            rows = await self._write(arrived, reply)
        except Declined as error:  # the operation wrote nothing: its transaction was rolled back
            reply = note(Reply(text=str(error), is_refusal=True))
            rows = await self._write(arrived, reply)
        self._dispatcher.enqueue(rows)
        if reply.effect:
            self._forget_known()
            self._wake()
        if reply.pending:
            # Last, because a refused transaction is tried again, and nothing may be queued twice.
            self._attachments.put(reply.pending)

    async def _write(self, arrived: InboundEvent, reply: Reply) -> list[OutboxRow]:
        split = partial(self._dispatcher.split, arrived.row.platform)
        return await self._database.write(
            "commands.apply", write_reply, arrived, reply, split, self._now()
        )


def _note_refusal(call: Call, name: str, reply: Reply) -> Reply:
    """Return a reply that notes for `/undo` that the command changed nothing, if it should have."""
    if not reply.is_refusal or name == "undo":
        return reply

    def effect(connection: Connection) -> Outcome:
        call.note_fixed(connection, f"/{name}")  # no words, which `/forget` would have to find
        return reply.text, ()

    return replace(reply, effect=effect)


def write_reply(
    connection: Connection, arrived: InboundEvent, reply: Reply, split: Split, now: int
) -> list[OutboxRow]:
    """Apply a command's effect and enqueue its reply, in the caller's transaction."""
    text, rows, buttons = reply.apply(connection)
    messages = list(rows)
    if not text and arrived.message.reply_address and not arrived.row.is_repeat:
        # The platform shows that an answer is due until one comes.
        text = general.COMMAND_TAKEN() if reply.pending or rows else general.COMMAND_DONE()
    if text:
        messages += _enqueue_reply(connection, arrived, split(text), buttons, now)
    if reply.pending is None:
        inbox.finish(connection, inbox_id=arrived.row.id, reason="command")
    return messages


def make_outgoing(arrived: InboundEvent, text: str) -> NewOutboxMessage:
    """Make an answer to a message: in its chat, or in the reply that only its sender sees."""
    address = arrived.message.reply_address or arrived.message.address
    return NewOutboxMessage(
        chat=make_chat(arrived.row.platform, address),
        body=text,
        answers=arrived.message.message_id,
    )


def make_silence_note(arrived: InboundEvent) -> NewOutboxMessage | None:
    """Make the reply to a slash command in a silent room; other messages get none."""
    is_due = arrived.message.reply_address is not None
    return make_outgoing(arrived, rooms.SILENT_HERE()) if is_due else None


def _enqueue_reply(
    connection: Connection,
    arrived: InboundEvent,
    parts: tuple[str, ...],
    choices: tuple[Choice, ...],
    now: int,
) -> list[OutboxRow]:
    """Enqueue a command's reply, with its buttons below the last part.

    The reply to a button replaces the message with the button, unless that is the answer of a turn,
    which others may still want to read. A press can be forged, so a message without such a button
    stays.
    """
    message, platform = arrived.message, arrived.row.platform
    asker = people.find_by_account(connection, platform=platform, user_id=message.sender.user_id)
    whole = replace(make_outgoing(arrived, ""), person_id=asker.id if asker else None)
    pressed = arrived.is_press and outbox.find_message(
        connection, platform=platform, chat=whole.chat.address, message_id=message.message_id
    )
    rows = []
    for number, part in enumerate(parts):
        buttons = choices if number == len(parts) - 1 else ()
        outgoing = replace(whole, body=part, part=number, buttons=buttons, is_silent=number > 0)
        if number == 0 and pressed and _is_replaced_by(pressed, message.text):
            rows.append(outbox.revise(connection, outbox_id=pressed.id, body=part, buttons=buttons))
        else:
            rows.append(outbox.enqueue(connection, outgoing, now=now))
    return rows


def _is_replaced_by(row: OutboxRow, words: str) -> bool:
    return row.turn_id is None and any(read_command(one.key) == words for one in row.buttons)
