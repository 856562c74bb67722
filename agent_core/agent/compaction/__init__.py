"""Compaction: shorten long conversations to fit the context window."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.compaction.compactor import Compactor
    from agent_core.agent.compaction.idle import IdleCompactor
    from agent_core.agent.compaction.requests import CompactionTarget
    from agent_core.agent.compaction.summaries import Summarizer
    from agent_core.agent.compaction.token_meter import ContextRules, TokenMeter
else:
    __getattr__ = export_lazily(__name__, __file__)
