"""Operations of the command line, run by the gateway or on its database.

`perform` asks the gateway over its socket, which is quick. Without a gateway, it opens the
database itself and has to import what the operation uses.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from gateway.interfaces.operations.client import NoGateway as NoGateway
    from gateway.interfaces.operations.client import ask as ask
    from gateway.interfaces.operations.client import ask_as_client as ask_as_client
    from gateway.interfaces.operations.client import fetch_health as fetch_health
    from gateway.interfaces.operations.client import is_served as is_served
    from gateway.interfaces.operations.client import perform as perform
    from gateway.interfaces.operations.runner import perform_here as perform_here
else:
    __getattr__ = export_lazily(__name__, __file__)
