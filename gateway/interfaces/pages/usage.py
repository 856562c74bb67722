"""Usage: what the person's model calls cost, by purpose and model."""

from agent_core.state.conversations import usage
from gateway.interfaces.pages.views import Fields, Look

_DAY = 86_400_000
_DAYS, _WEEK = 30, 7
_MOST = 50
"""People on a page, most expensive first."""


async def show(look: Look) -> Fields:
    """Read the usage of the last days."""
    since = look.gateway.now() - _DAYS * _DAY
    lines = await look.gateway.database.read(
        lambda c: usage.list_lines(c, person_id=look.person.id, since=since)
    )
    total = sum(line.charged.micro_dollars for line in lines)
    return {"days": _DAYS, "lines": lines, "total": total, "whole": max(total, 1)}


async def show_by_person(look: Look) -> Fields:
    """Read what everybody's calls of the last days cost; only an owner sees it."""
    since = look.gateway.now() - _WEEK * _DAY
    found = await look.gateway.database.read(lambda c: usage.charged_by_person(c, since=since))
    total = sum(charged.micro_dollars for _, __, charged in found)
    return {"days": _WEEK, "people": found[:_MOST], "total": total, "whole": max(total, 1)}
