"""The web: the guarded client for whatever is fetched, and the tools for it."""

from agent_core.tools.web.catalog import WebOptions, make_web_tools
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page

__all__ = [
    "MOST_BYTES",
    "FetchRequest",
    "Fetcher",
    "Page",
    "WebOptions",
    "make_web_tools",
]
