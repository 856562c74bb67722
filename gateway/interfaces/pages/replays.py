"""The replay of a turn: what its model read, by source, and whether it was rebuilt exactly."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agent_core.agent.replay.context_report import ContextReport, PromptSource, report_context
from agent_core.agent.replay.diff import differ_in_words
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import TurnRecord, read_record
from agent_core.ids import TurnId
from agent_core.state.conversations import transcripts, turns
from agent_core.state.engine.database import Connection
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations.turns import build_prompt_of_now, compare_replay
from gateway.texts import turns as texts

_ORDER: tuple[PromptSource, ...] = (
    *("tools", "identity", "memory", "files"),
    *("summary", "talk", "outputs"),
)
"""The sources in their order in a request. A cache holds the first part of a request."""


async def show(look: Look) -> Fields:
    """Replay a turn of the person, without running tools or asking a model. Raises `Missing`."""
    turn_id = TurnId(look.find_id("turn"))

    def read(connection: Connection) -> TurnRecord | None:
        turn = turns.find_of_person(connection, turn_id=turn_id, person_id=look.person.id)
        # The prompt of a shared conversation contains other people's words.
        if turn is None or not transcripts.is_of_person(
            connection, conversation_id=turn.conversation_id, person_id=look.person.id
        ):
            return None
        return read_record(connection, turn_id)

    record = await look.gateway.database.read(read)
    if record is None:
        raise Missing
    fields: dict[str, Any] = {"turn": record.turn, "r": texts, "report": None, "result": None}
    prompt = record.prompt
    if prompt is None or not record.calls or record.is_by_job:
        return fields
    calls = await asyncio.to_thread(rebuild_calls, record)
    report = await asyncio.to_thread(report_context, record, prompt, calls, ())
    result = await compare_replay(record, prompt, calls)
    now = await build_prompt_of_now(look.context, record, prompt)
    return fields | {
        "report": report,
        "sources": _list_sources(report, record.calls[-1].cache_read_tokens),
        "result": result,
        "verdict": texts.VERDICTS[result.verdict],
        "changes": differ_in_words(prompt.system, now.system)[2:],  # without two header lines
    }


def _list_sources(report: ContextReport, cached: int) -> list[Mapping[str, Any]]:
    """List the sources with their tokens, and how many of those the last call read from a cache.

    A cache holds the first part of a request, so the tokens of the first sources count as cached.
    """
    found = list[Mapping[str, Any]]()
    for name in _ORDER:
        tokens = report.sources[name]
        taken = min(cached, tokens)
        cached -= taken
        if tokens:
            share = tokens * 1000 // max(report.total, 1)
            found.append(
                {"name": texts.SOURCES[name], "tokens": tokens, "cached": taken, "share": share}
            )
    return found
