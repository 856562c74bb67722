"""Access to the network: allowed addresses, the lookup of hosts, and the sandbox's proxy."""

from agent_core.tools.network.addresses import ForbiddenAddress, check_address, check_url, show_link
from agent_core.tools.network.lookup import HostLookup, Resolve, resolve
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy

__all__ = [
    "AllowedHosts",
    "ForbiddenAddress",
    "HostLookup",
    "Resolve",
    "SandboxProxy",
    "check_address",
    "check_url",
    "resolve",
    "show_link",
]
