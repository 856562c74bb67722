"""Messages to the assistant: send one, wait for the answer, or read it as it grows."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response, StreamingResponse

from agent_core.state.conversations import private_history, turns
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import STREAM, ReaderClient
from gateway.interfaces.api.models import LONGEST_TEXT
from gateway.interfaces.api.requests import Question, Requests, make_name
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import ChangeKey
from gateway.interfaces.api.resources.replies import make_missing
from gateway.interfaces.api.streams import ALIVE, end_with_error, grow, write_event
from gateway.people.admission import API_PLATFORM
from gateway.turns.client_calls import Client

_CONVERSATION = r"^[A-Za-z0-9._-]{0,64}$"


class NewMessage(BaseModel):
    """A message. `reply` says how the answer comes: `wait`, `stream`, or `later` by its id."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(max_length=LONGEST_TEXT, pattern=r"\S")]
    conversation: Annotated[str, Field(pattern=_CONVERSATION)] = ""
    reply: Literal["wait", "stream", "later"] = "wait"


def add_messages(router: APIRouter, gateway: Gateway, requests: Requests) -> None:
    """Add the routes of messages."""

    async def read(client: Client, name: str) -> models.SentMessage:
        return await gateway.database.read(_read, client, name)

    @router.post(
        "/messages",
        summary="Send a message",
        response_model=models.SentMessage,
        responses={**STREAM, "202": {"model": models.SentMessage}},
    )
    async def send(asked: NewMessage, client: ReaderClient, key: ChangeKey = "") -> Response:
        question = Question(
            client=client,
            text=asked.text,
            name=make_name(key),
            conversation=asked.conversation,
        )
        await requests.submit(question)
        if asked.reply == "stream":
            lines = _stream(requests, question)
            return StreamingResponse(end_with_error(lines), media_type="text/event-stream")
        if asked.reply == "wait":
            await requests.wait(question)
        found = await read(client, question.event_id)
        is_due = asked.reply == "later"
        return JSONResponse(found.model_dump(), HTTPStatus.ACCEPTED if is_due else HTTPStatus.OK)

    @router.get("/messages/{message}", summary="Show a message and its answer")
    async def show(
        message: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], client: ReaderClient
    ) -> models.SentMessage:
        return await read(client, message)


async def _stream(requests: Requests, question: Question) -> AsyncIterator[str]:
    async for piece in grow(requests, question):
        if isinstance(piece, str):
            yield write_event({"text": piece}, "delta") if piece else ALIVE
        else:
            done: dict[str, object] = {"id": question.event_id, "answer": piece.text}
            yield write_event(done, "done")


def _read(connection: Connection, client: Client, name: str) -> models.SentMessage:
    """Read the state of a message. Raises `ApiError` if no message has this id, or if it began a
    turn of somebody else.
    """
    progress = inbox.find_progress(connection, platform=API_PLATFORM, event_id=name)
    if progress is None:
        raise make_missing()
    if progress.turn_id is None:
        # Without a turn, the owner is not checked: whoever has the id sees only whether the message
        # waits or failed. The id is random unless the client chose a guessable Idempotency-Key.
        state = "failed" if progress.is_over else "waiting"
        return models.SentMessage(id=name, state=state, turn_id=None, answer=None)
    turn = turns.find_of_person(connection, turn_id=progress.turn_id, person_id=client.person_id)
    if turn is None:
        raise make_missing()
    texts = private_history.list_answer(connection, turn_id=turn.id, person_id=client.person_id)
    return models.SentMessage(
        id=name,
        state=turn.state,
        turn_id=turn.id,
        answer="\n\n".join(texts) if turn.state != "running" else None,
    )
