"""The selection of tools: those in the prompt, the search for others, and rules for calls."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.selection.call_rules import Caller as Caller
    from agent_core.tools.selection.call_rules import CallRule as CallRule
    from agent_core.tools.selection.call_rules import TurnRules as TurnRules
    from agent_core.tools.selection.catalog import MOST_IN_PROMPT as MOST_IN_PROMPT
    from agent_core.tools.selection.catalog import PROMPT_TOOLS as PROMPT_TOOLS
    from agent_core.tools.selection.catalog import RARE_TOOLS as RARE_TOOLS
    from agent_core.tools.selection.catalog import SEARCH_TOOL as SEARCH_TOOL
    from agent_core.tools.selection.catalog import SKILL_TOOL as SKILL_TOOL
    from agent_core.tools.selection.catalog import USE_TOOL as USE_TOOL
    from agent_core.tools.selection.catalog import Catalog as Catalog
    from agent_core.tools.selection.catalog import make_search_tools as make_search_tools
    from agent_core.tools.selection.catalog import rank as rank
    from agent_core.tools.selection.catalog import unwrap as unwrap
    from agent_core.tools.selection.found_tools import show_found_tools as show_found_tools
    from agent_core.tools.selection.ranking import WordIndex as WordIndex
else:
    __getattr__ = export_lazily(__name__, __file__)
