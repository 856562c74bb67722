"""Routes of the questions that wait for a person, and of the person's approvals."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from agent_core.ids import QuestionId
from agent_core.state.conversations import approvals, questions
from agent_core.state.conversations.questions import Question
from agent_core.state.engine.database import Connection
from agent_core.tools.policy.shapes import describe_shape
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import Manager, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import Id, find_person, make_missing, show
from gateway.operations.approvals import take_back
from gateway.operations.proposals import bring_back
from gateway.turns.proposals import list_refused

_CLOSED = "This question is closed, or has no such choice."


def add_questions(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of questions and approvals."""
    database = gateway.database

    @router.get("/questions", summary="List open questions")
    async def list_questions(client: ReaderClient) -> models.QuestionList:
        found = await database.read(questions.find_open, person_id=client.person_id)
        return models.QuestionList(questions=[_show(one) for one in found])

    @router.get("/questions/dismissed", summary="List changes that were not accepted")
    async def list_dismissed(client: ReaderClient) -> models.QuestionList:
        found = await database.read(list_refused, client.person_id)
        return models.QuestionList(questions=[_show(one) for one in found])

    @router.get("/approvals", summary="List approvals")
    async def list_approvals(client: ReaderClient) -> models.ApprovalList:
        found = await database.read(approvals.list_of, person_id=client.person_id)
        return models.ApprovalList(
            approvals=[
                show(models.ApprovalModel, one, allows=describe_shape(one.shape)) for one in found
            ]
        )


def _show(question: Question) -> models.QuestionModel:
    return show(models.QuestionModel, question, platform=question.chat.platform)


class Decision(BaseModel):
    """The key of a choice, or free text if the question asks for a reason."""

    model_config = ConfigDict(extra="forbid")

    choice: Annotated[str, Field(min_length=1, max_length=4000)]


def add_decisions(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes that answer a question and revoke an approval."""
    database = gateway.database

    @router.post("/questions/{question}/answer", summary="Answer a question", status_code=204)
    async def answer(question: Id, asked: Decision, client: Manager) -> None:
        person = await database.read(find_person, client.person_id)
        known = await database.read(questions.find, question_id=QuestionId(question))
        if known is None or known.person_id != person.id:
            raise make_missing()
        if not await gateway.questions.decide(person, known.id, asked.choice):
            raise ApiError(HTTPStatus.CONFLICT, _CLOSED, code="not_answered")
        gateway.forget_known()  # the answer may have merged two people

    @router.post(
        "/questions/{question}/restore",
        summary="Let a dismissed change wait for an answer again",
        status_code=204,
    )
    async def restore(question: Id, client: Manager) -> None:
        now, asking = gateway.now(), gateway.questions
        rows = await database.write(
            "questions.restore", bring_back, asking, client.person_id, question, None, now
        )
        if rows is None:
            raise make_missing()

    @router.delete("/approvals/{approval}", summary="Revoke an approval", status_code=204)
    async def revoke(approval: Id, client: Manager) -> None:
        now = gateway.now()

        def work(connection: Connection) -> None:
            actor = f"api:{client.name}"
            if not take_back(connection, client.person_id, approval, actor=actor, now=now):
                raise make_missing()

        await database.write("approvals.revoke", work)
