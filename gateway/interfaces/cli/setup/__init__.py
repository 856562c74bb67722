"""`talaria setup`: asks questions in a terminal, or reads the environment."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.cli.setup.command import offer as offer
    from gateway.interfaces.cli.setup.hello import wait_for_hello as wait_for_hello
else:
    __getattr__ = export_lazily(__name__, __file__)
