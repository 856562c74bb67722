"""Queries over the position up to which each channel of a platform was read."""

from collections.abc import Mapping

from agent_core.state.engine.database import Connection


def advance(connection: Connection, *, platform: str, reached: Mapping[str, str]) -> None:
    """Advance the positions of channels; none moves back. Positions sort as text."""
    connection.executemany(
        "INSERT INTO read_positions (platform, channel, position) VALUES (:platform, :channel,"
        " :position)"
        " ON CONFLICT (platform, channel) DO UPDATE SET position = excluded.position"
        " WHERE excluded.position > read_positions.position",
        [
            {"platform": platform, "channel": channel, "position": position}
            for channel, position in reached.items()
        ],
    )


def read_all(connection: Connection, *, platform: str) -> dict[str, str]:
    """Return channel -> position of one platform."""
    rows = connection.execute(
        "SELECT channel, position FROM read_positions WHERE platform = :platform",
        {"platform": platform},
    ).fetchall()
    return dict(rows)
