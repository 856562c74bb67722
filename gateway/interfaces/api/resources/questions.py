"""What waits for the person's answer, and what they allowed in advance."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from agent_core.state.conversations import approvals, questions
from agent_core.state.conversations.questions import Choice
from agent_core.tools import describe_shape
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import pick, reply
from gateway.turns import Client


def make_questions(gateway: Gateway, find_client: FindClient) -> APIRouter:
    """Make the routes of questions and approvals."""
    router = APIRouter()
    database = gateway.database
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/questions", summary="List open questions", response_model=models.QuestionList)
    async def list_questions(request: Request, client: Asker) -> Response:
        found = await database.read(lambda c: questions.find_open(c, person_id=client.person_id))
        names = ("id", "turn_id", "kind", "text", "platform", "expires_at")
        return reply(
            request,
            models.QuestionList(
                questions=[
                    models.QuestionModel(
                        **pick(one, *names),
                        choices=[
                            models.ChoiceModel(**pick(it, "key", "label")) for it in one.choices
                        ],
                    )
                    for one in found
                ]
            ),
        )

    @router.get("/approvals", summary="List approvals", response_model=models.ApprovalList)
    async def list_approvals(request: Request, client: Asker) -> Response:
        found = await database.read(lambda c: approvals.list_of(c, person_id=client.person_id))
        return reply(
            request,
            models.ApprovalList(
                approvals=[
                    models.ApprovalModel(
                        **pick(one, "id", "scope", "created_at"), allows=describe_shape(one.shape)
                    )
                    for one in found
                ]
            ),
        )

    return router


def _describe(choice: Choice) -> models.ChoiceModel:
    return models.ChoiceModel(**pick(choice, "key", "label"))
