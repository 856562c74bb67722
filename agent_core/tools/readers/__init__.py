"""Readers of untrusted documents: programs in processes of their own, and what starts them."""

from agent_core.tools.readers.decoding import decode
from agent_core.tools.readers.documents import Extract, read_pdf, run_reader
from agent_core.tools.readers.faults import FetchFailed, ReaderFailed, SourceFailed
from agent_core.tools.readers.pool import PAGE_READER, ReaderCommand, ReaderPool

__all__ = [
    "PAGE_READER",
    "Extract",
    "FetchFailed",
    "ReaderCommand",
    "ReaderFailed",
    "ReaderPool",
    "SourceFailed",
    "decode",
    "read_pdf",
    "run_reader",
]
