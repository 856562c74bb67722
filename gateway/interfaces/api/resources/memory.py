"""Memory: the person's own lists, the ledger, and the blocks that they see."""

from collections.abc import Awaitable
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agent_core.state.memory import ledger
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
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
from gateway.operations import blocks
from gateway.operations.block_types import (
    BlockAudience,
    ChangeBlock,
    ChangedBlock,
    MakeBlock,
    PickBlock,
)
from gateway.operations.memory import edit as edit_memory
from gateway.operations.memory import share, undo
from gateway.operations.memory_types import EditMemory, ShareEntry, UndoChange
from gateway.turns.client_calls import Client

_BLOCK = "block:"
"""Precedes the name of a block among the lists."""


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


class BlockChange(BaseModel):
    """A change to a block; omitted fields stay unchanged. `limit` is in characters."""

    model_config = ConfigDict(extra="forbid")

    description: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    limit: Annotated[int, Field(ge=100, le=20_000)] | None = None
    is_read_only: bool | None = None


class NewBlock(BaseModel):
    """A new block of at most `limit` characters, which you see until you share it."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=40)]
    description: Annotated[str, Field(min_length=1, max_length=300)]
    limit: Annotated[int, Field(ge=100, le=20_000)] = 1000


class BlockAnswer(BaseModel):
    """The block, and what was done to it, in your language."""

    name: str
    said: str


def add_block_changes(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that make, change, share and delete memory blocks."""

    async def name_person(client: Client) -> str:
        return (await gateway.database.read(find_person, client.person_id)).slug

    async def end(work: Awaitable[ChangedBlock]) -> BlockAnswer:
        try:
            return show(BlockAnswer, await perform(work))
        except ApiError as error:
            if isinstance(error.__cause__, blocks.UnknownBlock):
                raise make_missing() from error
            raise

    @router.post("/blocks", summary="Make a block", status_code=201)
    async def make_block(asked: NewBlock, client: Manager) -> BlockAnswer:
        wish = MakeBlock(
            person=await name_person(client),
            name=asked.name,
            description=asked.description,
            limit=asked.limit,
        )
        return await end(blocks.make_own(open_own(gateway, client), gateway.memory, wish))

    @router.patch("/blocks/{name}", summary="Change a block")
    async def change_block(name: str, asked: BlockChange, client: Manager) -> BlockAnswer:
        wish = ChangeBlock(
            person=await name_person(client),
            name=name.removeprefix(_BLOCK),
            description=asked.description,
            limit=asked.limit,
            is_read_only=asked.is_read_only,
        )
        return await end(blocks.change_own(open_own(gateway, client), wish))

    @router.delete("/blocks/{name}", summary="Delete a block")
    async def drop_block(name: str, client: Manager) -> BlockAnswer:
        wish = PickBlock(person=await name_person(client), name=name.removeprefix(_BLOCK))
        return await end(blocks.drop_own(open_own(gateway, client), wish))

    @router.put("/blocks/{name}/readers/{reader}", summary="Share a block with somebody")
    async def share_block(name: str, reader: str, client: Manager) -> BlockAnswer:
        wish = await name_audience(client, name, reader)
        return await end(blocks.share_own(open_own(gateway, client), wish))

    @router.delete("/blocks/{name}/readers/{reader}", summary="Hide a block from somebody")
    async def unshare_block(name: str, reader: str, client: Manager) -> BlockAnswer:
        wish = await name_audience(client, name, reader)
        return await end(blocks.unshare_own(open_own(gateway, client), wish))

    async def name_audience(client: Client, name: str, reader: str) -> BlockAudience:
        person = await name_person(client)
        return BlockAudience(person=person, name=name.removeprefix(_BLOCK), reader=reader)


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
