"""Imported last by a process that forks gateways: its children begin with what they all need.

What is loaded here, no child loads again. What is frozen here, no child's garbage collector looks
at: a look would copy every page of memory.
"""

import gc
from importlib import import_module

from agent_core.tools.time_zones import find_zone

for _name in ("telegram", "discord", "slack"):
    import_module(f"adapters.{_name}")
for _name in ("agent_core.models.anthropic.client", "httpcore2", "uvloop"):
    import_module(_name)
find_zone("Vienna")
gc.collect()
gc.freeze()
