"""Conversations: list and messages, new messages, forks, and consent to be read."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Any

from starlette.responses import Response, StreamingResponse

from agent_core.ids import ConversationId, MessageId, PersonId
from agent_core.state.conversations import session_list, sessions, transcripts
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.people import people, reading_consents, rooms
from agent_core.state.people.people import Person
from gateway.conversation_keys import CONSOLE
from gateway.errors import Declined
from gateway.interfaces.api import forks
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.models import LONGEST_TEXT
from gateway.interfaces.api.requests import Question, Requests, make_name
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.api.streams import ALIVE, end_with_error, grow, write_event
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing, parse_number
from gateway.operations import reading
from gateway.people.reading_consent import ReadingConsent
from gateway.texts import pages as texts
from gateway.texts import turns as turn_texts
from gateway.turns.client_calls import Client

_PAGE = 30
_MOST_BYTES = 12 * LONGEST_TEXT + 1000
"""Most bytes of a form; each character is encoded as up to 12 bytes."""
_EVENTS = "text/event-stream"


async def show_list(look: Look) -> Fields:
    """Read the person's sessions, by their last messages."""
    person, now, skip = look.person, look.gateway.now(), look.read_number("skip")

    def work(connection: Connection) -> dict[str, Any]:
        consents = [
            (people.find(connection, person_id=one.reader_id), one.expires_at)
            for one in reading_consents.list_of(connection, person_id=person.id, now=now)
        ]
        found = session_list.list_newest(connection, person_id=person.id, limit=_PAGE, skip=skip)
        return {
            "talks": found,
            "next": skip + _PAGE if len(found) == _PAGE else None,
            "removed": transcripts.list_conversations(
                connection, person_id=person.id, before=LARGEST, limit=_PAGE, is_removed=True
            ),
            "r": turn_texts,
            "consents": [(reader.name, until) for reader, until in consents if reader],
            "key": token_urlsafe(16),
        }

    return await look.gateway.database.read(work)


async def show(look: Look) -> Fields:
    """Read a page of messages of one conversation of the person. Raises `Missing`."""

    def work(connection: Connection) -> dict[str, Any]:
        fields = _read(connection, look, look.person.id)
        number = fields["conversation"]
        found = sessions.get_conversation(
            connection, conversation_id=number, person_id=look.person.id
        )
        room = rooms.find_by_id(connection, room_id=found.room_id) if found.room_id else None
        return fields | {
            "name": (room.name or room.platform_title) if room else "",
            "origin": transcripts.find_origin(
                connection, conversation_id=number, person_id=look.person.id
            ),
            "can_fork": forks.can_fork(found),
            "can_write": find_name(found) is not None and found.removed_at is None,
            "can_remove": found.kind == "fork",
            "is_removed": found.removed_at is not None,
            "key": token_urlsafe(16),
        }

    return await look.gateway.database.read(work)


async def fork(look: Look) -> Response:
    """Begin a fork with everything said up to a message. Raises `Missing` and `Declined`."""
    number = MessageId(look.find_id("message"))
    key = (await _read_form(look)).get("key", "")[:100]
    made = await forks.fork(look.gateway, look.person, number, key)
    if made is None:
        raise Missing
    return _go_to(made)


async def remove(look: Look) -> Response:
    """Remove a forked conversation. Raises `Missing` and `Declined`."""
    return await _set_removed(look, is_removed=True)


async def restore(look: Look) -> Response:
    """Restore a removed conversation. Raises `Missing` and `Declined`."""
    return await _set_removed(look, is_removed=False)


async def _set_removed(look: Look, *, is_removed: bool) -> Response:
    number = ConversationId(look.find_id("conversation"))
    if not await forks.set_removed(look.gateway, look.person.id, number, is_removed=is_removed):
        raise Missing
    return _go_to(number)


def find_name(conversation: Conversation) -> str | None:
    """Return the name of a conversation that began on the pages; None for any other."""
    person_id = conversation.person_id
    first, last = f"program:{person_id}/{CONSOLE}/", f":{person_id}"
    is_own = conversation.key.startswith(first) and conversation.key.endswith(last)
    return conversation.key.removeprefix(first).removesuffix(last) if is_own else None


def _ask(look: Look, text: str, name: str, *, conversation: str) -> Question:
    client = Client(person_id=look.person.id, name=CONSOLE)
    return Question(client=client, text=text, name=name, conversation=conversation)


def _go_to(conversation: ConversationId) -> Response:
    place = f"/conversations/{conversation}"
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": place})


async def _read_form(look: Look) -> dict[str, str]:
    form = await read_form(look.request, _MOST_BYTES)
    return {name: values[0] for name, values in form.items()}


