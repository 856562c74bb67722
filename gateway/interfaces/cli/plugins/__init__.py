"""`talaria plugins`: lists plug-ins, and says what is wrong with those that are enabled."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.plugins.listing import list_plugins as list_plugins
else:
    __getattr__ = export_lazily(__name__, __file__)
