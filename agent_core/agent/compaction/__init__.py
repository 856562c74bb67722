"""Compaction: shorten long conversations to fit the context window."""

from agent_core.agent.compaction.compactor import CompactionTarget, Compactor
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter

__all__ = [
    "CompactionTarget",
    "Compactor",
    "ContextRules",
    "Summarizer",
    "TokenMeter",
]
