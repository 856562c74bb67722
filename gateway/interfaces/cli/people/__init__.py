"""`talaria people`: lists people, lets them in, and exports or erases their data."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.people.arguments import configure as configure
    from gateway.interfaces.cli.people.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
