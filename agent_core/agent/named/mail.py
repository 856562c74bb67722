"""Messages that an agent leaves for another, without waiting for an answer."""

import asyncio
from collections.abc import Callable

from agent_core.errors import ToolArgumentError
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import agent_messages
from agent_core.state.queues.agent_messages import AgentMessage

MOST_TOLD = 4
"""The most messages that one turn may send; with `MOST_HOPS`, this bounds what a turn can start."""


class AgentMail:
    """Stores messages to agents; the host of the agent delivers them."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self.due = asyncio.Event()
        """Set when there is a new message."""

    async def send(self, message: AgentMessage) -> None:
        """Store a message; a repeated call stores nothing. Raises `ToolArgumentError` if the turn
        has stored the most that it may, and `StoreError`.
        """

        def work(connection: Connection) -> bool:
            is_new = agent_messages.send(connection, message, now=self._now())
            count = agent_messages.count_of_turn(connection, turn_id=message.turn_id)
            if is_new and count > MOST_TOLD:
                raise ToolArgumentError(
                    f"a turn may leave at most {MOST_TOLD} messages and tasks in the background"
                )
            return is_new

        await self._database.write("agents.tell", work)
        self.due.set()
