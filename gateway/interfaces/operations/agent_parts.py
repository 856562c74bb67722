"""Parts of the agent that few operations need; importing them takes a second."""

from collections.abc import Mapping

from adapters.contract import ChatAdapter
from agent_core.agent.prompt.prompt_cache import PromptCache
from agent_core.memory.shared import SharedMemory
from agent_core.state.engine.database import Database
from gateway.bootstrap import factories
from gateway.config.settings import Settings


def make_prompt_cache(
    settings: Settings, database: Database, memory: SharedMemory | None
) -> PromptCache:
    """Make a second prompt cache. Without a gateway, `memory` is None, and a new one is made."""
    memory = memory or factories.make_memory(settings, database)
    return factories.make_prompt_cache(settings, database, memory)


def load_platforms(settings: Settings | None) -> Mapping[str, ChatAdapter]:
    """Load the enabled platforms; none without settings. Raises `StartError`."""
    return factories.load_adapters(settings) if settings else {}
