"""Search over everything that was said."""

from typing import Annotated

from fastapi import APIRouter, Query

from agent_core.ids import TurnId
from agent_core.memory.recall.formatting import excerpt, find_match
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import read_query
from agent_core.state.engine.database import Connection
from agent_core.state.search.search_scope import SearchFilter, scope_of_person
from agent_core.tools.clock import local_time
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import ReplyWords, find_person, show

_NO_TURN = TurnId(0)


def add_recall(router: APIRouter, gateway: Gateway) -> None:
    """Add the route of recall."""
    database = gateway.database

    @router.get("/recall", summary="Search what was said")
    async def recall(
        client: ReaderClient, query: ReplyWords, limit: Annotated[int, Query(ge=1, le=20)] = 10
    ) -> models.RecallModel:
        asked = read_query(query.replace("\0", " "))

        def work(connection: Connection) -> models.RecallModel:
            person = find_person(connection, client.person_id)
            zone = gateway.zone_of(person)
            field = SearchFilter(
                person_id=person.id, scope=scope_of_person(person.id), except_turn=_NO_TURN
            )
            if not asked.asked:
                return models.RecallModel(hits=[], count=0)
            found = search_messages(
                connection, field, asked, limit=limit, clock=lambda at: local_time(at, zone)
            )
            hits = [
                show(
                    models.HitModel,
                    hit.message,
                    text=excerpt(hit.text, find_match(asked, hit.text)),
                    score=round(hit.score, 4),
                )
                for hit in found.hits
            ]
            return models.RecallModel(hits=hits, count=found.count)

        return await database.read(work)
