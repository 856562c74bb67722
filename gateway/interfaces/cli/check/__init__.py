"""`talaria check`: checks the installation without changing it, or asks the running gateway."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.check.arguments import configure as configure
    from gateway.interfaces.cli.check.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
