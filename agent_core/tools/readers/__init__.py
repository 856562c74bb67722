"""Readers of untrusted documents: programs in processes of their own, and what starts them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.readers.decoding import decode
    from agent_core.tools.readers.documents import Extract, read_pdf, run_reader
    from agent_core.tools.readers.faults import FetchFailed, ReaderFailed, SourceFailed
    from agent_core.tools.readers.pool import PAGE_READER, ReaderCommand, ReaderPool
else:
    __getattr__ = export_lazily(__name__, __file__)
