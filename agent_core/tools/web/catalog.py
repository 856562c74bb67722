"""The web tools, as the owner configured them."""

from dataclasses import dataclass
from typing import Literal

from agent_core.tools.contract import Tool
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.web.fetch_tool import WebFetchTool
from agent_core.tools.web.fetching import Fetcher
from agent_core.tools.web.search.brave import BraveSearch
from agent_core.tools.web.search.contract import SearchEngine
from agent_core.tools.web.search.ddgs import DdgsSearch
from agent_core.tools.web.search.searxng import SearxngSearch
from agent_core.tools.web.search.tavily import TavilySearch
from agent_core.tools.web.search_tool import WebSearchTool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """The settings of the web. `allow_hosts` are hosts of the local network that may be fetched.

    `search` names the engine, and is "" without search; its key or address must be set. `proxy` is
    an HTTP proxy for `ddgs`, or "".
    """

    allow_hosts: tuple[str, ...] = ()
    search: Literal["", "ddgs", "searxng", "brave", "tavily"] = ""
    searxng_url: str = ""
    brave_key: str = ""
    tavily_key: str = ""
    proxy: str = ""


def make_web_tools(options: WebOptions, readers: ReaderPool) -> tuple[Tool, ...]:
    """Return `web_search`, unless it is off, and `web_fetch`."""
    fetcher = Fetcher(allow_hosts=options.allow_hosts)
    engine = _make_engine(options, fetcher)
    searching = (WebSearchTool(engine),) if engine else ()
    return (*searching, WebFetchTool(fetcher, readers))


def _make_engine(options: WebOptions, fetcher: Fetcher) -> SearchEngine | None:
    match options.search:
        case "ddgs":
            # A search may take long, and must not block the readers of pages.
            return DdgsSearch(ReaderPool(), proxy=options.proxy)
        case "searxng":
            return SearxngSearch(fetcher, options.searxng_url)
        case "brave":
            return BraveSearch(fetcher, options.brave_key)
        case "tavily":
            return TavilySearch(fetcher, options.tavily_key)
    return None
