"""The routes below `/api/`, from one module for each kind of resource."""

from fastapi import APIRouter

from gateway.app.gateway import Gateway
from gateway.interfaces.api.requests import Requests
from gateway.interfaces.api.resources.agents import (
    add_agent_changes,
    add_agents,
    add_team_changes,
)
from gateway.interfaces.api.resources.archive import add_archive
from gateway.interfaces.api.resources.conversations import add_conversations, add_forks
from gateway.interfaces.api.resources.curator import add_curator
from gateway.interfaces.api.resources.files import add_file_changes, add_files
from gateway.interfaces.api.resources.job_changes import add_job_changes
from gateway.interfaces.api.resources.jobs import add_jobs
from gateway.interfaces.api.resources.memory import (
    add_block_changes,
    add_memory,
    add_memory_changes,
    add_memory_edits,
)
from gateway.interfaces.api.resources.messages import add_messages
from gateway.interfaces.api.resources.own_data import add_own_data
from gateway.interfaces.api.resources.people import add_people, add_setting_changes
from gateway.interfaces.api.resources.questions import add_decisions, add_questions
from gateway.interfaces.api.resources.recall import add_recall
from gateway.interfaces.api.resources.rooms import add_rooms
from gateway.interfaces.api.resources.skills import add_skills
from gateway.interfaces.api.resources.turns import add_turns
from gateway.interfaces.api.resources.webhook_routes import add_webhook_changes, add_webhooks


def add_resources(router: APIRouter, gateway: Gateway, requests: Requests) -> None:
    """Add the routes of all resources."""
    for add in (
        add_people,
        add_conversations,
        add_recall,
        add_turns,
        add_memory,
        add_archive,
        add_questions,
        add_jobs,
        add_skills,
        add_files,
        add_agents,
        add_webhooks,
    ):
        add(router, gateway)
    add_messages(router, gateway, requests)
    for add in (
        add_forks,
        add_file_changes,
        add_memory_changes,
        add_memory_edits,
        add_block_changes,
        add_decisions,
        add_setting_changes,
        add_job_changes,
        add_webhook_changes,
        add_agent_changes,
        add_team_changes,
        add_rooms,
        add_curator,
        add_own_data,
    ):
        add(router, gateway)
