"""Compaction: shorten long conversations to fit the context window."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.compaction.compactor import Compactor as Compactor
    from agent_core.agent.compaction.idle import IdleCompactor as IdleCompactor
    from agent_core.agent.compaction.requests import CompactionTarget as CompactionTarget
    from agent_core.agent.compaction.summaries import Summarizer as Summarizer
    from agent_core.agent.compaction.token_meter import ContextRules as ContextRules
    from agent_core.agent.compaction.token_meter import TokenMeter as TokenMeter
else:
    __getattr__ = export_lazily(__name__, __file__)
