"""The client of the conformance suite: connects to the address that comes last, and calls tools.

Run by `conformance client --command "python -m tests.agent_core.tools.mcp.conformance_client"`.
"""

import asyncio
import sys
from pathlib import Path

from agent_core.tools.mcp import (
    CallHooks,
    Form,
    FormAnswer,
    McpServer,
    PageLink,
    RunningCall,
    Surroundings,
)
from agent_core.tools.mcp.session import open_session

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


async def main(url: str) -> None:
    server = McpServer(name="suite", url=url, is_local=True)
    async with open_session(server, Surroundings(folder=Path("unused")), lambda: None) as session:
        for tool in (await session.list_tools()).tools:
            running = RunningCall(CallHooks(ask=accept), 30)
            await session.call(tool.name, ARGUMENTS.get(tool.name, {}), running)


async def accept(question: Form | PageLink, number: int) -> FormAnswer:
    if isinstance(question, PageLink):
        return FormAnswer(action="decline")
    defaults = {one.name: one.default for one in question.fields if one.default is not None}
    return FormAnswer(action="accept", content=defaults)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
