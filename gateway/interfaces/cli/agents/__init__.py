"""The verbs of `talaria agents`."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.agents.verbs import work as work
else:
    __getattr__ = export_lazily(__name__, __file__)
