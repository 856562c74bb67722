"""The agent: prepares, runs, resumes and finalizes turns.

Its parts are the loop of a turn, the prompt, compaction, quotas and the replay of past turns.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.accepted_calls import AcceptedCall, AcceptedCalls
    from agent_core.agent.active_turn import (
        ActiveTurn,
        AgentConfig,
        PreparedTurn,
        Toolboxes,
        insert_turn,
        load_agent,
    )
    from agent_core.agent.agent import Agent
    from agent_core.agent.caches import IdAllocator, SessionCache, SessionState
    from agent_core.agent.delegation import word_task
    from agent_core.agent.loop.messages import UNKNOWN_OUTCOME
    from agent_core.agent.outcomes import note_reaction
    from agent_core.agent.titles import TitleGenerator, enqueue_title
    from agent_core.agent.toolset import private_tools, room_tools
else:
    __getattr__ = export_lazily(__name__, __file__)
