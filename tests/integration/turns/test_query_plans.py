"""What a turn asks of the database costs the same, however much the tables hold."""

import asyncio
from pathlib import Path

from agent_core.state.engine.database import Connection
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import Harness, running

_READERS = 8
"""Reads at once, so that every connection gets one."""
_FEW = frozenset({"SCAN jobs", "SCAN newest"})
"""Scans of a table that doesn't grow with conversations, and of a person's few newest turns."""
_ASKED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE")


async def trace(harness: Harness, asked: set[str] | None) -> None:
    """Collect the statements of all connections; None ends that."""

    def look(connection: Connection) -> None:
        connection.set_trace_callback(asked.add if asked is not None else None)

    await harness.gateway.database.write("test", look)
    await asyncio.gather(*(harness.read(look) for _ in range(_READERS)))


async def test_no_statement_of_a_turn_reads_a_whole_table(tmp_path: Path) -> None:
    asked: set[str] = set()
    step = ask(call("memory", '{"action": "add", "target": "user", "content": "Likes tea"}'))
    model = FakeModel(say("Welcome."), step, say("Noted."), say("Bye."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees_text("Welcome.")
        await harness.at_rest()
        await trace(harness, asked)
        for words, answer in (("I like tea", "Noted."), ("that is all", "Bye.")):
            await harness.chat.says(words)
            await harness.chat.sees_text(answer)
            await harness.at_rest()
        await trace(harness, None)

        def explain(connection: Connection) -> list[tuple[str, str]]:
            return [
                (row[3], sql)
                for sql in asked
                if sql.lstrip().upper().startswith(_ASKED)
                for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
            ]

        plans = await harness.read(explain)
    assert any("messages" in sql for _, sql in plans)
    scans = [
        (plan, sql)
        for plan, sql in plans
        if plan.startswith("SCAN") and "VIRTUAL" not in plan and plan not in _FEW
    ]
    assert scans == []
