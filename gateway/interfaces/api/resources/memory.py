"""Memory: the person's own lists, the ledger, and the blocks that they see."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from agent_core.state.memory import ledger
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
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
    show,
)
from gateway.operations.memory import edit as edit_memory
from gateway.operations.memory import share, undo
from gateway.operations.memory_types import EditMemory, ShareEntry, UndoChange
from gateway.turns.client_calls import Client


def add_memory(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of memory."""
    database, store = gateway.database, gateway.memory.store

    @router.get("/memory", summary="Show your memory")
    async def show_memory(client: ReaderClient) -> models.MemoryModel:
        person = await database.read(find_person, client.person_id)
        return show(models.MemoryModel, await store.snapshot(person.id, person.slug, gateway.now()))

    @router.get("/memory/ledger", summary="List changes")
    async def list_changes(
        client: ReaderClient, limit: Limit = 20, before: Before = LARGEST
    ) -> models.LedgerModel:
        found = await database.read(
            ledger.list_recent_of, person_id=client.person_id, limit=limit, before=before
        )
        changes = [
            models.ChangeModel(
                id=one.id,
                target=one.target,
                operation=one.change.operation,
                before=one.change.before,
                after=one.change.after,
                evidence=one.origin.evidence,
                undoes=one.origin.undoes,
                actor=one.origin.shown_actor,
                at=one.origin.now,
            )
            for one in found
        ]
        next_id = find_next([one.id for one in found], limit)
        return models.LedgerModel(changes=changes, next=next_id)

    @router.get("/blocks", summary="List shared blocks")
    async def list_blocks(client: ReaderClient) -> models.BlockList:
        found = await gateway.memory.look(client.person_id, gateway.now())
        return models.BlockList(
            blocks=[
                models.BlockModel(
                    name=one.target,
                    description=one.block.description if one.block else "",
                    is_read_only=bool(one.block and one.block.is_read_only),
                    entries=list(one.entries),
                )
                for one in found
            ]
        )


class EntryText(BaseModel):
    """The words of an entry."""

    text: Annotated[str, Field(min_length=1, max_length=4000)]


class NewEntry(EntryText):
    """A new entry: about the person (`user`), or a note (`memory`)."""

    list: Literal["user", "memory"] = "user"


class EntryAudience(BaseModel):
    """Says who sees an entry besides you: everyone, in any group, or nobody."""

    sees: Literal["everyone", "nobody"]


def add_memory_edits(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that add, change and remove entries; their id is that of their change."""

    async def edit(client: Client, **wish: Any) -> models.UndoneModel:
        person = await gateway.database.read(find_person, client.person_id)
        asked = EditMemory(person=person.slug, **wish)
        return models.UndoneModel(
            id=(await perform(edit_memory(open_own(gateway, client), asked))).row
        )

    @router.post("/memory/entries", summary="Remember something", status_code=201)
    async def add_entry(asked: NewEntry, client: Manager) -> models.UndoneModel:
        return await edit(client, action="add", text=asked.text, list=asked.list)

    @router.patch("/memory/entries/{entry}", summary="Change an entry")
    async def change_entry(entry: Id, asked: EntryText, client: Manager) -> models.UndoneModel:
        return await edit(client, action="replace", row=entry, text=asked.text)

    @router.delete("/memory/entries/{entry}", summary="Remove an entry")
    async def remove_entry(entry: Id, client: Manager) -> models.UndoneModel:
        return await edit(client, action="remove", row=entry)

    @router.put("/memory/entries/{entry}/audience", summary="Share an entry, or make it private")
    async def share_entry(entry: Id, asked: EntryAudience, client: Manager) -> EntryAudience:
        person = await gateway.database.read(find_person, client.person_id)
        wish = ShareEntry(person=person.slug, row=entry, sees=asked.sees)
        return EntryAudience(sees=(await perform(share(open_own(gateway, client), wish))).sees)


def add_memory_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the route that undoes a change of memory."""

    @router.post("/memory/ledger/{change}/undo", summary="Undo a change")
    async def undo_change(change: Id, client: Manager) -> models.UndoneModel:
        found = await gateway.database.read(ledger.find_row, entry_id=change)
        if found is None or found[0] != client.person_id or found[1].target == "skill":
            raise make_missing()
        done = await perform(undo(open_own(gateway, client), UndoChange(row=change)))
        return models.UndoneModel(id=done.row.row)
