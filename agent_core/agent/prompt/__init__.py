"""The system prompt of a conversation, and the facts in front of each message."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.agent.prompt.context import PromptContext
    from agent_core.agent.prompt.context_files import ContextFolder
    from agent_core.agent.prompt.facts import (
        RECALLED,
        SPOKEN,
        FactInputs,
        QuotedMessage,
        compose_facts,
        count_recalled,
    )
    from agent_core.agent.prompt.persona import SOUL_LIMIT, VOICES, ensure_soul, make_soul
    from agent_core.agent.prompt.prompt_cache import (
        FrozenPrompt,
        PromptCache,
        PromptConfig,
        SkillSource,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
