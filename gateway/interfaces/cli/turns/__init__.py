"""`talaria turns`: shows and exports turns, and lists messages that could not be delivered."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.turns.arguments import configure as configure
    from gateway.interfaces.cli.turns.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
