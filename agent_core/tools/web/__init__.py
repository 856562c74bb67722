"""The web: the guarded client for whatever is fetched, its readers, and the tools for both."""

from agent_core.tools.web.catalog import WebOptions, make_web_tools
from agent_core.tools.web.documents import read_pdf
from agent_core.tools.web.faults import FetchFailed, ReaderFailed, SourceFailed
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page
from agent_core.tools.web.reader_process import PAGE_READER, ReaderCommand, ReaderPool

__all__ = [
    "MOST_BYTES",
    "PAGE_READER",
    "FetchFailed",
    "FetchRequest",
    "Fetcher",
    "Page",
    "ReaderCommand",
    "ReaderFailed",
    "ReaderPool",
    "SourceFailed",
    "WebOptions",
    "make_web_tools",
    "read_pdf",
]
