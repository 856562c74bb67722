"""Goes round all memories once: files and ledger can't differ without anybody knowing."""

import logging
from collections.abc import Callable
from functools import partial

from agent_core.errors import StoreDamaged, StoreError
from agent_core.ids import PersonId
from agent_core.memory.store import MemoryStore
from agent_core.state.engine.database import Database
from agent_core.state.memory import memory_owners
from agent_core.state.memory.memory_owners import Remembering

_log = logging.getLogger(__name__)

_AT_ONCE = 100
"""Keepers that are read from the database at a time; their files are read one after the other."""


async def compare_all(store: MemoryStore, database: Database, now: Callable[[], int]) -> None:
    """Compare the files of everybody who remembers with their ledger, and log what differed.

    What was edited by hand becomes rows of the ledger, what is missing or torn is written anew.
    A file that can't be read and a ledger that is damaged are logged, and hinder nobody else.
    """
    compared, last = 0, PersonId(0)
    try:
        while found := await database.read(
            partial(memory_owners.list_all, after=last, limit=_AT_ONCE)
        ):
            for memory_owner in found:
                await _compare(store, memory_owner, now())
            compared, last = compared + len(found), found[-1].person_id
    except StoreError as error:
        _log.warning("memory files can't be compared with the ledger: %s", error)
    else:
        _log.info("memory files of %d were compared with the ledger", compared)


async def _compare(store: MemoryStore, memory_owner: Remembering, now: int) -> None:
    try:
        differences = await store.compare(
            memory_owner.person_id, memory_owner.folder, now, kind=memory_owner.kind
        )
    except StoreDamaged as error:
        _log.error("memory of %s: %s", memory_owner.slug, error)
        return
    except OSError as error:
        _log.warning("a memory file can't be read, the ledger speaks for it: %s", error)
        return
    for one in differences:
        if one.hand_edits:
            rows = "1 new row" if one.hand_edits == 1 else f"{one.hand_edits} new rows"
            _log.info("%s was changed by hand: %s in the ledger", one.path, rows)
        elif one.is_rewritten:
            _log.warning("%s was missing or torn, and was written anew", one.path)
