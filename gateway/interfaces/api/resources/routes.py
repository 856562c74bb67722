"""The routes below `/api/`, from one module for each kind of resource."""

from fastapi import APIRouter

from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import ERRORS, FindClient
from gateway.interfaces.api.resources.archive import make_archive
from gateway.interfaces.api.resources.conversations import make_conversations
from gateway.interfaces.api.resources.jobs import make_jobs
from gateway.interfaces.api.resources.memory import make_memory
from gateway.interfaces.api.resources.people import make_people
from gateway.interfaces.api.resources.questions import make_questions
from gateway.interfaces.api.resources.recall import make_recall
from gateway.interfaces.api.resources.skills import make_skills
from gateway.interfaces.api.resources.turns import make_turns


def make_resources(gateway: Gateway, find_client: FindClient) -> APIRouter:
    """Make the routes below `/api/`."""
    router = APIRouter(prefix="/api", responses=ERRORS)
    for make in (
        make_people,
        make_conversations,
        make_recall,
        make_turns,
        make_memory,
        make_archive,
        make_questions,
        make_jobs,
        make_skills,
    ):
        router.include_router(make(gateway, find_client))
    return router
