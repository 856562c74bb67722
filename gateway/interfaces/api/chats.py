"""The chat that a program's request belongs to.

Programs send the whole history of a chat with every request. A request continues the conversation
whose history it holds. One that goes on from an earlier answer, such as a regenerated or an edited
message, gets a fork of that conversation, and one with an unknown history begins a new one.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus

from agent_core.agent.loop.answer_form import unwrap_json
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages, private_history, transcripts
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxRepeat
from gateway.app.gateway import Gateway
from gateway.chats import read_chat
from gateway.conversation_keys import HOUSEKEEPING
from gateway.errors import Declined
from gateway.interfaces.api.answers import find_calls
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.forks import fork_into
from gateway.interfaces.api.models import CallMade, ChatMessage, read_text
from gateway.interfaces.api.requests import UNNAMED, Question, Requests
from gateway.people.admission import API_PLATFORM
from gateway.turns.client_calls import Client

_MOST_EARLIER = 20_000
"""The most characters of an unknown history that a new conversation begins with."""
_NO_RESPONSE = "There is no response {id}, or it is no longer kept."
_UNFINISHED = "The response {id} is not finished yet. Wait for it, then send the request again."
_OWN = ("user", "assistant", "tool")
_FORMS = (
    re.compile(r"^\s*### Task:.*<chat_history>", re.DOTALL),
    re.compile(
        r"^\W*(?:please )?(?:provide|generate|write|create|suggest)\b[^\n]{0,60}"
        r"\b(?:titles?|tags?)\b[^\n]{0,40}\b(?:the|this) (?:conversation|chat)\b"
        r"(?=.*(?:conversation|human|user):)",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""Housekeeping of chat programs: titles, tags and suggestions.

The forms are those of Open WebUI (its task templates hold `<chat_history>`) and LibreChat
("a concise, 5-word-or-less title for the conversation"), as of 2026-11.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedChat:
    """Holds the fields of a request that tell which chat it continues.

    `conversation` is a conversation that Talaria keeps by name, and `response` the id of an answer
    to continue. `chat` is the program's own id of a chat whose history it sends. `is_retry` marks a
    repeat that a client's library sends by itself.
    """

    messages: Sequence[ChatMessage]
    conversation: str = ""
    response: str = ""
    chat: str = ""
    is_retry: bool = False


class Chats:
    """Finds the conversation of a request, and stores the request in it."""

    def __init__(self, gateway: Gateway, requests: Requests) -> None:
        self._gateway = gateway
        self._requests = requests
        self._lock = asyncio.Lock()
        """Two equal requests at once are two requests: the second sees the first."""

    async def submit(self, question: Question, asked: AskedChat) -> Question:
        """Store a question in the conversation that it continues; return it as it was stored.

        Raises what `Requests.submit` raises, and `ApiError` for an unknown response.
        """
        messages = [await self._resolve(question.client, one) for one in asked.messages]
        asked = replace(asked, messages=messages)
        async with self._lock:
            placed = await self._place(question, asked)
            await self._requests.submit(placed)
        return placed

    async def _resolve(self, client: Client, message: ChatMessage) -> ChatMessage:
        """Return the answer that a message only names. Raises `ApiError` for an unknown one."""
        if not message.answer_id:
            return message
        place, _, _ = message.answer_id.partition("_")
        event_id = message.answer_id.removeprefix(f"{place}_").partition("-")[0]
        answered = await self._find_response(client, event_id)
        assert answered.turn_id  # noqa: S101 - `_find_response` has looked
        read = partial(find_calls, turn_id=answered.turn_id, person_id=client.person_id)
        calls = await self._gateway.database.read(read)
        if place == "fc":
            return ChatMessage(role="assistant", tool_calls=[CallMade(id=one.id) for one in calls])
        texts = await self._gateway.database.read(
            _list_texts, turn_id=answered.turn_id, person_id=client.person_id
        )
        return ChatMessage(role="assistant", content=texts[0] or texts[1])

    async def _place(self, question: Question, asked: AskedChat) -> Question:
        earlier, newest = _split(asked.messages)
        question, stored = await self._count(question, asked)
        made = f"{question.event_id[:32]}-{question.repeat}"
        if stored is not None:
            conversation = stored
        elif asked.conversation:
            conversation = asked.conversation
        elif asked.response:
            answered = await self._find_response(question.client, asked.response)
            conversation = await self._go_on(question, answered, f"fork-{made}")
        elif not earlier and any(one.search(newest) for one in _FORMS):
            conversation = f"{HOUSEKEEPING}{made}"
        elif known := await self._find_answered(question.client, asked, earlier):
            conversation = await self._go_on(question, known, f"fork-{made}")
        else:
            conversation = f"chat-{made}"
        is_new = conversation == f"chat-{made}"
        wishes = replace(
            question.wishes,
            rules=_list_rules(asked.messages),
            earlier=_list_earlier(earlier) if is_new else "",
        )
        return replace(question, conversation=conversation, wishes=wishes)

    async def _count(self, question: Question, asked: AskedChat) -> tuple[Question, str | None]:
        """Name a question and count its repeats; also return the conversation of a stored one."""
        has_key = bool(question.name)
        if not has_key:
            place = f"{asked.conversation}:{asked.response}:{asked.chat}"
            question = replace(question, name=f"{UNNAMED}{place}:{_digest(asked.messages)}")
        repeats = await self._list_repeats(question)
        if not repeats:
            return question, None
        newest = repeats[0]
        if has_key or asked.is_retry:
            stored = _find_conversation(newest, question.client)
            return replace(question, repeat=newest.number), stored
        return replace(question, repeat=newest.number + 1), None

    async def _list_repeats(self, question: Question) -> list[InboxRepeat]:
        first = replace(question, repeat=0).event_id
        return await self._gateway.database.read(
            inbox.list_repeats, platform=API_PLATFORM, event_id=first
        )

    async def _find_answered(
        self, client: Client, asked: AskedChat, earlier: Sequence[ChatMessage]
    ) -> InboxRepeat | None:
        """Find the request whose answer is the last one of the history; None if it is unknown."""
        until = len(earlier)
        while until and earlier[until - 1].role == "assistant":
            until -= 1
        if until == len(earlier):
            return None
        said = "\n\n".join(read_text(one) for one in earlier[until:])
        made = {call.id for one in earlier[until:] for call in one.tool_calls or ()}
        before = Question(
            client=client, text="", name=f"{UNNAMED}::{asked.chat}:{_digest(earlier[:until])}"
        )

        def find(connection: Connection) -> InboxRepeat | None:
            for one in inbox.list_repeats(
                connection, platform=API_PLATFORM, event_id=before.event_id
            ):
                if one.turn_id is None or not one.is_over:
                    continue
                turn_id, person_id = one.turn_id, client.person_id
                calls = find_calls(connection, turn_id=turn_id, person_id=person_id)
                texts = _list_texts(connection, turn_id=turn_id, person_id=person_id)
                if made == {call.id for call in calls} and (made or _is_said(said, texts)):
                    return one
            return None

        return await self._gateway.database.read(find)

    async def _find_response(self, client: Client, response: str) -> InboxRepeat:
        """Find the request that a response answers. Raises `ApiError` unless it is this client's
        and finished.
        """
        event_id = response.removeprefix("resp_")
        found = await self._gateway.database.read(
            inbox.list_repeats, platform=API_PLATFORM, event_id=event_id
        )
        one = next((one for one in found if one.event_id == event_id), None)
        if one is None or _find_conversation(one, client) is None:
            raise _refuse(HTTPStatus.NOT_FOUND, _NO_RESPONSE.format(id=response))
        if not one.is_over or one.turn_id is None:
            raise _refuse(HTTPStatus.CONFLICT, _UNFINISHED.format(id=response))
        return one

    async def _go_on(self, question: Question, answered: InboxRepeat, fork: str) -> str:
        """Return the conversation after an answer: its own, or a fork if that has gone on since."""
        assert answered.turn_id  # noqa: S101 - the caller has looked
        conversation = _find_conversation(answered, question.client)
        if conversation is None or await self._has_gone_on(question.client, answered.turn_id):
            try:
                into = replace(question, conversation=fork)
                await fork_into(self._gateway, into, answered.turn_id)
            except Declined as error:
                raise _refuse(HTTPStatus.CONFLICT, str(error)) from error
            return fork
        return conversation

    async def _has_gone_on(self, client: Client, turn_id: TurnId) -> bool:
        return await self._gateway.database.read(
            transcripts.has_gone_on, turn_id=turn_id, person_id=client.person_id
        )


def _refuse(status: HTTPStatus, sentence: str) -> ApiError:
    code = "previous_response_not_found" if status == HTTPStatus.NOT_FOUND else "unfinished"
    return ApiError(status, sentence, code=code, param="previous_response_id")


def _find_conversation(one: InboxRepeat, client: Client) -> str | None:
    """Return a stored request's name of its conversation; None if it is another client's."""
    chat = read_chat(one.chat).chat_id if one.chat else _read_waiting(one.payload)
    start = f"{client.person_id}/{client.name}/"
    return chat.removeprefix(start) if chat.startswith(start) else None


def _read_waiting(payload: str) -> str:
    """Return the chat of a request that no turn has taken yet."""
    fields = json.loads(payload) if payload else {}
    return str(fields.get("chat", ""))


def _split(messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], str]:
    """Split a request into its history, up to the last answer, and its newest words."""
    said = [one for one in messages if one.role in _OWN]
    until = len(said)
    while until and said[until - 1].role != "assistant":
        until -= 1
    newest = [one for one in said[until:] if one.role == "user"]
    return said[:until], "\n\n".join(read_text(one) for one in newest)


def _digest(messages: Sequence[ChatMessage]) -> str:
    """Return a hash of what was said; instructions may hold the date, so they don't count."""
    said = [
        [
            one.role,
            _squeeze(read_text(one)),
            len(one.content) if isinstance(one.content, list) else 0,
            *([call.id for call in one.tool_calls or ()]),
            *([one.tool_call_id] if one.role == "tool" else []),
        ]
        for one in messages
        if one.role in _OWN
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _is_said(said: str, texts: Sequence[str]) -> bool:
    """Return whether what a program repeats is the answer of these texts."""
    return any(text and _squeeze(said).endswith(text) for text in (_squeeze(one) for one in texts))


def _list_texts(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> list[str]:
    """List the forms in which a program may have read an answer: with our notes, or without."""
    sent = private_history.list_answer(connection, turn_id=turn_id, person_id=person_id)
    written = messages.answer_of_turn(connection, turn_id=turn_id, person_id=person_id)
    return ["\n\n".join(sent), unwrap_json(written)]


def _list_rules(messages: Sequence[ChatMessage]) -> str:
    """Return the program's instructions."""
    rules = [read_text(one) for one in messages if one.role in ("system", "developer")]
    return "\n\n".join(one.strip() for one in rules if one.strip())[:_MOST_EARLIER]


def _list_earlier(earlier: Sequence[ChatMessage]) -> str:
    """Return what came before in a chat that is unknown here."""
    lines = [f"{one.role}: {read_text(one).strip()}{_name_calls(one)}" for one in earlier]
    told = "\n\n".join(lines)
    if len(told) > _MOST_EARLIER:
        told = f"(what was said before is left out)\n{told[-_MOST_EARLIER:]}"
    return told


def _name_calls(message: ChatMessage) -> str:
    calls = (one.function for one in message.tool_calls or ())
    return "".join(f" [called {one.name}({one.arguments or ''})]" for one in calls)
