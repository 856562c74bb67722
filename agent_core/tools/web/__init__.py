"""The web: one guarded client for whatever is fetched, and the processes that read it."""

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
]
