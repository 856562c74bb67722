"""`talaria webhooks`: adds, tests and lists outgoing webhooks."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.webhooks.arguments import configure as configure
    from gateway.interfaces.cli.webhooks.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
