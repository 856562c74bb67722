"""Access to the network: allowed addresses, the lookup of hosts, and the sandbox's proxy."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.tools.network.addresses import ForbiddenAddress as ForbiddenAddress
    from agent_core.tools.network.addresses import check_address as check_address
    from agent_core.tools.network.addresses import check_url as check_url
    from agent_core.tools.network.addresses import show_link as show_link
    from agent_core.tools.network.lookup import HostLookup as HostLookup
    from agent_core.tools.network.lookup import Resolve as Resolve
    from agent_core.tools.network.lookup import resolve as resolve
    from agent_core.tools.network.proxy import AllowedHosts as AllowedHosts
    from agent_core.tools.network.proxy import SandboxProxy as SandboxProxy
else:
    __getattr__ = export_lazily(__name__, __file__)
