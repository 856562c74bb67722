"""Skills, which everybody may read."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path

from agent_core.errors import SkillBroken, SkillMissing
from gateway.app.gateway import Gateway
from gateway.interfaces.api.clients import ReaderClient
from gateway.interfaces.api.resources import models
from gateway.interfaces.api.resources.replies import make_missing, show


def add_skills(router: APIRouter, gateway: Gateway) -> None:
    """Add the routes of skills."""
    catalog = gateway.home_skills.catalog

    @router.get("/skills", summary="List skills")
    async def list_skills(_: ReaderClient) -> models.SkillList:
        try:
            found = await asyncio.to_thread(catalog.list_all)
        except SkillBroken:
            found = []  # `talaria skills check` reports it to owners
        usable = [(one, one.skill) for one in found if one.skill and one.is_trusted]
        return models.SkillList(
            skills=[
                show(models.SkillModel, one, description=skill.description) for one, skill in usable
            ]
        )

    @router.get("/skills/{name}", summary="Show a skill")
    async def show_skill(
        name: Annotated[str, Path(max_length=64)], _: ReaderClient
    ) -> models.SkillDetail:
        try:
            found = await asyncio.to_thread(catalog.find, name)
        except (SkillBroken, SkillMissing):
            raise make_missing() from None
        if found.skill is None or not found.is_trusted:
            raise make_missing()
        skill = found.skill
        return show(models.SkillDetail, found, description=skill.description, body=skill.body)
