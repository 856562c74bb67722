"""The web: the guarded client for whatever is fetched, its readers, and the tools for both."""

from agent_core.tools.web.addresses import ForbiddenAddress, check_address, show_link
from agent_core.tools.web.catalog import WebOptions, make_web_tools
from agent_core.tools.web.faults import FetchFailed, ReaderFailed, SourceFailed
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page
from agent_core.tools.web.lookup import HostLookup
from agent_core.tools.web.proxy import AllowedHosts, SandboxProxy
from agent_core.tools.web.reader_process import PAGE_READER, ReaderCommand, ReaderPool

__all__ = [
    "MOST_BYTES",
    "PAGE_READER",
    "AllowedHosts",
    "FetchFailed",
    "FetchRequest",
    "Fetcher",
    "ForbiddenAddress",
    "HostLookup",
    "Page",
    "ReaderCommand",
    "ReaderFailed",
    "ReaderPool",
    "SandboxProxy",
    "SourceFailed",
    "WebOptions",
    "check_address",
    "make_web_tools",
    "show_link",
]
