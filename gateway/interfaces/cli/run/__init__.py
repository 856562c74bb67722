"""`talaria run`: starts the gateway and serves until it is asked to stop."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.run.arguments import configure as configure
    from gateway.interfaces.cli.run.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
