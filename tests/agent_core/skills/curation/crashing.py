"""A process of its own that makes an accepted merge of skills, and is killed on the way."""

import os
import signal
import sys
from pathlib import Path

from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.curation.merging import apply_merge, choose_texts
from agent_core.skills.curation.record import CurationProposal, Merge
from agent_core.skills.intents import write_planned
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin

MOMENTS = ("recorded", "text", "first", "second", "written")
"""After the record; before the text, the first folder, and the second; and before the end."""
MERGED = "---\nname: notes\ndescription: Keeps notes.\n---\nSort and file them.\n"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_rename(number: int) -> None:
    """Be killed before the file or folder with a number, from 1, gets its name."""
    left = number

    def see(event: str, _: object) -> None:
        nonlocal left
        if event == "os.rename":
            left -= 1
            if not left:
                die()

    sys.addaudithook(see)


async def main(home: Path, moment: str) -> None:
    database = await Database.open(home / "state.db")
    catalog = SkillCatalog(home / "skills")

    def record(connection: Connection) -> None:
        texts = choose_texts(connection, catalog)
        merge = Merge(into="notes", text=MERGED, before=texts)
        proposal = CurationProposal(reason="Both keep notes.", change=merge)
        apply_merge(connection, catalog, proposal, merge, Origin(actor="curator", now=100))

    def write(connection: Connection) -> None:
        write_planned(connection, catalog.folder)
        die()

    await database.write("merge", record)
    if moment == "recorded":
        die()
    elif moment != "written":
        die_at_rename(MOMENTS.index(moment))
    await database.write("write_planned", write)
