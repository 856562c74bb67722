"""Drafts: skills that a review writes. A draft does not count before its tests pass."""

import asyncio
from functools import partial

from agent_core.errors import SkillBroken, SkillConflict
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.changes import check_create, plan
from agent_core.skills.intents import SkillChange, write_planned
from agent_core.skills.states import list_made
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger, skills
from agent_core.state.memory.ledger import Origin

_MOST_DRAFTS = 5
"""The most drafts that may wait: their tests are replays, which cost money."""


class Drafts:
    """Writes drafts into the home, for reviews."""

    def __init__(self, catalog: SkillCatalog, database: Database) -> None:
        self._catalog = catalog
        self._database = database

    def list_own(self, connection: Connection) -> frozenset[str]:
        """Return the names of the skills whose text the agent wrote. Raises `StoreDamaged`."""
        return list_made(connection)

    async def create(self, name: str, text: str, origin: Origin) -> int | None:
        """Write a draft; return its ledger row, the same for a repeated `origin.call_key`.

        None if the name is taken, the text is no valid skill, or too many drafts wait already.
        Raises `StoreError` and `OSError`.
        """
        row = await self._database.read(partial(_find_row, origin=origin))
        if row is None:
            try:
                change = await asyncio.to_thread(check_create, self._catalog, name, text)
            except (SkillConflict, SkillBroken):
                return None
            work = partial(_plan, catalog=self._catalog, change=change, origin=origin)
            row = await self._database.write("skills.draft", work)
        if row is not None:
            await self._database.write("skills.write_planned", write_planned, self._catalog.folder)
        return row


def _plan(
    connection: Connection, *, catalog: SkillCatalog, change: SkillChange, origin: Origin
) -> int | None:
    if len(skills.list_drafts(connection)) >= _MOST_DRAFTS:
        return None
    made = plan(connection, catalog.folder, change, origin)
    return None if made is None else _find_row(connection, origin=origin)


def _find_row(connection: Connection, *, origin: Origin) -> int | None:
    """Return the ledger row that a call has made."""
    team = blocks.find_team(connection)
    if team is None or origin.call_key is None:
        return None
    made = ledger.find_call(connection, person_id=team, call_key=origin.call_key)
    return made[0].id if made else None
