"""Access to the network: allowed addresses, the lookup of hosts, and the sandbox's proxy."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.tools.network.addresses import (
        ForbiddenAddress,
        check_address,
        check_url,
        show_link,
    )
    from agent_core.tools.network.lookup import HostLookup, Resolve, resolve
    from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
else:
    __getattr__ = export_lazily(__name__, __file__)
