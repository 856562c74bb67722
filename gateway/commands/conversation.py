"""Commands for conversations and the running turn.

The commands new, stop, here, queue, steer, btw, retry and status are about the turn. The commands
sessions, resume, title and branch go back to earlier messages.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from agent_core.chats import Place
from agent_core.ids import SessionId
from agent_core.memory.external.client import ExternalMemory
from agent_core.state.conversations import (
    messages,
    past_sessions,
    questions,
    session_list,
    sessions,
    turns,
    usage,
)
from agent_core.state.conversations.past_sessions import NumberedSession
from agent_core.state.conversations.questions import Question
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.conversations.usage import QuotaUsage, Total
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import dead_letters
from agent_core.transcript import flatten
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.conversation_keys import name_aside
from gateway.errors import Declined
from gateway.operations import sessions as operations
from gateway.operations.sessions import LONGEST_TITLE
from gateway.outbound.command_buttons import stand_for
from gateway.people.admission import LOCAL_PLATFORM
from gateway.people.owner_notices import is_out_of_reach
from gateway.texts import general, memory, people
from gateway.texts import usage as usage_texts
from gateway.texts.usage import SessionLine
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.lanes import Lanes

_DAY = 86_400_000
_LISTED = 10
_MOST_LISTED = 100
_BUTTONED = 5
_LONGEST_QUOTED = 120
"""Characters of a question in the status."""
_ASIDE_NOTE = (
    "This is a side question. Answer it briefly. Neither it nor the answer becomes part of the"
    " conversation, and another answer may be in progress there."
)
"""A fact that the model reads before a side question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """Describes what is going on in a conversation; `platforms` are the enabled ones."""

    database: Database
    lanes: Lanes
    external: ExternalMemory | None
    model: str
    platforms: Collection[str]

    async def _describe_external(self) -> str:
        if self.external is None:
            return ""
        return memory.describe_external(await self.external.report())

    async def describe(self, call: Call) -> str:
        """Return the status text. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[Session | None, int, Total, QuotaUsage, int, list[Question], bool]:
            session = sessions.find_open(connection, conversation_id=call.conversation.id)
            said = (
                messages.count_spoken(
                    connection, session_id=session.id, person_id=call.conversation.person_id
                )
                if session
                else 0
            )
            own, since = call.person.id, call.now - _DAY
            return (
                session,
                said,
                usage.total_since(connection, person_id=own, since=since),
                usage.charged_since(connection, person_id=own, since=since, until=call.now + 1),
                dead_letters.count_dead_of(connection, person_id=own),
                questions.list_awaited(connection, person_id=own),
                _is_unreached(connection, call, self.platforms),
            )

        session, said, total, charged, dead, asked, is_unreached = await self.database.read(look)
        status = general.Status(
            model=self.model,
            title=session.title if session else "",
            messages=said,
            is_running=self.lanes.is_running(call.conversation.id),
            waiting=self.lanes.count_waiting(call.conversation.id),
            input_tokens=total.input_tokens,
            cache_read_tokens=total.cache_read_tokens,
            output_tokens=total.output_tokens,
            cost=usage_texts.describe_charged(charged),
            undelivered=dead,
            memory=await self._describe_external(),
            asked=flatten(asked[0].text, _LONGEST_QUOTED) if asked else "",
        )
        text = general.describe_status(status)
        return f"{text}\n{people.NOTICES_UNSEEN()}" if is_unreached else text


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCommands:
    """Controls the current conversation and its turn."""

    database: Database
    lanes: Lanes
    attachments: AttachmentStage
    report: StatusReport

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {
            "new": self._new,
            "stop": self._stop,
            "here": self._here,
            "queue": self._queue,
            "steer": self._steer,
            "btw": self._btw,
            "retry": self._retry,
            "status": self._status,
        }

    async def _new(self, call: Call) -> Reply:
        operations.stop_turn(self.lanes, call.conversation.id, call.person)

        def effect(connection: Connection) -> Outcome:
            operations.begin(connection, call.conversation.id, call.now)
            return general.CONVERSATION_STARTED(), []

        return Reply(effect=effect)

    async def _stop(self, call: Call) -> Reply:
        if not self.lanes.may_stop(call.conversation.id, call.person):
            return Reply(text=general.STOP_NOT_YOURS())
        place = call.chat
        answered = self.lanes.place_of(call.conversation.id)
        is_stopped = self.lanes.stop(call.conversation.id)
        if is_stopped and answered and answered.chat != place:
            return Reply(text=general.describe_stop_elsewhere(answered.chat.platform))
        if call.person.is_owner and not call.message.address.is_direct:
            is_stopped = self.lanes.stop_at(place) or is_stopped
        is_stopped = self.lanes.stop_asides(call.person, place) or is_stopped
        if is_stopped:
            return Reply()
        # Nothing runs, but the message may still wait for its attachments to be read.
        is_stopped = self.attachments.stop(call.conversation.id, place, call.person)
        return Reply(text=general.describe_stop("", ()) if is_stopped else general.STOP_NOTHING())

    async def _queue(self, call: Call) -> Reply:
        if not call.argument:
            waiting = self.lanes.count_waiting(call.conversation.id)
            return Reply(text=general.describe_queue(waiting))
        pending = replace(call.as_message(call.argument), ends_question=False)
        if call.is_repeat or not self.lanes.is_running(call.conversation.id):
            return Reply(pending=pending)
        is_asked = self.lanes.awaits_answer(call.conversation.id)
        return Reply(text=(general.QUEUED_ASKED if is_asked else general.QUEUED)(), pending=pending)

    async def _steer(self, call: Call) -> Reply:
        """Pass a message to the running turn; without one, it starts a turn as any message."""
        if not call.argument:
            return Reply(text=usage_texts.STEER_USAGE())
        conversation_id = call.conversation.id
        is_steer = self.lanes.may_steer(conversation_id, call.person)
        pending = replace(call.as_message(call.argument), starts_own_turn=False, is_steer=True)
        is_waiting = self.lanes.is_running(conversation_id) and not is_steer
        text = general.QUEUED() if is_waiting else usage_texts.STEERED() if is_steer else ""
        return Reply(text="" if call.is_repeat else text, pending=pending)

    async def _btw(self, call: Call) -> Reply:
        """Answer in a conversation of its own, which begins as a branch of this one.

        A restart reads the event again and finds that conversation.
        """
        if not call.argument:
            return Reply(text=usage_texts.BTW_USAGE())

        def work(connection: Connection) -> Conversation:
            here = call.conversation
            aside = sessions.ensure_conversation(
                connection,
                sessions.NewConversation(
                    key=name_aside(here.key, call.inbox_id),
                    kind="aside",
                    agent=here.agent,
                    person_id=here.person_id,
                    is_direct=here.is_private,
                    room_id=here.room_id,
                ),
                now=call.now,
            )
            source = sessions.find_open(connection, conversation_id=here.id)
            if source and not sessions.find_open(connection, conversation_id=aside.id):
                past_sessions.branch(
                    connection,
                    session_id=source.id,
                    into=aside.id,
                    title=flatten(call.argument, LONGEST_TITLE),
                    now=call.now,
                )
            return aside

        aside = await self.database.write("conversations.aside", work)
        pending = call.as_message(call.argument)
        return Reply(pending=replace(pending, conversation=aside, note=_ASIDE_NOTE))

    async def _retry(self, call: Call) -> Reply:
        here = call.chat

        def effect(connection: Connection) -> Outcome:
            return "", dead_letters.revive_dead(
                connection, person_id=call.person.id, platform=here.platform, chat=here.address
            )

        def look(connection: Connection) -> tuple[bool, str]:
            has_dead = dead_letters.has_dead(
                connection, person_id=call.person.id, platform=here.platform, chat=here.address
            )
            latest = turns.find_latest(
                connection, conversation_id=call.conversation.id, person_id=call.person.id
            )
            words = latest and messages.request_of_turn(
                connection, turn_id=latest.id, person_id=call.conversation.person_id
            )
            return has_dead, words or ""

        has_dead, words = await self.database.read(look)
        if has_dead:
            return Reply(effect=effect)
        if self.lanes.is_running(call.conversation.id):
            return Reply(text=general.RETRY_RUNNING())
        if not words:
            return Reply(text=general.RETRY_NOTHING())
        return Reply(pending=call.as_message(words))

    async def _here(self, call: Call) -> Reply:
        if not self.lanes.may_stop(call.conversation.id, call.person):
            return Reply(text=general.MOVE_NOT_YOURS())
        place = Place(chat=call.chat, answers=call.message.message_id)
        is_moved = await self.lanes.move(call.conversation.id, place)
        return Reply(text="" if is_moved else general.MOVE_NOTHING())

    async def _status(self, call: Call) -> Reply:
        return Reply(text=await self.report.describe(call))


class SessionCommands:
    """Lists, names, continues and branches the sessions of a conversation."""

    def __init__(self, *, database: Database, lanes: Lanes) -> None:
        self._database = database
        self._lanes = lanes

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {
            "sessions": self._sessions,
            "resume": self._resume,
            "title": self._title,
            "branch": self._branch,
        }

    async def _sessions(self, call: Call) -> Reply:
        """List the newest conversations, or all of them for the argument `all`."""
        limit = _MOST_LISTED if call.argument == "all" else _LISTED

        def look(connection: Connection) -> tuple[list[SessionLine], int]:
            found = past_sessions.list_numbered(connection, call.conversation)
            return [_outline(connection, call, one) for one in found[:limit]], len(found)

        lines, count = await self._database.read(look)
        return Reply(
            text=usage_texts.list_sessions(lines, call.clock, more=count - len(lines)),
            buttons=tuple(
                stand_for(f"resume {one.number}", usage_texts.RESUME_BUTTON(number=one.number))
                for one in lines[:_BUTTONED]
                if not one.is_open
            ),
        )

    async def _resume(self, call: Call) -> Reply:
        number = read_number(call.argument)
        if number is None:
            return Reply(text=usage_texts.RESUME_USAGE())
        listed = await self._database.read(past_sessions.list_numbered, call.conversation)
        wanted = next((one for one in listed if one.number == number), None)
        if not wanted:
            return Reply(text=usage_texts.RESUME_UNKNOWN(number=number))
        if wanted.is_open:
            return Reply(text=usage_texts.RESUME_OPEN())
        operations.stop_turn(self._lanes, call.conversation.id, call.person)

        def effect(connection: Connection) -> Outcome:
            operations.go_on(connection, call.conversation.id, wanted.id, call.now)
            return usage_texts.describe_resumed(_outline(connection, call, wanted)), []

        return Reply(effect=effect)

    async def _title(self, call: Call) -> Reply:
        def effect(connection: Connection) -> Outcome:
            session = sessions.find_open(connection, conversation_id=call.conversation.id)
            if session is None:
                return usage_texts.TITLE_EMPTY(), []
            if not call.argument:
                return usage_texts.describe_title(session.title), []
            return _name(connection, call, (session.id, session.title), call.argument), []

        def name_again(connection: Connection) -> Outcome:
            _, number, words = [*call.argument.split(" ", 2), ""][:3]
            session_id, owner_id = SessionId(int(number)), call.owner_id
            found = session_list.find(connection, session_id=session_id, person_id=owner_id)
            if found is None:
                raise Declined(usage_texts.TITLE_EMPTY())
            return _name(connection, call, (session_id, found.title), words), []

        is_again = call.is_undo and call.argument.startswith(f"{operations.BACK} ")
        return Reply(effect=name_again if is_again else effect)

    async def _branch(self, call: Call) -> Reply:
        operations.stop_turn(self._lanes, call.conversation.id, call.person)

        def effect(connection: Connection) -> Outcome:
            here = call.conversation
            listed = past_sessions.list_numbered(connection, here)
            open_one = next((one for one in listed if one.is_open), None)
            if open_one is None:
                return usage_texts.BRANCH_EMPTY(), []
            operations.begin(connection, here.id, call.now)
            title = flatten(call.argument, LONGEST_TITLE) if call.argument else open_one.title
            past_sessions.branch(
                connection, session_id=open_one.id, into=here.id, title=title, now=call.now
            )
            return usage_texts.BRANCHED(number=open_one.number), []

        return Reply(effect=effect)


def _name(connection: Connection, call: Call, session: tuple[SessionId, str], words: str) -> str:
    """Give a session, by its number and its title of before, another title, and say so."""
    number, before = session
    title = operations.name(connection, number, words)
    did = usage_texts.TITLED(title=title) if title else usage_texts.UNTITLED_NOW()
    if title == before:
        call.note_fixed(connection, did)
    else:
        undo, redo = (operations.name_again(number, one) for one in (before, title))
        call.note_deed(connection, redo, undo, did)
    return did


def _is_unreached(connection: Connection, call: Call, platforms: Collection[str]) -> bool:
    """Return whether an owner gets no notices in a chat app, and this reply must say so.

    Writing in a direct chat of an app ends that, because notices can go there.
    """
    is_here = call.message.address.is_direct and call.platform != LOCAL_PLATFORM
    is_asked = call.person.is_owner and not is_here
    return is_asked and is_out_of_reach(connection, call.person, platforms)


def _outline(connection: Connection, call: Call, session: NumberedSession) -> SessionLine:
    """Describe a session; one without a title by its first words."""
    owner = call.conversation.person_id
    first = messages.list_texts(connection, session_id=session.id, person_id=owner, limit=1)
    return SessionLine(
        number=session.number,
        title=session.title or (flatten(first[0][1], LONGEST_TITLE) if first else ""),
        last_at=session.last_at,
        messages=messages.count_spoken(connection, session_id=session.id, person_id=owner),
        is_open=session.is_open,
    )
