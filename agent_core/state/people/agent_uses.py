"""Queries over what a named agent is used for: the chats that it answers, and the jobs it runs."""

from agent_core.state.engine.database import Connection


def count_jobs(connection: Connection, *, agent: str) -> int:
    """Count the jobs of everybody that an agent runs and that are not deleted."""
    row = connection.execute(
        "SELECT COUNT(*) FROM jobs WHERE options LIKE :agent AND state IN ('active', 'paused')",
        {"agent": f'%"agent":"{agent}"%'},
    ).fetchone()
    return int(row[0])


def unbind(connection: Connection, *, agent: str) -> int:
    """Give the chats of everybody that an agent answers back to the assistant; count them."""
    done = connection.execute("UPDATE people SET agent = '' WHERE agent = :agent", {"agent": agent})
    return done.rowcount


def end_sessions(connection: Connection, *, agent: str, now: int) -> None:
    """Close the open sessions of everybody with an agent; the next turns start new ones."""
    connection.execute(
        "UPDATE sessions SET ended_at = :now WHERE ended_at IS NULL AND conversation_id IN"
        " (SELECT id FROM conversations WHERE agent = :agent)",
        {"agent": agent, "now": now},
    )
