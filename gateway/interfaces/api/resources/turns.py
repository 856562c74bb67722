"""Turns with their steps, their files and the requests to the model."""

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import files, messages, sessions, turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from gateway.app.gateway import Gateway
from gateway.errors import Declined
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
from gateway.interfaces.contexts import open_context
from gateway.operations.turn_types import JudgedTurn, JudgeTurn, PickTurn, TurnRequests, Verdict
from gateway.operations.turns import judge_turn, show_requests

_OF_ROOM = "The requests of this turn hold words of others in its group, so they are not shown."


class TurnVerdict(BaseModel):
    """Your verdict on an answer; `none` takes it back."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict


def add_turns(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of turns."""
    database = gateway.database

    @router.get("/turns", summary="List your turns")
    async def list_turns(
        client: ReaderClient, limit: Limit = 20, before: Before = LARGEST
    ) -> models.TurnPage:
        found = await database.read(
            turns.list_of_person, person_id=client.person_id, before=before, limit=limit
        )
        return models.TurnPage(
            turns=[
                show(models.TurnModel, turn, platform=turn.place.chat.platform) for turn in found
            ],
            next=find_next([turn.id for turn in found], limit),
        )

    @router.get("/turns/{turn}", summary="Show a turn")
    async def show_turn(turn: Id, client: ReaderClient) -> models.TurnDetail:
        return await database.read(_read, turn, client.person_id)

    @router.get("/turns/{turn}/requests", summary="Show what the model read")
    async def list_requests(turn: Id, client: ReaderClient) -> TurnRequests:
        await database.read(_check_own, turn, client.person_id)
        try:
            return await show_requests(open_context(gateway), PickTurn(id=TurnId(turn)))
        except Declined as error:
            raise ApiError(HTTPStatus.CONFLICT, str(error), code="no_requests") from error

    @router.put("/turns/{turn}/verdict", summary="Say whether an answer by a skill was good")
    async def judge(turn: Id, asked: TurnVerdict, client: Manager) -> JudgedTurn:
        person = await database.read(find_person, client.person_id)
        wish = JudgeTurn(person=person.slug, id=TurnId(turn), verdict=asked.verdict)
        return await perform(judge_turn(open_own(gateway, client), wish))

    @router.get(
        "/turns/{turn}/files/{number}",
        summary="Get a file of a turn",
        response_class=Response,
        responses={"200": {"content": {"*/*": {}}}},
    )
    async def get_file(turn: Id, number: Id, client: ReaderClient) -> Response:
        return await database.read(_read_file, turn, number, client.person_id)


def _find(connection: Connection, turn: int, person_id: PersonId) -> StoredTurn:
    found = turns.find_of_person(connection, turn_id=TurnId(turn), person_id=person_id)
    if found is None:
        raise make_missing()
    return found


def _check_own(connection: Connection, turn: int, person_id: PersonId) -> None:
    """Check that a turn's conversation is the person's own. Raises `ApiError`."""
    found = _find(connection, turn, person_id)
    conversation = sessions.get_conversation(
        connection, conversation_id=found.conversation_id, person_id=person_id
    )
    if conversation.person_id != person_id:
        raise ApiError(HTTPStatus.FORBIDDEN, _OF_ROOM, code="of_group")


def _read_file(connection: Connection, turn: int, number: int, person_id: PersonId) -> Response:
    found = _find(connection, turn, person_id)
    named = files.list_of_turn(connection, turn_id=found.id)[number - 1 : number]
    stored = files.find(connection, key=named[0].key) if named else None
    if stored is None:
        raise make_missing()
    # Always a download: an HTML file must not run as a page of this host.
    headers = {
        "Content-Disposition": "attachment",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(stored.data, media_type=stored.media_type, headers=headers)


def _read(connection: Connection, number: int, person_id: PersonId) -> models.TurnDetail:
    turn = _find(connection, number, person_id)
    total = usage.total_of_turn(connection, turn_id=turn.id)
    return show(
        models.TurnDetail,
        turn,
        platform=turn.place.chat.platform,
        request=messages.request_of_turn(connection, turn_id=turn.id, person_id=person_id),
        answer=messages.answer_of_turn(connection, turn_id=turn.id, person_id=person_id),
        steps=[
            show(models.StepModel, one, tool=one.name)
            for one in turns.list_steps(connection, turn_id=turn.id)
        ],
        files=[
            models.FileModel(number=number, name=one.name)
            for number, one in enumerate(files.list_of_turn(connection, turn_id=turn.id), start=1)
        ],
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        micro_dollars=total.micro_dollars,
    )