async def show_list_of_other(look: Look) -> Fields:
    """Read the conversations of somebody who has allowed it. Raises `Missing`."""

    def work(connection: Connection) -> dict[str, Any]:
        other = _find_allowing(connection, look)
        return {**_list(connection, look, other.id), "other": other}

    return await look.gateway.database.read(work)


async def show_of_other(look: Look) -> Fields:
    """Read one conversation of somebody who has allowed it. Raises `Missing`."""

    def work(connection: Connection) -> dict[str, Any]:
        other = _find_allowing(connection, look)
        return {**_read(connection, look, other.id), "other": other}

    return await look.gateway.database.read(work)


async def ask_to_read(look: Look) -> Fields:
    """Ask a person to let the viewer read their conversations. Raises `Missing` and `Declined`."""
    gateway, now = look.gateway, look.gateway.now()
    consent = ReadingConsent(gateway.questions, gateway.platforms.adapters)
    number = PersonId(look.find_id("person"))

    def work(connection: Connection) -> Any:
        rows = reading.ask(connection, consent, look.person, number, now)
        if rows is None:
            raise Missing
        return rows

    gateway.dispatcher.enqueue(await gateway.database.write("reading.ask", work))
    return {}


async def end_consents(look: Look) -> Fields:
    """End every consent that the person has given."""
    person, now = look.person, look.gateway.now()
    actor = f"person:{person.id}"
    await look.gateway.database.write("reading.end", reading.end, person, actor, now)
    return {}


async def send(look: Look) -> Response:
    """Store a message of the person like any other message.

    A script gets the answer as a stream. A repeated form has the same key, so its message is stored
    once. Raises `Declined` and `StoreError`.
    """
    form = await _read_form(look)
    text, key = form.get("text", "").strip(), form.get("key", "")[:100]
    if not text or len(text) > LONGEST_TEXT:
        raise Declined(texts.NO_MESSAGE())
    place, name = await look.gateway.database.read(_find_asked, look, form.get("conversation", ""))
    question = _ask(look, text, make_name(key), conversation=name)
    requests = Requests(look.gateway)
    try:
        await requests.submit(question)
    except ApiError as error:
        raise Declined(str(error.detail)) from error
    if _EVENTS in look.request.headers.get("accept", ""):
        return StreamingResponse(end_with_error(_stream(requests, question)), media_type=_EVENTS)
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": place})


def _find_asked(connection: Connection, look: Look, asked: str) -> tuple[str, str]:
    """Return the page and the name of the conversation in a form; "" is the first of the pages.

    Raises `Missing`, and `Declined` if it was removed.
    """
    if not asked:
        return "/conversations", ""
    number = ConversationId(parse_number(asked, 0))
    if not transcripts.is_of_person(connection, conversation_id=number, person_id=look.person.id):
        raise Missing
    found = sessions.get_conversation(connection, conversation_id=number, person_id=look.person.id)
    name = find_name(found)
    if name is None:
        raise Missing
    if found.removed_at is not None:
        raise Declined(turn_texts.REMOVED_FIRST())
    return f"/conversations/{number}", name


async def _stream(requests: Requests, question: Question) -> AsyncIterator[str]:
    async for piece in grow(requests, question):
        if isinstance(piece, str):
            yield write_event({"text": piece}, "delta") if piece else ALIVE
        else:
            yield write_event({}, "done")


def _find_allowing(connection: Connection, look: Look) -> Person:
    """Return the person in the address, if they let the viewer read. Raises `Missing`."""
    number = PersonId(look.find_id("person"))
    consent = reading_consents.find(
        connection, person_id=number, reader_id=look.person.id, now=look.gateway.now()
    )
    person = people.find(connection, person_id=number) if consent else None
    if person is None:
        raise Missing
    return person


def _list(connection: Connection, look: Look, person_id: PersonId) -> dict[str, Any]:
    found = transcripts.list_conversations(
        connection, person_id=person_id, before=look.read_number("before", LARGEST), limit=_PAGE
    )
    return {"conversations": found, "next": found[-1].id if len(found) == _PAGE else None}


def _read(connection: Connection, look: Look, person_id: PersonId) -> dict[str, Any]:
    number = ConversationId(look.find_id("conversation"))
    if not transcripts.is_of_person(connection, conversation_id=number, person_id=person_id):
        raise Missing
    found = transcripts.list_messages(
        connection,
        conversation_id=number,
        person_id=person_id,
        before=look.read_number("before", LARGEST),
        limit=_PAGE,
    )
    next_id = found[-1].id if len(found) == _PAGE else None
    return {
        "conversation": number,
        "messages": found[::-1],
        "next": next_id,
        "name": "",
        "origin": None,
        "can_fork": False,
        "can_write": False,
        "can_remove": False,
        "is_removed": False,
        "r": turn_texts,
    }
