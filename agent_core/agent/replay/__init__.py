"""Rebuild the requests of past turns from their records, and replay them."""

from agent_core.agent.replay.context_report import ContextReport, Source, report_context
from agent_core.agent.replay.diff import compare, differ_in_words
from agent_core.agent.replay.rebuild import RebuiltCall, rebuild_calls
from agent_core.agent.replay.records import ANSWERS, TurnRecord, read_prompt_context, read_record
from agent_core.agent.replay.replayer import replay

__all__ = [
    "ANSWERS",
    "ContextReport",
    "RebuiltCall",
    "Source",
    "TurnRecord",
    "compare",
    "differ_in_words",
    "read_prompt_context",
    "read_record",
    "rebuild_calls",
    "replay",
    "report_context",
]
