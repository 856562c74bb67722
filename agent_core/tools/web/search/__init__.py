"""Web search: one contract, and the engines that implement it."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.web.search.brave import BRAVE_URL as BRAVE_URL
    from agent_core.tools.web.search.brave import BraveSearch as BraveSearch
    from agent_core.tools.web.search.contract import SearchEngine as SearchEngine
    from agent_core.tools.web.search.contract import SearchFailed as SearchFailed
    from agent_core.tools.web.search.contract import SearchResult as SearchResult
    from agent_core.tools.web.search.ddgs import DdgsSearch as DdgsSearch
    from agent_core.tools.web.search.searxng import SearxngSearch as SearxngSearch
    from agent_core.tools.web.search.tavily import TAVILY_URL as TAVILY_URL
    from agent_core.tools.web.search.tavily import TavilySearch as TavilySearch
else:
    __getattr__ = export_lazily(__name__, __file__)
