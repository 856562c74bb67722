"""Commands for the current conversation: new, stop, here, queue, retry, status."""

from collections.abc import Mapping
from dataclasses import replace

from agent_core.memory import ExternalMemory
from agent_core.state.conversations import messages, sessions, turns, usage
from agent_core.state.conversations.sessions import Session
from agent_core.state.conversations.usage import QuotaUsage, Total
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import dead_letters
from agent_core.state.queues.outbox import OutboxRow
from gateway import conversion
from gateway.commands.registry import Call, Handler, Reply
from gateway.conversion import Place, QueuedMessage
from gateway.texts import general, memory
from gateway.texts import usage as usage_texts
from gateway.turns import AttachmentStage, Lanes

_DAY = 86_400_000


class StatusReport:
    """Describes what is going on in a conversation."""

    def __init__(
        self,
        *,
        database: Database,
        lanes: Lanes,
        external: ExternalMemory | None,
        model: str,
    ) -> None:
        self._database = database
        self._lanes = lanes
        self._external = external
        self._model = model

    async def _describe_external(self) -> str:
        if self._external is None:
            return ""
        return memory.describe_external(await self._external.report())

    async def describe(self, call: Call) -> str:
        """Return the status text. Raises `StoreError`."""

        def look(connection: Connection) -> tuple[Session | None, int, Total, QuotaUsage, int]:
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
                usage.charged_since(connection, person_id=own, since=since),
                dead_letters.count_dead_of(connection, person_id=call.person.id),
            )

        session, said, total, charged, dead = await self._database.read(look)
        status = general.Status(
            model=self._model,
            title=session.title if session else "",
            messages=said,
            is_running=self._lanes.is_running(call.conversation.id),
            waiting=self._lanes.count_waiting(call.conversation.id),
            input_tokens=total.input_tokens,
            cache_read_tokens=total.cache_read_tokens,
            output_tokens=total.output_tokens,
            cost=usage_texts.describe_charged(charged),
            undelivered=dead,
            memory=await self._describe_external(),
        )
        return general.describe_status(status)


class ConversationCommands:
    """Controls the current conversation and its turn."""

    def __init__(
        self,
        *,
        database: Database,
        lanes: Lanes,
        attachments: AttachmentStage,
        report: StatusReport,
    ) -> None:
        self._database = database
        self._lanes = lanes
        self._attachments = attachments
        self._report = report

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {
            "new": self._new,
            "stop": self._stop,
            "here": self._here,
            "queue": self._queue,
            "retry": self._retry,
            "status": self._status,
        }

    async def _new(self, call: Call) -> Reply:
        if not self._lanes.may_stop(call.conversation.id, call.person):
            return Reply(text=general.STOP_NOT_YOURS())
        self._lanes.stop(call.conversation.id)

        def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
            sessions.end(connection, conversation_id=call.conversation.id, now=call.now)
            return general.CONVERSATION_STARTED(), []

        return Reply(effect=effect)

    async def _stop(self, call: Call) -> Reply:
        if not self._lanes.may_stop(call.conversation.id, call.person):
            return Reply(text=general.STOP_NOT_YOURS())
        chat = conversion.name_chat(call.message.address)
        answered = self._lanes.place_of(call.conversation.id)
        is_stopped = self._lanes.stop(call.conversation.id)
        if is_stopped and answered and (answered.platform, answered.chat) != (call.platform, chat):
            return Reply(text=general.describe_stop_elsewhere(answered.platform))
        if call.person.is_owner and not call.message.address.is_direct:
            is_stopped = self._lanes.stop_at(call.platform, chat) or is_stopped
        if is_stopped:
            return Reply()
        # Nothing runs, but the message may still wait for its attachments to be read.
        place = (call.platform, chat)
        is_stopped = self._attachments.stop(call.conversation.id, place, call.person)
        return Reply(text=general.describe_stop("", ()) if is_stopped else general.STOP_NOTHING())

    async def _queue(self, call: Call) -> Reply:
        if not call.argument:
            waiting = self._lanes.count_waiting(call.conversation.id)
            return Reply(text=general.describe_queue(waiting))
        is_running = self._lanes.is_running(call.conversation.id)
        is_news = is_running and not call.is_repeat
        text = general.QUEUED() if is_news else ""
        return Reply(text=text, pending=_make_pending(call, call.argument))

    async def _retry(self, call: Call) -> Reply:
        chat = conversion.name_chat(call.message.address)

        def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
            return "", dead_letters.revive_dead(
                connection, person_id=call.person.id, platform=call.platform, chat=chat
            )

        def look(connection: Connection) -> tuple[bool, str]:
            has_dead = dead_letters.has_dead(
                connection, person_id=call.person.id, platform=call.platform, chat=chat
            )
            latest = turns.find_latest(
                connection, conversation_id=call.conversation.id, person_id=call.person.id
            )
            words = latest and messages.request_of_turn(
                connection, turn_id=latest.id, person_id=call.conversation.person_id
            )
            return has_dead, words or ""

        has_dead, words = await self._database.read(look)
        if has_dead:
            return Reply(effect=effect)
        if self._lanes.is_running(call.conversation.id):
            return Reply(text=general.RETRY_RUNNING())
        if not words:
            return Reply(text=general.RETRY_NOTHING())
        return Reply(pending=_make_pending(call, words))

    async def _here(self, call: Call) -> Reply:
        if not self._lanes.may_stop(call.conversation.id, call.person):
            return Reply(text=general.MOVE_NOT_YOURS())
        place = Place(
            platform=call.platform,
            chat=conversion.name_chat(call.message.address),
            answers=call.message.message_id,
        )
        is_moved = await self._lanes.move(call.conversation.id, place)
        return Reply(text="" if is_moved else general.MOVE_NOTHING())

    async def _status(self, call: Call) -> Reply:
        return Reply(text=await self._report.describe(call))


def _make_pending(call: Call, text: str) -> QueuedMessage:
    """Return a command's text as a message that waits for the running turn to end."""
    return QueuedMessage(
        inbox_ids=(call.inbox_id,),
        platform=call.platform,
        message=replace(call.message, text=text),
        person=call.person,
        conversation=call.conversation,
        room_id=call.room.id if call.room else None,
        starts_own_turn=True,
        is_repeat=call.is_repeat,
    )
