"""Shows what another assistant knows, and takes it over entry by entry."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.imports.importer import import_home as import_home
else:
    __getattr__ = export_lazily(__name__, __file__)
