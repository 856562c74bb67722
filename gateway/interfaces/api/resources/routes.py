"""The routes below `/api/`, from one module for each kind of resource."""

from fastapi import APIRouter

from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.access import Access
from gateway.interfaces.api.clients import ERRORS, make_finder
from gateway.interfaces.api.requests import Requests
from gateway.interfaces.api.resources.archive import make_archive
from gateway.interfaces.api.resources.conversations import make_conversations
from gateway.interfaces.api.resources.job_changes import make_job_changes
from gateway.interfaces.api.resources.jobs import make_jobs
from gateway.interfaces.api.resources.memory import make_memory, make_memory_changes
from gateway.interfaces.api.resources.messages import make_messages
from gateway.interfaces.api.resources.people import make_people
from gateway.interfaces.api.resources.questions import make_decisions, make_questions
from gateway.interfaces.api.resources.recall import make_recall
from gateway.interfaces.api.resources.skills import make_skills
from gateway.interfaces.api.resources.turns import make_turns


def make_resources(gateway: Gateway, access: Access, requests: Requests) -> APIRouter:
    """Make the routes below `/api/`."""
    router = APIRouter(prefix="/api", responses=ERRORS)
    find_reader, find_manager = make_finder(access), make_finder(access, "manage")
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
        router.include_router(make(gateway, find_reader))
    router.include_router(make_messages(gateway, find_reader, requests))
    for make in (make_memory_changes, make_decisions, make_job_changes):
        router.include_router(make(gateway, find_manager))
    return router
