"""Memory: what is remembered, every change with its evidence, and its undo."""

from agent_core.state.memory import ledger
from gateway.interfaces.operations.contexts import open_context
from gateway.interfaces.operations.memory import undo
from gateway.interfaces.pages.views import Fields, Look, Missing

_PAGE = 30
_LARGEST = 2**62


async def show(look: Look) -> Fields:
    """Read the person's memory, and a page of its changes, newest first."""
    gateway, person = look.gateway, look.person
    asked = look.request.query_params.get("before", "")
    before = int(asked[:18]) if asked.isascii() and asked.isdecimal() else _LARGEST
    own = await gateway.memory.store.snapshot(person.id, person.slug, gateway.now())
    shared = await gateway.memory.look(person.id, gateway.now())
    changes = await gateway.database.read(
        lambda c: ledger.list_recent_of(c, person_id=person.id, limit=_PAGE, before=before)
    )
    return {
        "own": own,
        "shared": [one for one in shared if one.entries],
        "changes": changes,
        "next": changes[-1].id if len(changes) == _PAGE else None,
    }


async def undo_change(look: Look) -> Fields:
    """Undo one change of the person's memory. Raises `Missing` and `Declined`."""
    number = min(look.request.path_params["change"], _LARGEST)
    found = await look.gateway.database.read(lambda c: ledger.find_row(c, entry_id=number))
    if found is None or found[0] != look.person.id:
        raise Missing
    return await undo(open_context(look.gateway, actor="person"), {"row": number})
