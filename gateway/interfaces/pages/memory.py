"""Memory: entries, profile and archive, every change with its evidence, and its undo."""

from typing import Any

from agent_core.agent.review import list_profile
from agent_core.memory import format_archive_id, list_conclusions
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveFilter
from gateway.interfaces.operations.contexts import open_context
from gateway.interfaces.operations.memory import undo
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.texts.learning import profile

_PAGE = 30
_LARGEST = 2**62


async def show(look: Look) -> Fields:
    """Read the person's memory, a page of its archive, and a page of its changes."""
    gateway, person = look.gateway, look.person
    own = await gateway.memory.store.snapshot(person.id, person.slug, gateway.now())
    shared = await gateway.memory.look(person.id, gateway.now())
    before, skipped = _read_number(look, "before", _LARGEST), _read_number(look, "notes", 0)

    def work(connection: Connection) -> dict[str, Any]:
        within = ArchiveFilter(person_id=person.id)
        ids = archive.list_holders(connection, within=within, limit=_PAGE, offset=skipped)
        return {
            "changes": ledger.list_recent_of(
                connection, person_id=person.id, limit=_PAGE, before=before
            ),
            "notes": archive.list_entries(connection, person_id=person.id, archive_ids=ids),
            "next_notes": skipped + _PAGE if len(ids) == _PAGE else None,
            "profile": list_profile(connection, person_id=person.id),
            "guesses": list_conclusions(connection, person_id=person.id),
        }

    fields = await gateway.database.read(work)
    changes, known = fields["changes"], {line.text for line in fields["profile"]}
    return fields | {
        "about": [entry for entry in own.user if entry not in known],
        "remembered": [entry for entry in own.memory if entry not in known],
        "shared": [one for one in shared if one.entries],
        "name_note": format_archive_id,
        "titles": profile.TITLES,
        "next": changes[-1].id if len(changes) == _PAGE else None,
    }


def _read_number(look: Look, name: str, default: int) -> int:
    asked = look.request.query_params.get(name, "")
    return int(asked[:18]) if asked.isascii() and asked.isdecimal() else default


async def undo_change(look: Look) -> Fields:
    """Undo one change of the person's memory. Raises `Missing` and `Declined`."""
    number = min(look.request.path_params["change"], _LARGEST)
    found = await look.gateway.database.read(lambda c: ledger.find_row(c, entry_id=number))
    if found is None or found[0] != look.person.id:
        raise Missing
    return await undo(open_context(look.gateway, actor="person"), {"row": number})
