"""Sessions: one of them with its messages, a new one, and going on in an old one."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from secrets import token_urlsafe
from typing import Any

from starlette.responses import Response

from adapters.console.settings import write_event
from adapters.errors import Unreachable
from agent_core.ids import ConversationId, MessageId, SessionId, TurnId
from agent_core.state.conversations import session_list, sessions, transcripts
from agent_core.state.conversations.session_list import ListedSession
from agent_core.state.conversations.transcripts import ShownMessage
from agent_core.state.engine.database import Connection
from gateway.errors import Declined
from gateway.interfaces.api import forks
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.conversations import find_name
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing
from gateway.operations import sessions as operations
from gateway.operations.contract import note_deed
from gateway.operations.logins import find_console_user
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM
from gateway.texts import turns as turn_texts
from gateway.texts import usage as texts
from gateway.turns.answer_text import restore_receipts

_MOST_BYTES = 4_000
_PAGE, _LATER = 40, 12
"""Messages on a page, and those of them after the message that an address names."""


async def show(look: Look) -> Fields:
    """Read a page of one session of the person, around the message `at` if it is named."""
    number = SessionId(look.find_id("session"))
    return await look.gateway.database.read(_read, look, number)


def _read(connection: Connection, look: Look, number: SessionId) -> dict[str, Any]:
    def list_said(before: int, limit: int) -> list[ShownMessage]:
        return session_list.list_said(
            connection,
            session_id=number,
            person_id=look.person.id,
            before=before,
            limit=limit,
        )

    found = _find(connection, look, number)
    before, at = look.read_number("before", LARGEST), look.read_number("at")
    if at:
        before = session_list.find_end(
            connection,
            session_id=number,
            person_id=look.person.id,
            message_id=MessageId(at),
            later=_LATER,
        )
    said = list_said(before, _PAGE)
    newest = list_said(LARGEST, 1)
    conversation = sessions.get_conversation(
        connection, conversation_id=found.conversation_id, person_id=look.person.id
    )
    is_direct = found.kind == "direct" and conversation.agent == look.person.agent
    is_present = is_direct and found.is_open
    origin = transcripts.find_origin(
        connection, conversation_id=found.conversation_id, person_id=look.person.id
    )
    return {
        "talk": found,
        "messages": _show(connection, said, found)[::-1],
        "next": said[-1].id if len(said) == _PAGE else None,
        "has_newer": bool(said) and newest[0].id > said[0].id,
        "origin": origin,
        "conversation": found.conversation_id,
        "is_present": is_present,
        "own_number": found.conversation_id,
        "at": at,
        "can_fork": forks.can_fork(conversation),
        "can_write": find_name(conversation) is not None,
        "can_go_on": is_direct and not is_present,
        "can_remove": conversation.kind == "fork",
        "key": token_urlsafe(16),
        "r": turn_texts,
        "u": texts,
        "named": look.flash.get("named", ""),
        "former": look.flash.get("former", ""),
        "longest": operations.LONGEST_TITLE,
    }


async def list_newest(_: Look) -> Fields:
    """Return nothing more: each page has the newest sessions in its sidebar."""
    return {}


async def begin(look: Look) -> Response:
    """End the person's session: their next message begins a new one. Raises `Declined`."""
    key = sessions.name_conversation(look.person.agent, sessions.name_direct(look.person.id))

    def work(connection: Connection) -> ConversationId | None:
        found = sessions.find_conversation(connection, key=key, person_id=look.person.id)
        return found.id if found else None

    conversation = await look.gateway.database.read(work)
    if conversation is not None:
        operations.stop_turn(look.gateway.lanes, conversation, look.person)
        await look.gateway.database.write(
            "sessions.begin", operations.begin, conversation, look.gateway.now()
        )
        look.gateway.forget_known()
    return _go("/")


async def go_on(look: Look) -> Response:
    """Make an old session the person's current one. Raises `Missing` and `Declined`."""
    number = SessionId(look.find_id("session"))
    found = await look.gateway.database.read(_find, look, number)
    if found.kind != "direct":
        raise Missing
    if not found.is_open:
        operations.stop_turn(look.gateway.lanes, found.conversation_id, look.person)
        await look.gateway.database.write(
            "sessions.go_on", operations.go_on, found.conversation_id, number, look.gateway.now()
        )
        look.gateway.forget_known()
    return _go("/")


async def name(look: Look) -> Response:
    """Give a session a title, and offer to undo it. Raises `Missing`."""
    number = SessionId(look.find_id("session"))
    form = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    words = form.get("title", [""])[0]

    def work(connection: Connection) -> tuple[str, str]:
        found = _find(connection, look, number)
        title = operations.name(connection, number, words)
        if title != found.title:
            undo, redo = (operations.name_again(number, one) for one in (found.title, title))
            did = texts.TITLED(title=title) if title else texts.UNTITLED_NOW()
            note_deed(look.context, connection, undo=undo, redo=redo, did=did)
        return found.title, title

    before, title = await look.gateway.database.write("sessions.name", work)
    look.gateway.forget_known()
    note = texts.TITLED(title=title) if title else texts.UNTITLED_NOW()
    return look.redirect(f"/chats/{number}", former=before, named=note)


async def say(look: Look, text: str, key: str) -> None:
    """Send a message of the person, as if they had written it in their chat on the page.

    One with the same key is sent once. Raises `Declined` if it can't be stored.
    """
    person_id, now = look.person.id, look.gateway.now()
    user = await look.gateway.database.read(find_console_user, person_id)
    name = hashlib.sha256(f"{person_id}:{key}".encode()).hexdigest()
    event = write_event(user, f"form-{name}", {"text": text}, now=now)
    try:
        await look.gateway.router.inlet(LOCAL_PLATFORM).take([event])
    except Unreachable as error:
        raise Declined(str(error)) from error


def _show(
    connection: Connection, said: Sequence[ShownMessage], session: ListedSession
) -> list[ShownMessage]:
    """Return messages, newest first, with their platforms; answers with what their turns did.

    Until 2026-11-29, the pages wrote into a direct conversation over the API.
    """
    shown, answered = [], set[TurnId]()
    for one in said:
        text, is_here = one.text, session.kind == "direct" and one.platform == API_PLATFORM
        if one.role == "assistant" and one.turn_id not in answered:
            answered.add(one.turn_id)
            text = restore_receipts(connection, one.turn_id, text)
        platform = LOCAL_PLATFORM if is_here else one.platform
        shown.append(replace(one, text=text, platform=platform))
    return shown


def _find(connection: Connection, look: Look, number: SessionId) -> ListedSession:
    found = session_list.find(connection, session_id=number, person_id=look.person.id)
    if found is None:
        raise Missing
    return found


def _go(path: str) -> Response:
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": path})
