"""Let Letta's own library read the agent file IN, and write OUT (what it read) and OWN (its own).

It runs in an environment with `letta`, on SQLite instead of PostgreSQL, below the folder HOME.
Prints one JSON object: what Letta holds after the import.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from letta.orm.base import Base
from letta.schemas.agent import CreateAgent
from letta.schemas.agent_file import AgentFileSchema
from letta.schemas.block import CreateBlock
from letta.schemas.llm_config import LLMConfig
from letta.schemas.message import MessageCreate
from letta.server import db
from letta.server.server import SyncServer
from sqlalchemy.ext.asyncio import create_async_engine

HOME, IN, OUT, OWN = map(Path, sys.argv[1:])
SCHEMA = AgentFileSchema.model_validate(json.loads(IN.read_text()))


def save(path: Path, written: AgentFileSchema) -> None:
    path.write_text(json.dumps(written.model_dump(mode="json")))


async def main() -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{HOME}/letta.db")
    db.engine = engine
    db.async_session_factory.configure(bind=engine)
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    server = SyncServer(init_with_default_org_and_user=False)
    await server.init_async()
    actor, manager = server.default_user, server.agent_serialization_manager

    result = await manager.import_file(SCHEMA, actor)
    assert result.success, result.errors
    (agent_id,) = result.imported_agent_ids
    agent = await server.agent_manager.get_agent_by_id_async(agent_id, actor)
    written = await manager.export([agent_id], actor)
    save(OUT, written)
    held: dict[str, Any] = {
        "name": agent.name,
        "system": agent.system,
        "tags": sorted(agent.tags),
        "blocks": {one.label: one.value for one in agent.memory.blocks},
        "tools": sorted(one.name for one in agent.tools),
        "rules": sorted(f"{one.type.value} {one.tool_name}" for one in agent.tool_rules),
        "messages": len(written.agents[0].messages),
    }

    made = await server.agent_manager.create_agent_async(
        CreateAgent(
            name="Born in Letta",
            system="You were born in Letta.",
            memory_blocks=[CreateBlock(label="human", value="Name: Ada")],
            initial_message_sequence=[
                MessageCreate(role="user", content="Where is my order?"),
                MessageCreate(role="assistant", content="On its way."),
            ],
            tags=["shop"],
            include_base_tools=True,
            llm_config=LLMConfig.default_config("gpt-4o-mini"),
        ),
        actor,
    )
    save(OWN, await manager.export([made.id], actor))
    sys.stdout.write(f"\n{json.dumps(held)}\n")


asyncio.run(main())
