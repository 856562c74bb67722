"""A hub with its configuration, its people and the notices to owners."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import PersonRole
from agent_core.tools.mcp.contract import McpServer, Surroundings
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.mcp.pins import Judged
from agent_core.tools.mcp.supervisor import Timings
from agent_core.tools.mcp.token_files import TokenFolder
from tests.databases import open_database
from tests.patience import until

QUICK = Timings(start=90, first_pause=0.05, longest_pause=0.05, least_refresh=0.01)


@dataclass
class Stage:
    """A hub with its configuration, its people and the notices to owners."""

    servers: McpServers
    database: Database
    configured: list[McpServer]
    owner: PersonId
    member: PersonId
    notices: list[tuple[str, Judged]] = field(default_factory=list)

    async def ready(self, name: str) -> None:
        await until(lambda: self.state(name) == "ready")

    def state(self, name: str) -> str:
        found = self.servers._connections.get(name)
        return found.state if found else "none"

    async def accept(self, name: str) -> bool:
        reports = await self.servers.report()
        token = next(one.token for one in reports if one.server.name == name)
        return await self.database.write(
            "test.accept", lambda connection: self.servers.accept(connection, name, token)
        )

    async def names(self, person: PersonId) -> list[str]:
        return sorted(tool.spec.name for tool in await self.servers.list_tools(person))


OpenStage = Callable[..., AbstractAsyncContextManager[Stage]]


def add_two(connection: Connection) -> tuple[PersonId, PersonId]:
    return add_one(connection, "ada", "owner"), add_one(connection, "bob", "member")


def add_one(connection: Connection, slug: str, role: PersonRole) -> PersonId:
    return people.insert(connection, slug=slug, name=slug, role=role, now=1).id


@asynccontextmanager
async def staged(
    folder: Path, surroundings: Surroundings, *configured: McpServer
) -> AsyncIterator[Stage]:
    """Run a hub with these servers."""
    database = await open_database(folder / "state.db")
    owner, member = await database.write("test.people", add_two)
    notices: list[tuple[str, Judged]] = []

    def notify(_: Connection, server: McpServer, judged: Judged) -> Callable[[], None]:
        return lambda: notices.append((server.name, judged))

    wanted = list(configured)
    servers = McpServers(
        database,
        surroundings,
        read=lambda: list(wanted),
        notify=notify,
        now=lambda: 1,
        tokens=TokenFolder(folder / "tokens"),
        timings=QUICK,
    )
    task = asyncio.create_task(servers.run())
    try:
        yield Stage(servers, database, wanted, owner, member, notices)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await database.close()
