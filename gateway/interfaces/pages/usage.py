"""Usage: what the person's model calls cost, by purpose and model."""

from agent_core.state.conversations import usage
from gateway.interfaces.pages.views import Fields, Look

_DAY = 86_400_000
_DAYS = 30


async def show(look: Look) -> Fields:
    """Read the usage of the last days."""
    since = look.gateway.now() - _DAYS * _DAY
    lines = await look.gateway.database.read(
        lambda c: usage.list_lines(c, person_id=look.person.id, since=since)
    )
    total = sum(line.charged.micro_dollars for line in lines)
    return {"days": _DAYS, "lines": lines, "total": total, "whole": max(total, 1)}
