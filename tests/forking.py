"""Imported last by a process that forks gateways: its children begin with what they all need.

What is loaded here, no child loads again. What is frozen here, no child's garbage collector looks
at: a look would copy every page of memory.
"""

import gc
from importlib import import_module
from pkgutil import iter_modules

from agent_core.time_zones import find_zone

SELDOM = (
    "agent_core.digest.readers",
    "agent_core.execution.hosted",
    "agent_core.memory.external.honcho",
    "agent_core.models.openai",
    "agent_core.tools.mcp",
    "agent_core.tools.readers",
    "gateway.interfaces.mcp_server",
)
"""Packages with large libraries that few children need, and programs that never run in them."""


def _import(name: str) -> None:
    """Import a module with all modules below it, even those that wait for their first use."""
    if name not in SELDOM:
        for child in iter_modules(getattr(import_module(name), "__path__", ())):
            _import(f"{name}.{child.name}")


for _name in ("agent_core", "adapters", "gateway"):
    _import(_name)
for _name in ("agent_core.models.anthropic.client", "httpcore2", "uvloop"):
    import_module(_name)
find_zone("Vienna")
gc.collect()
gc.freeze()
