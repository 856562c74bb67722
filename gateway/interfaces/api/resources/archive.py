"""The notes of the archive."""

from typing import Annotated

from fastapi import APIRouter, Query

from agent_core.ids import ArchiveId
from agent_core.memory.archive.search import search_archive
from agent_core.memory.recall.query import read_query
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive
from agent_core.state.memory.archive import ArchiveEntry, ArchiveFilter
from agent_core.tools.clock import local_time
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import Id, Limit, ReplyWords, make_missing, show

_MOST_SKIPPED = 100_000


def add_archive(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of the archive."""
    database = gateway.database

    @router.get("/archive", summary="List or search notes")
    async def list_archive(
        client: ReaderClient,
        query: ReplyWords = "",
        limit: Limit = 20,
        offset: Annotated[int, Query(ge=0, le=_MOST_SKIPPED)] = 0,
    ) -> models.ArchivePage:
        within = ArchiveFilter(person_id=client.person_id)
        asked = read_query(query.replace("\0", " "))

        def work(connection: Connection) -> list[ArchiveEntry]:
            if asked.asked:
                found = search_archive(connection, within, asked, lambda at: local_time(at, "UTC"))
                return [hit.entry for hit in found.hits[offset : offset + limit]]
            ids = archive.list_holders(connection, within=within, limit=limit, offset=offset)
            return archive.list_entries(connection, person_id=client.person_id, archive_ids=ids)

        found = await database.read(work)
        is_full = len(found) == limit
        return models.ArchivePage(
            entries=[show(models.ArchiveModel, one) for one in found],
            next=offset + limit if is_full else None,
        )

    @router.get("/archive/{entry}", summary="Show a note")
    async def show_entry(entry: Id, client: ReaderClient) -> models.ArchiveModel:
        found = await database.read(
            archive.find, person_id=client.person_id, archive_id=ArchiveId(entry)
        )
        if found is None:
            raise make_missing()
        return show(models.ArchiveModel, found)
