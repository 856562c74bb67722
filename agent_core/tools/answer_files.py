"""Files that go out with the answer of a turn."""

from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection
from agent_core.tools.contract import ToolContext

MOST_FILES = 10
"""Files of one answer. Discord takes no more in a message."""
FULL = f"an answer carries at most {MOST_FILES} files"


def has_room(connection: Connection, context: ToolContext) -> bool:
    """Return whether the answer takes the file of this call; a repeated call keeps its place."""
    given = files.list_of_turn(connection, turn_id=context.turn_id)
    return len({one.call_id for one in given} | {context.call_id}) <= MOST_FILES


def attach(
    connection: Connection, context: ToolContext, *, name: str, data: bytes, media_type: str
) -> bool:
    """Store a file and attach it to the answer; return whether there was room."""
    if not has_room(connection, context):
        return False
    key = files.store(connection, data=data, media_type=media_type, now=context.now)
    files.attach(
        connection,
        turn_id=context.turn_id,
        call_id=context.call_id,
        key=key,
        name=name,
        now=context.now,
    )
    return True
