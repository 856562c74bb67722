"""The selection of tools: which are in the prompt, how others are found, and when each may run."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.selection.call_rules import Caller, CallRule, TurnRules
    from agent_core.tools.selection.catalog import (
        MOST_IN_PROMPT,
        PROMPT_TOOLS,
        RARE_TOOLS,
        SEARCH_TOOL,
        SKILL_TOOL,
        USE_TOOL,
        Catalog,
        make_search_tools,
        rank,
        unwrap,
    )
    from agent_core.tools.selection.found_tools import show_found_tools
    from agent_core.tools.selection.ranking import WordIndex
else:
    __getattr__ = export_lazily(__name__, __file__)
