"""`talaria chat`: chats with the assistant in the terminal, or through a pipe."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.chat.arguments import configure as configure
    from gateway.interfaces.cli.chat.command import run as run
else:
    __getattr__ = export_lazily(__name__, __file__)
