"""Memory: the person's own lists, the ledger, and the blocks that they see."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from agent_core.state.memory import ledger
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.changes import open_own, perform
from gateway.interfaces.api.resources.replies import (
    LARGEST,
    Before,
    Id,
    Limit,
    find_next,
    find_person,
    make_missing,
    pick,
    reply,
)
from gateway.interfaces.operations.memory import undo
from gateway.turns import Client


def add_memory(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the routes of memory."""
    database, store = gateway.database, gateway.memory.store
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/memory", summary="Show your memory", response_model=models.MemoryModel)
    async def show_memory(request: Request, client: Asker) -> Response:
        person = await database.read(lambda c: find_person(c, client.person_id))
        own = await store.snapshot(person.id, person.slug, gateway.now())
        return reply(request, models.MemoryModel(user=list(own.user), memory=list(own.memory)))

    @router.get("/memory/ledger", summary="List changes", response_model=models.LedgerModel)
    async def list_changes(
        request: Request, client: Asker, limit: Limit = 20, before: Before = LARGEST
    ) -> Response:
        found = await database.read(
            lambda c: ledger.list_recent_of(
                c, person_id=client.person_id, limit=limit, before=before
            )
        )
        changes = [
            models.ChangeModel(
                **pick(one, "id", "target"),
                **pick(one.change, "operation", "before", "after"),
                **pick(one.origin, "evidence", "undoes"),
                actor=one.origin.shown_actor,
                at=one.origin.now,
            )
            for one in found
        ]
        next_id = find_next([one.id for one in found], limit)
        return reply(request, models.LedgerModel(changes=changes, next=next_id))

    @router.get("/blocks", summary="List shared blocks", response_model=models.BlockList)
    async def list_blocks(request: Request, client: Asker) -> Response:
        found = await gateway.memory.look(client.person_id, gateway.now())
        return reply(
            request,
            models.BlockList(
                blocks=[
                    models.BlockModel(
                        name=one.target,
                        description=one.block.description if one.block else "",
                        is_read_only=bool(one.block and one.block.is_read_only),
                        entries=list(one.entries),
                    )
                    for one in found
                ]
            ),
        )


def add_memory_changes(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the route that undoes a change of memory."""
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.post("/memory/ledger/{change}/undo", summary="Undo a change")
    async def undo_change(change: Id, client: Asker) -> models.UndoneModel:
        found = await gateway.database.read(lambda c: ledger.find_row(c, entry_id=change))
        if found is None or found[0] != client.person_id or found[1].target == "skill":
            raise make_missing()
        done = await perform(undo(open_own(gateway), {"row": change}))
        return models.UndoneModel(id=done["row"]["row"])
