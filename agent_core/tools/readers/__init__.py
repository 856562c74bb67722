"""Readers of untrusted documents: separate processes, and the code that starts them."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.readers.decoding import decode as decode
    from agent_core.tools.readers.documents import Extract as Extract
    from agent_core.tools.readers.documents import read_pdf as read_pdf
    from agent_core.tools.readers.documents import run_reader as run_reader
    from agent_core.tools.readers.faults import FetchFailed as FetchFailed
    from agent_core.tools.readers.faults import LedElsewhere as LedElsewhere
    from agent_core.tools.readers.faults import ReaderFailed as ReaderFailed
    from agent_core.tools.readers.faults import SourceFailed as SourceFailed
    from agent_core.tools.readers.output_reader import Order as Order
    from agent_core.tools.readers.output_reader import clean as clean
    from agent_core.tools.readers.output_reader import dump_order as dump_order
    from agent_core.tools.readers.pool import PAGE_READER as PAGE_READER
    from agent_core.tools.readers.pool import ReaderCommand as ReaderCommand
    from agent_core.tools.readers.pool import ReaderPool as ReaderPool
else:
    __getattr__ = export_lazily(__name__, __file__)
