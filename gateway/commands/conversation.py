"""Commands about the talk itself: new, stop, queue, retry, status."""

from dataclasses import replace

from agent_core.state.conversations import messages, sessions, turns, usage
from agent_core.state.conversations.sessions import Session
from agent_core.state.conversations.usage import Total
from agent_core.state.engine.database import Connection
from agent_core.state.queues import dead_letters
from agent_core.state.queues.outbox import OutboxRow
from gateway import conversion
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.conversion import Place, QueuedMessage
from gateway.texts import general, memory

_DAY = 86_400_000


async def _new(call: Call, house: House) -> Reply:
    if not house.lanes.may_stop(call.conversation.id, call.person):
        return Reply(text=general.NOT_YOUR_TURN)
    house.lanes.stop(call.conversation.id)

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        sessions.end(connection, conversation_id=call.conversation.id, now=call.now)
        return general.NEW, []

    return Reply(effect=effect)


async def _stop(call: Call, house: House) -> Reply:
    if not house.lanes.may_stop(call.conversation.id, call.person):
        return Reply(text=general.NOT_YOUR_TURN)
    chat = conversion.name_chat(call.message.address)
    answered = house.lanes.place_of(call.conversation.id)
    is_stopped = house.lanes.stop(call.conversation.id)
    if is_stopped and answered and (answered.platform, answered.chat) != (call.platform, chat):
        return Reply(text=general.describe_stop_elsewhere(answered.platform))
    if call.person.is_owner and not call.message.address.is_direct:
        is_stopped = house.lanes.stop_at(call.platform, chat) or is_stopped
    if is_stopped:
        return Reply()
    place = (call.platform, chat)
    is_stopped = house.unpacking.stop(call.conversation.id, place, call.person)
    return Reply(text=general.describe_stop("", ()) if is_stopped else general.STOPPED_NOTHING)


async def _queue(call: Call, house: House) -> Reply:
    if not call.argument:
        waiting = house.lanes.count_waiting(call.conversation.id)
        return Reply(text=general.count_queue(waiting))
    is_running = house.lanes.is_running(call.conversation.id)
    say_so = is_running and not call.is_repeat
    return Reply(text=general.QUEUED if say_so else "", pending=_pending(call, call.argument))


async def _retry(call: Call, house: House) -> Reply:
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
        words = latest and messages.words_of_turn(
            connection, turn_id=latest.id, person_id=call.conversation.person_id
        )
        return has_dead, words or ""

    has_dead, words = await house.database.read(look)
    if has_dead:
        return Reply(effect=effect)
    if house.lanes.is_running(call.conversation.id):
        return Reply(text=general.RETRY_RUNNING)
    if not words:
        return Reply(text=general.RETRY_NOTHING)
    return Reply(pending=_pending(call, words))


async def _here(call: Call, house: House) -> Reply:
    if not house.lanes.may_stop(call.conversation.id, call.person):
        return Reply(text=general.NOT_YOURS_TO_MOVE)
    place = Place(
        platform=call.platform,
        chat=conversion.name_chat(call.message.address),
        answers=call.message.message_id,
    )
    is_moved = await house.lanes.move(call.conversation.id, place)
    return Reply(text="" if is_moved else general.HERE_NOTHING)


async def _describe_outside(house: House) -> str:
    if house.outside is None:
        return ""
    return memory.describe_outside(await house.outside.report())


async def describe_status(call: Call, house: House) -> str:
    """What is going on in this talk, in words."""

    def look(connection: Connection) -> tuple[Session | None, int, Total, int]:
        session = sessions.find_open(connection, conversation_id=call.conversation.id)
        said = (
            messages.count_words(
                connection, session_id=session.id, person_id=call.conversation.person_id
            )
            if session
            else 0
        )
        total = usage.total_since(connection, person_id=call.person.id, since=call.now - _DAY)
        return (
            session,
            said,
            total,
            dead_letters.count_dead_of(connection, person_id=call.person.id),
        )

    session, said, total, dead = await house.database.read(look)
    status = general.Status(
        model=house.model,
        title=session.title if session else "",
        messages=said,
        is_running=house.lanes.is_running(call.conversation.id),
        waiting=house.lanes.count_waiting(call.conversation.id),
        input_tokens=total.input_tokens,
        cache_read_tokens=total.cache_read_tokens,
        output_tokens=total.output_tokens,
        micro_dollars=total.micro_dollars,
        undelivered=dead,
        memory=await _describe_outside(house),
    )
    return general.describe_status(status)


async def _status(call: Call, house: House) -> Reply:
    return Reply(text=await describe_status(call, house))


def _pending(call: Call, text: str) -> QueuedMessage:
    """A command's text as a message of its own that does not steer what runs."""
    return QueuedMessage(
        inbox_ids=(call.inbox_id,),
        platform=call.platform,
        message=replace(call.message, text=text),
        person=call.person,
        conversation=call.conversation,
        room_id=call.room.id if call.room else None,
        is_held=True,
        is_repeat=call.is_repeat,
    )


COMMANDS = (
    SlashCommand(name="new", summary="Start afresh; what was said stays findable", run=_new),
    SlashCommand(name="stop", summary="Stop what I am doing", run=_stop),
    SlashCommand(name="here", summary="Go on with the present answer in this place", run=_here),
    SlashCommand(
        name="queue", summary="Keep a message until the present answer is done", run=_queue
    ),
    SlashCommand(
        name="retry", summary="Try the last message, or a failed delivery, again", run=_retry
    ),
    SlashCommand(name="status", summary="What I am doing, and what it cost", run=_status),
)
