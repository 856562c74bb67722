"""The agent: prepares, runs, resumes and finalizes turns.

Its parts are the loop of a turn, the prompt, compaction, quotas and the replay of past turns.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.accepted_calls import AcceptedCall as AcceptedCall
    from agent_core.agent.accepted_calls import AcceptedCalls as AcceptedCalls
    from agent_core.agent.active_turn import ActiveTurn as ActiveTurn
    from agent_core.agent.active_turn import AgentConfig as AgentConfig
    from agent_core.agent.active_turn import NewTurn as NewTurn
    from agent_core.agent.active_turn import PreparedTurn as PreparedTurn
    from agent_core.agent.active_turn import Toolboxes as Toolboxes
    from agent_core.agent.active_turn import insert_turn as insert_turn
    from agent_core.agent.active_turn import load_agent as load_agent
    from agent_core.agent.agent import Agent as Agent
    from agent_core.agent.caches import IdAllocator as IdAllocator
    from agent_core.agent.caches import SessionCache as SessionCache
    from agent_core.agent.caches import SessionState as SessionState
    from agent_core.agent.delegation import word_task as word_task
    from agent_core.agent.journal import TurnJournal as TurnJournal
    from agent_core.agent.loop.messages import UNKNOWN_OUTCOME as UNKNOWN_OUTCOME
    from agent_core.agent.outcomes import note_reaction as note_reaction
    from agent_core.agent.titles import TitleGenerator as TitleGenerator
    from agent_core.agent.titles import enqueue_title as enqueue_title
    from agent_core.agent.toolset import private_tools as private_tools
    from agent_core.agent.toolset import room_tools as room_tools
else:
    __getattr__ = export_lazily(__name__, __file__)
