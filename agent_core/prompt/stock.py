"""What a talk can search, as a line of its facts: a model looks for what it knows to be there."""

from agent_core.archive.inventory import MOST_COUNTED, Holdings, Inventory, Reach, View
from agent_core.prompt.scene import Scene
from agent_core.tools.clock import local_time

_MAX_TAGS = 12


async def take_stock(inventory: Inventory, scene: Scene, view: View, now: int) -> tuple[str, ...]:
    """The line for a talk that shows what is in `view`. Raises `StoreError`."""
    reach = Reach(
        owner_id=scene.conversation.person_id,
        scope=scene.conversation.scope,
        keeper_id=scene.keeper.person_id if scene.keeper else None,
    )
    holdings = await inventory.look_up(reach, view, now=now)
    return describe_holdings(holdings, scene.person.time_zone or "UTC")


def describe_holdings(holdings: Holdings, zone: str) -> tuple[str, ...]:
    """The line that tells what there is to be searched; none where there is nothing. Pure.

    Tags hold letters, digits and hyphens only, so that they can't pass for a fact.
    """
    found = []
    if holdings.messages:
        since = local_time(holdings.since, zone)
        found.append(f"{_count(holdings.messages, 'message', 'messages')} since {since:%Y-%m-%d}")
    if holdings.entries:
        tags = ", ".join(holdings.tags[:_MAX_TAGS])
        more = ", …" if len(holdings.tags) > _MAX_TAGS else ""
        named = f" (tags: {tags}{more})" if tags else ""
        found.append(f"archive: {_count(holdings.entries, 'entry', 'entries')}{named}")
    return (f"You can search: {'; '.join(found)}",) if found else ()


def _count(number: int, one: str, many: str) -> str:
    over = "over " if number >= MOST_COUNTED else ""
    return f"{over}{number:,} {one if number == 1 else many}"
