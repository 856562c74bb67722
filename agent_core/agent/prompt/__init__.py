"""The system prompt of a conversation, and the facts in front of each message."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.agent.prompt.context import PromptContext as PromptContext
    from agent_core.agent.prompt.context_files import ContextFolder as ContextFolder
    from agent_core.agent.prompt.facts import RECALLED as RECALLED
    from agent_core.agent.prompt.facts import SPOKEN as SPOKEN
    from agent_core.agent.prompt.facts import FactInputs as FactInputs
    from agent_core.agent.prompt.facts import QuotedMessage as QuotedMessage
    from agent_core.agent.prompt.facts import compose_facts as compose_facts
    from agent_core.agent.prompt.facts import count_recalled as count_recalled
    from agent_core.agent.prompt.persona import VOICES as VOICES
    from agent_core.agent.prompt.persona import make_soul as make_soul
    from agent_core.agent.prompt.prompt_cache import FrozenPrompt as FrozenPrompt
    from agent_core.agent.prompt.prompt_cache import PromptCache as PromptCache
    from agent_core.agent.prompt.prompt_cache import PromptConfig as PromptConfig
    from agent_core.agent.prompt.prompt_cache import SkillSource as SkillSource
    from agent_core.agent.prompt.soul_file import SOUL_LIMIT as SOUL_LIMIT
    from agent_core.agent.prompt.soul_file import ensure_soul as ensure_soul
else:
    __getattr__ = export_lazily(__name__, __file__)
