"""Conversations with their messages, and forks of them."""

from secrets import token_urlsafe
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agent_core.ids import ConversationId, MessageId, PersonId
from agent_core.state.conversations import transcripts
from agent_core.state.conversations.transcripts import ListedConversation
from agent_core.state.engine.database import Connection
from gateway.app.gateway import Gateway
from gateway.interfaces.api import forks
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import ChangeKey, hash_key, perform
from gateway.interfaces.api.resources.replies import (
    LARGEST,
    Before,
    Id,
    Limit,
    find_next,
    find_person,
    make_missing,
    show,
)
from gateway.turns.client_calls import Client


def add_conversations(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of conversations."""
    database = gateway.database

    @router.get("/conversations", summary="List your conversations")
    async def list_conversations(
        client: ReaderClient,
        limit: Limit = 20,
        before: Before = LARGEST,
        removed: bool = False,
    ) -> models.ConversationPage:
        found = await database.read(
            transcripts.list_conversations,
            person_id=client.person_id,
            before=before,
            limit=limit,
            is_removed=removed,
        )
        return models.ConversationPage(
            conversations=[_show(one) for one in found],
            next=find_next([one.id for one in found], limit),
        )

    @router.get("/conversations/{conversation}/messages", summary="List messages, newest first")
    async def list_messages(
        conversation: Id, client: ReaderClient, limit: Limit = 20, before: Before = LARGEST
    ) -> models.MessagePage:
        place = (ConversationId(conversation), client.person_id)
        return await database.read(_read_messages, place, before, limit)


class NewFork(BaseModel):
    """The last message that a fork includes; an answer includes its whole turn."""

    model_config = ConfigDict(extra="forbid")

    message: Annotated[int, Field(ge=1, le=LARGEST)]


def add_forks(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that fork a conversation, remove a forked one and bring it back."""
    database = gateway.database

    async def set_removed(conversation: int, client: Client, *, is_removed: bool) -> None:
        number = ConversationId(conversation)
        if not await perform(
            forks.set_removed(gateway, client.person_id, number, is_removed=is_removed)
        ):
            raise make_missing()

    async def find(conversation: int, client: Client) -> models.ConversationModel:
        found = await database.read(
            transcripts.list_conversations,
            person_id=client.person_id,
            before=conversation + 1,
            limit=1,
        )
        if not found or found[0].id != conversation:
            raise make_missing()
        return _show(found[0])

    @router.post(
        "/conversations/{conversation}/fork", summary="Fork a conversation", status_code=201
    )
    async def fork(
        conversation: Id, asked: NewFork, client: Manager, key: ChangeKey = ""
    ) -> models.ConversationModel:
        number, message = ConversationId(conversation), MessageId(asked.message)
        person = await database.read(find_person, client.person_id)
        name = hash_key(client, key) or token_urlsafe(16)
        made = await perform(forks.fork(gateway, person, message, name, within=number))
        if made is None:
            raise make_missing()
        return await find(made, client)

    @router.delete(
        "/conversations/{conversation}", summary="Remove a forked conversation", status_code=204
    )
    async def remove(conversation: Id, client: Manager) -> None:
        await set_removed(conversation, client, is_removed=True)

    @router.post(
        "/conversations/{conversation}/restore", summary="Bring a removed conversation back"
    )
    async def restore(conversation: Id, client: Manager) -> models.ConversationModel:
        await set_removed(conversation, client, is_removed=False)
        return await find(conversation, client)


def _show(one: ListedConversation) -> models.ConversationModel:
    return show(
        models.ConversationModel,
        one,
        is_direct=one.kind == "direct",
        is_fork=one.kind == "fork",
    )


def _read_messages(
    connection: Connection, place: tuple[ConversationId, PersonId], before: int, limit: int
) -> models.MessagePage:
    """Read a page of messages; `place` is a conversation and its person. Raises `ApiError`."""
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
    return models.MessagePage(
        messages=[show(models.MessageModel, one) for one in found],
        next=find_next([one.id for one in found], limit),
    )
