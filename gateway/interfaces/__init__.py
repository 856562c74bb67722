"""The command line, the terminal chat, the HTTP server, and the operations they share."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.coloured_help import print_coloured as print_coloured
else:
    __getattr__ = export_lazily(__name__, __file__)
