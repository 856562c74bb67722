"""Skills and named agents, which everybody may read."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from agent_core.errors import SkillBroken, SkillMissing
from agent_core.skills import CatalogEntry, Skill
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.api.clients import FindClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import make_missing, pick, reply
from gateway.turns import Client


def add_skills(router: APIRouter, gateway: Gateway, find_client: FindClient) -> None:
    """Add the routes of skills and agents."""
    catalog = gateway.scheduling.skills.catalog
    Asker = Annotated[Client, Depends(find_client)]  # noqa: N806 - FastAPI reads it as a type

    @router.get("/skills", summary="List skills", response_model=models.SkillList)
    async def list_skills(request: Request, _: Asker) -> Response:
        try:
            found = await asyncio.to_thread(catalog.list_all)
        except SkillBroken:
            found = []  # `talaria skills check` reports it to owners
        usable = [(one, one.skill) for one in found if one.skill and one.is_trusted]
        return reply(
            request,
            models.SkillList(skills=[models.SkillModel(**_outline(*one)) for one in usable]),
        )

    @router.get("/skills/{name}", summary="Show a skill", response_model=models.SkillDetail)
    async def show_skill(
        request: Request, name: Annotated[str, Path(max_length=64)], _: Asker
    ) -> Response:
        try:
            found = await asyncio.to_thread(catalog.find, name)
        except (SkillBroken, SkillMissing):
            raise make_missing() from None
        if found.skill is None or not found.is_trusted:
            raise make_missing()
        detail = models.SkillDetail(**_outline(found, found.skill), body=found.skill.body)
        return reply(request, detail)

    @router.get("/agents", summary="List named agents", response_model=models.AgentList)
    async def list_agents(request: Request, _: Asker) -> Response:
        found = await asyncio.to_thread(gateway.agents.list_all)
        agents = [
            models.AgentModel(**pick(one.agent, "name", "description"), tags=list(one.agent.tags))
            for one in found
            if one.agent
        ]
        return reply(request, models.AgentList(agents=agents))


def _outline(entry: CatalogEntry, skill: Skill) -> dict[str, str]:
    return {"name": entry.name, "origin": entry.origin, "description": skill.description}
