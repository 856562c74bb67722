"""Conversations with their messages."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from agent_core.ids import ConversationId, PersonId
from agent_core.state.conversations import transcripts
from agent_core.state.engine.database import Connection
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import (
    LARGEST,
    Before,
    Id,
    Limit,
    find_next,
    make_missing,
    pick,
    reply,
)
from gateway.turns import Client


def add_conversations(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the routes of conversations."""
    database = gateway.database
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get(
        "/conversations",
        summary="List your conversations",
        response_model=models.ConversationPage,
    )
    async def list_conversations(
        request: Request, client: Asker, limit: Limit = 20, before: Before = LARGEST
    ) -> Response:
        found = await database.read(
            lambda c: transcripts.list_conversations(
                c, person_id=client.person_id, before=before, limit=limit
            )
        )
        names = ("id", "title", "is_direct", "created_at", "last_at")
        page = models.ConversationPage(
            conversations=[models.ConversationModel(**pick(one, *names)) for one in found],
            next=find_next([one.id for one in found], limit),
        )
        return reply(request, page)

    @router.get(
        "/conversations/{conversation}/messages",
        summary="List messages, newest first",
        response_model=models.MessagePage,
    )
    async def list_messages(
        request: Request,
        conversation: Id,
        client: Asker,
        limit: Limit = 20,
        before: Before = LARGEST,
    ) -> Response:
        place = (ConversationId(conversation), client.person_id)
        page = await database.read(lambda c: _read_messages(c, place, before, limit))
        return reply(request, page)


def _read_messages(
    connection: Connection, place: tuple[ConversationId, PersonId], before: int, limit: int
) -> models.MessagePage:
    """Read a page of a conversation, a (conversation, person). Raises `ApiError`."""
    conversation_id, person_id = place
    if not transcripts.is_of_person(
        connection, conversation_id=conversation_id, person_id=person_id
    ):
        raise make_missing()
    found = transcripts.list_messages(
        connection,
        conversation_id=conversation_id,
        person_id=person_id,
        before=before,
        limit=limit,
    )
    names = ("id", "turn_id", "role", "text", "platform", "created_at")
    return models.MessagePage(
        messages=[models.MessageModel(**pick(one, *names)) for one in found],
        next=find_next([one.id for one in found], limit),
    )
