"""Search: one contract, and the engines that fulfil it."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.web.search.brave import BRAVE_URL, BraveSearch
    from agent_core.tools.web.search.contract import SearchEngine, SearchFailed, SearchResult
    from agent_core.tools.web.search.ddgs import DdgsSearch
    from agent_core.tools.web.search.searxng import SearxngSearch
    from agent_core.tools.web.search.tavily import TAVILY_URL, TavilySearch
else:
    __getattr__ = export_lazily(__name__, __file__)
