"""Compaction: shorten long conversations to fit the context window."""

from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.idle import IdleCompactor
from agent_core.agent.compaction.requests import CompactionTarget
from agent_core.agent.compaction.summaries import Summarizer
from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter

__all__ = [
    "CompactionTarget",
    "Compactor",
    "ContextRules",
    "IdleCompactor",
    "Summarizer",
    "TokenMeter",
]
