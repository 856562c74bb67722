"""Copies the database through the gateway if one runs, and packs it with the files of the home."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.backup.packing import pack as pack
else:
    __getattr__ = export_lazily(__name__, __file__)
