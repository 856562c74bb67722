"""The order that the program of an export carries out."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_core.ids import PersonId
from agent_core.state.lifecycle.person_data import DataSubject


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """An export: whose rows, from which database, into which folder.

    `home` has the folders of calendar files and of workspaces. `archive` names the archives without
    their ending. `most_bytes` is the target size of one archive, 0 for no limit. `now` is in
    milliseconds since the epoch, UTC. `has_skills` adds the skills of the home. `is_moved` says
    that the jobs were paused here, so that they can go on elsewhere.
    """

    database: Path
    home: Path
    folder: Path
    archive: str
    most_bytes: int
    subject: DataSubject
    name: str
    now: int
    has_skills: bool = False
    is_moved: bool = False


def dump_order(order: ExportOrder) -> str:
    """Write an order as one line."""
    return json.dumps(asdict(order), default=str)


def read_order(line: str) -> ExportOrder:
    """Read an order from its line."""
    fields = json.loads(line)
    subject = fields.pop("subject")
    for name in ("database", "home", "folder"):
        fields[name] = Path(fields[name])
    return ExportOrder(
        **fields,
        subject=DataSubject(
            person_ids=tuple(map(PersonId, subject["person_ids"])),
            accounts=tuple((platform, user) for platform, user in subject["accounts"]),
            chats=tuple((platform, chat) for platform, chat in subject["chats"]),
        ),
    )
