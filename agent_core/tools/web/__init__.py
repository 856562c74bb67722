"""The web: the guarded client for whatever is fetched, its readers, and the tools for both."""

from agent_core.tools.web.addresses import ForbiddenAddress, check_address, show_link
from agent_core.tools.web.faults import FetchFailed, ReaderFailed, SourceFailed
from agent_core.tools.web.fetch_tool import WebFetchTool, has_markdown
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page
from agent_core.tools.web.reader_process import PAGE_READER, ReaderCommand, ReaderPool
from agent_core.tools.web.search import (
    BraveSearch,
    DdgsSearch,
    SearchEngine,
    SearxngSearch,
    TavilySearch,
    has_ddgs,
)
from agent_core.tools.web.search_tool import WebSearchTool

__all__ = [
    "MOST_BYTES",
    "PAGE_READER",
    "BraveSearch",
    "DdgsSearch",
    "FetchFailed",
    "FetchRequest",
    "Fetcher",
    "ForbiddenAddress",
    "Page",
    "ReaderCommand",
    "ReaderFailed",
    "ReaderPool",
    "SearchEngine",
    "SearxngSearch",
    "SourceFailed",
    "TavilySearch",
    "WebFetchTool",
    "WebSearchTool",
    "check_address",
    "has_ddgs",
    "has_markdown",
    "show_link",
]
