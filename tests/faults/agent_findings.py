"""What kills leave of the work of agents: the messages that are shown, and unknown effects."""

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from tests.emulators.telegram_cast import ANNA
from tests.faults.deployment import Deployment

_UNKNOWN = "It is not known whether this call took effect"


def list_shown(deployment: Deployment) -> Counter[str]:
    """Count the messages that Anna sees, without the notes about an unknown outcome."""
    texts = (message.text for message in deployment.telegram.messages(ANNA))
    return Counter(
        re.sub(r"\n\n[^\n]*don.t know whether it took effect[^\n]*$", "", x) for x in texts
    )


def list_unknown(home: Path) -> set[str]:
    """List the effects of which the model knows that they may be missing."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        rows = connection.execute(
            "SELECT messages.parts, steps.call_id FROM steps JOIN messages"
            " ON messages.turn_id = steps.turn_id AND messages.role = 'assistant'"
            " WHERE steps.name = 'terminal' AND steps.outcome LIKE ?",
            (f"{_UNKNOWN}%",),
        ).fetchall()
    return {
        found[1]
        for parts, call_id in rows
        for part in json.loads(parts)
        if part.get("call_id") == call_id
        for found in re.finditer(r"echo (\S+) >>", part["arguments"])
    }
